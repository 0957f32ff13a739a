//! Fits the route-choice model to choices by maximum likelihood, and tabulates likelihood and predictions.

use super::choice::{Parameters, Problem};

/// A choice that was made.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// Where it was made.
    pub problem: &'a Problem,
    /// Index of the chosen route in the order of the route kinds.
    pub route: usize,
    /// How often it was made.
    pub count: f64,
}

/// The best parameters found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The parameters.
    pub parameters: Parameters,
    /// Mean negative log-likelihood per choice, in nats.
    pub loss: f64,
}

/// What a fit, a surface or a map of predictions holds fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// exp(-theta).
    pub fading: f64,
    /// delta.
    pub leaving: f64,
    /// The order of the actor whose choices are looked at; even.
    pub order: usize,
}

impl Default for Held {
    /// The paper's strong pulse, and its order of the actor who signals.
    fn default() -> Self {
        Held { fading: 0.99, leaving: 100.0, order: 2 }
    }
}

impl Held {
    /// All parameters, with these two.
    pub fn with(&self, cost: f64, urgency: f64) -> Parameters {
        Parameters { cost, urgency, fading: self.fading, leaving: self.leaving }
    }
}

/// Which parameters a fit may move beside cost and urgency; one that is held then says where the search begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Free {
    /// Fading as well.
    pub fading: bool,
    /// Leaving as well, as p = exp(-leaving) between the bounds of the other parameters.
    pub leaving: bool,
}

/// One point of a likelihood surface.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SurfaceRow {
    /// exp(-alpha).
    pub cost: f64,
    /// exp(-beta).
    pub urgency: f64,
    /// Mean negative log-likelihood per choice, in nats.
    pub loss: f64,
}

/// One point of a map of predictions.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RegionRow {
    /// exp(-alpha).
    pub cost: f64,
    /// exp(-beta).
    pub urgency: f64,
    /// Index of the likeliest route kind.
    pub winner: usize,
    /// Its probability less that of the second.
    pub margin: f64,
}

/// Bounds of the fitted parameters.
const LOW: f64 = 1e-7;
const HIGH: f64 = 1.0 - 1e-7;

