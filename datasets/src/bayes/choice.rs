//! The model of inverse inverse planning: which of four routes an actor chooses to show that X is the goal.

use super::{System, Table};
use crate::tasks::iip::routes::{Kind, Routes};
use crate::tasks::iip::scene::{Colour, Scene};

/// The model's four parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// exp(-alpha): what one more step is worth; small is impatient.
    pub cost: f64,
    /// exp(-beta): how much a signal keeps of its worth per step; small is urgent.
    pub urgency: f64,
    /// exp(-theta): how much a signal keeps of its worth per level of colour.
    pub fading: f64,
    /// delta: what leaving the other restaurant is worth.
    pub leaving: f64,
}

impl Parameters {
    /// Where the choices of people in the released data are fitted best on a coarse raster.
    pub const OF_PEOPLE: Parameters =
        Parameters { cost: 0.775, urgency: 0.225, fading: 0.99, leaving: 100.0 };
}

/// What one step of a route signals for a hypothesis.
#[derive(Clone, Copy, Debug)]
struct Signal {
    /// Level of the hypothesis' colour.
    level: Option<u8>,
    /// The step leaves the other restaurant.
    leaves: bool,
}

/// The signals of a scene's routes; what the parameters weigh.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Per route, per step: for X, for Y.
    steps: Vec<Vec<[Signal; 2]>>,
}

impl Problem {
    /// The signals of the four routes, in the order of [`Kind::ALL`].
    pub fn new(scene: &Scene, routes: &Routes) -> Problem {
        let colouring = scene.colouring();
        let steps = Kind::ALL.map(|kind| {
            let pairs = routes.of(kind).windows(2);
            pairs
                .map(|pair| {
                    let (for_x, for_y) = match colouring.of(pair[1]) {
                        Colour::Target(level) => (Some(level), None),
                        Colour::Other(level) => (None, Some(level)),
                        Colour::Neutral => (None, None),
                    };
                    [
                        Signal { level: for_x, leaves: pair[0] == scene.other },
                        Signal { level: for_y, leaves: pair[0] == scene.target },
                    ]
                })
                .collect()
        });
        Problem { steps: steps.to_vec() }
    }

    /// The system of both sides under given parameters; hypotheses are X and Y, equally likely.
    pub fn system(&self, with: &Parameters) -> System {
        let fading = Powers::of(with.fading);
        let strength = |signal: &Signal| {
            let level = signal.level.map_or(0.0, |level| fading.at(usize::from(level)));
            level + if signal.leaves { with.leaving } else { 0.0 }
        };
        let likelihood = self.steps.iter().map(|route| {
            let mut sum = [0.0, 0.0];
            let mut weight = 1.0;
            for step in route {
                weight *= with.urgency;
                sum[0] += weight * strength(&step[0]);
                sum[1] += weight * strength(&step[1]);
            }
            sum.to_vec()
        });
        let cost = Powers::of(with.cost);
        let shortest = self.steps.iter().map(Vec::len).min().unwrap_or_default();
        System {
            likelihood: likelihood.collect(),
            // Only differences of length count.
            routes: self.steps.iter().map(|route| cost.at(route.len() - shortest)).collect(),
            hypotheses: vec![1.0, 1.0],
        }
    }

    /// The belief of an order.
    pub fn belief(&self, with: &Parameters, order: usize) -> Table {
        self.system(with).belief(order)
    }

    /// How likely the actor is to choose each route for X, at an even order; 2 is the paper's prediction.
    pub fn choices(&self, with: &Parameters, order: usize) -> [f64; 4] {
        let table = self.belief(with, order);
        [0, 1, 2, 3].map(|route| table[route][0])
    }
}

/// Whole powers of a number.
struct Powers(f64);

impl Powers {
    fn of(base: f64) -> Self {
        Powers(base)
    }

    fn at(&self, exponent: usize) -> f64 {
        (0..exponent).fold(1.0, |power, _| power * self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::iip::routes::Rules;

    /// The scene of the paper's Figures 3 and 6.
    fn figure_3() -> Problem {
        let scene = Scene::read("W****\nW*W**\nWXW**\nW*W**\nY**A*").unwrap();
        Problem::new(&scene, &Routes::plan(&scene, Rules::Official).unwrap())
    }

    fn with(fading: f64, leaving: f64, cost: f64, urgency: f64) -> Parameters {
        Parameters { cost, urgency, fading, leaving }
    }

    /// In the reference's order: Reversed, Shortest, Avoidant, Hybrid.
    fn in_reference_order(values: [f64; 4]) -> [f64; 4] {
        [values[2], values[1], values[3], values[0]]
    }

    fn assert_near(ours: [f64; 4], wanted: [f64; 4]) {
        for (ours, wanted) in ours.iter().zip(wanted) {
            assert!((ours - wanted).abs() <= 1e-6, "{ours} is not {wanted}");
        }
    }

    #[test]
    fn the_reference_values_of_order_2_are_met_to_a_millionth() {
        for (fading, leaving, cost, urgency, wanted) in [
            (0.99, 100.0, 0.1, 0.5, [0.093509, 0.843444, 0.001530, 0.061517]),
            (0.99, 100.0, 0.5, 0.1, [0.061690, 0.029339, 0.183392, 0.725579]),
            (0.99, 100.0, 0.5, 0.5, [0.411901, 0.148612, 0.168510, 0.270976]),
            (0.99, 100.0, 0.9, 0.9, [0.391350, 0.047219, 0.496174, 0.065257]),
            (0.99, 1.0, 0.5, 0.5, [0.055752, 0.425747, 0.129873, 0.388628]),
            (0.3, 100.0, 0.5, 0.5, [0.351586, 0.304825, 0.166629, 0.176959]),
            (0.3, 1.0, 0.5, 0.5, [0.050532, 0.674851, 0.062090, 0.212527]),
        ] {
            let ours = figure_3().choices(&with(fading, leaving, cost, urgency), 2);
            assert_near(in_reference_order(ours), wanted);
        }
    }

    #[test]
    fn the_reference_values_of_orders_0_and_1_are_met_to_a_millionth() {
        let with = with(0.99, 100.0, 0.5, 0.5);
        assert_near(
            in_reference_order(figure_3().choices(&with, 0)),
            [0.78725, 0.023287, 0.122371, 0.067092],
        );
        let inferred = figure_3().belief(&with, 1);
        let for_x = [0, 1, 2, 3].map(|route| inferred[route][0]);
        assert_near(in_reference_order(for_x), [0.611092, 0.05512, 1.0, 0.402017]);
    }
}