/// Mean negative log-likelihood of the choices of an actor of an order, in nats. `None` without choices.
pub fn loss(choices: &[Choice<'_>], with: &Parameters, order: usize) -> Option<f64> {
    let total: f64 = choices.iter().map(|choice| choice.count).sum();
    let sum: f64 = choices
        .iter()
        .filter(|choice| choice.count > 0.0)
        .map(|choice| {
            let chosen = choice.problem.choices(with, order).get(choice.route).copied().unwrap_or(0.0);
            -choice.count * chosen.ln()
        })
        .sum();
    (total > 0.0).then_some(sum / total)
}

/// The likelihood surface over cost and urgency at the midpoints of `resolution` x `resolution` squares.
pub fn surface(choices: &[Choice<'_>], held: &Held, resolution: usize) -> Vec<SurfaceRow> {
    midpoints(resolution)
        .filter_map(|(cost, urgency)| {
            let loss = loss(choices, &held.with(cost, urgency), held.order)?;
            Some(SurfaceRow { cost, urgency, loss })
        })
        .collect()
}

/// Which route kind the model prefers over cost and urgency, by the mean prediction over the problems.
pub fn regions(problems: &[Problem], held: &Held, resolution: usize) -> Vec<RegionRow> {
    if problems.is_empty() {
        return Vec::new();
    }
    midpoints(resolution)
        .map(|(cost, urgency)| {
            let with = held.with(cost, urgency);
            let mut mean = [0.0; 4];
            for problem in problems {
                for (sum, chance) in mean.iter_mut().zip(problem.choices(&with, held.order)) {
                    *sum += chance / problems.len() as f64;
                }
            }
            let mut ranks = [0, 1, 2, 3];
            ranks.sort_by(|one, other| mean[*other].total_cmp(&mean[*one]));
            RegionRow { cost, urgency, winner: ranks[0], margin: mean[ranks[0]] - mean[ranks[1]] }
        })
        .collect()
}

fn midpoints(resolution: usize) -> impl Iterator<Item = (f64, f64)> {
    let middle = move |index: usize| (index as f64 + 0.5) / resolution as f64;
    (0..resolution).flat_map(move |cost| (0..resolution).map(move |urgency| (middle(cost), middle(urgency))))
}

/// Maximum likelihood: the best point of a 20 x 20 surface, then a compass search whose step halves down to a
/// millionth. Deterministic. `None` without choices.
pub fn fit(choices: &[Choice<'_>], held: &Held, free: Free) -> Option<Fit> {
    let start =
        surface(choices, held, 20).into_iter().min_by(|one, other| one.loss.total_cmp(&other.loss))?;
    let unfold = |at: &[f64; 4]| Parameters {
        cost: at[0],
        urgency: at[1],
        fading: if free.fading { at[2] } else { held.fading },
        leaving: if free.leaving { -at[3].ln() } else { held.leaving },
    };
    let axes: Vec<usize> = [Some(0), Some(1), free.fading.then_some(2), free.leaving.then_some(3)]
        .into_iter()
        .flatten()
        .collect();
    let mut at =
        [start.cost, start.urgency, held.fading, (-held.leaving).exp()].map(|value| value.clamp(LOW, HIGH));
    let mut best = loss(choices, &unfold(&at), held.order)?;
    let mut step = 0.05;
    while step > 1e-6 {
        let mut moved = false;
        for &axis in &axes {
            for sign in [1.0, -1.0] {
                let mut tried = at;
                tried[axis] = (at[axis] + sign * step).clamp(LOW, HIGH);
                let loss = loss(choices, &unfold(&tried), held.order)?;
                if loss < best {
                    (at, best, moved) = (tried, loss, true);
                }
            }
        }
        if !moved {
            step /= 2.0;
        }
    }
    Some(Fit { parameters: unfold(&at), loss: best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::iip::routes::{Kind, Routes, Rules};
    use crate::tasks::iip::scene::Scene;

    fn problems() -> Vec<Problem> {
        ["W****\nW*W**\nWXW**\nW*W**\nY**A*", "WA***\nW**W*\n*Y*W*\n*****\nX****"]
            .map(|rows| {
                let scene = Scene::read(rows).unwrap();
                Problem::new(&scene, &Routes::plan(&scene, Rules::Official).unwrap())
            })
            .to_vec()
    }

    #[test]
    fn a_fit_finds_the_parameters_that_made_the_choices() {
        let problems = problems();
        let truth = Parameters { cost: 0.62, urgency: 0.27, fading: 0.99, leaving: 100.0 };
        let choices: Vec<Choice<'_>> = problems
            .iter()
            .flat_map(|problem| {
                let shares = problem.choices(&truth, 2);
                (0..4).map(move |route| Choice { problem, route, count: shares[route] })
            })
            .collect();
        let fit = fit(&choices, &Held::default(), Free::default()).unwrap();
        assert!((fit.parameters.cost - 0.62).abs() < 1e-3, "{fit:?}");
        assert!((fit.parameters.urgency - 0.27).abs() < 1e-3, "{fit:?}");
        // No fit can beat the entropy of the shares.
        let entropy: f64 = choices.iter().map(|choice| -choice.count * choice.count.ln()).sum::<f64>() / 2.0;
        assert!((fit.loss - entropy).abs() < 1e-6, "{fit:?}, entropy {entropy}");
        // From wrong values of the other two parameters, freeing them must help.
        let held = Held { fading: 0.5, leaving: 2.0, order: 2 };
        let wider = super::fit(&choices, &held, Free { fading: true, leaving: true }).unwrap();
        let narrow = super::fit(&choices, &held, Free::default()).unwrap();
        assert!(wider.loss < narrow.loss - 1e-6, "{wider:?} {narrow:?}");
        assert_eq!(super::fit(&[], &Held::default(), Free::default()), None);
    }

    /// Order 0 does not weigh cost at all; order 2 does.
    #[test]
    fn the_order_of_the_actor_decides_what_a_surface_can_show() {
        let problems = problems();
        let choices = [Choice { problem: &problems[0], route: 1, count: 3.0 }];
        let at = |order, cost| loss(&choices, &Held::default().with(cost, 0.5), order).unwrap();
        assert_eq!(at(0, 0.1), at(0, 0.9));
        // The reference: P(Shortest) of order 0 and of order 2.
        assert!((at(0, 0.5) + 0.023287_f64.ln()).abs() < 1e-4);
        assert!((at(2, 0.5) + 0.148612_f64.ln()).abs() < 1e-5);
        assert!(at(2, 0.1) < at(2, 0.9));
    }

    /// As the paper's Figure 6 shows it on this scene.
    #[test]
    fn every_route_wins_somewhere_with_a_strong_pulse_and_reversed_never_with_a_weak_one() {
        let problems = &problems()[..1];
        let winners = |fading, leaving| {
            let rows = regions(problems, &Held { fading, leaving, order: 2 }, 200);
            assert_eq!(rows.len(), 40_000);
            Kind::ALL
                .iter()
                .enumerate()
                .map(|(kind, _)| rows.iter().any(|row| row.winner == kind))
                .collect::<Vec<_>>()
        };
        assert_eq!(winners(0.99, 100.0), [true, true, true, true]);
        assert!(!winners(0.99, 1.0)[2]);
        assert!(!winners(0.3, 1.0)[2]);
    }

    #[test]
    fn a_surface_has_its_least_loss_near_the_fit() {
        let problems = problems();
        let choices = [(0, 5.0), (1, 2.0), (2, 1.0), (3, 1.0)].map(|(route, count)| Choice {
            problem: &problems[1],
            route,
            count,
        });
        let rows = surface(&choices, &Held::default(), 100);
        assert_eq!((rows[0].cost, rows[0].urgency, rows.len()), (0.005, 0.005, 10_000));
        let least = rows.iter().map(|row| row.loss).fold(f64::INFINITY, f64::min);
        let fit = fit(&choices, &Held::default(), Free::default()).unwrap();
        assert!(fit.loss <= least && least - fit.loss < 1e-2, "{fit:?}, surface {least}");
    }
}
