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

/// Which parameters a fit may move beside cost and urgency.
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

/// The order of the actor whose choices are fitted.
const ORDER: usize = 2;

/// Mean negative log-likelihood of the choices, in nats. `None` without choices.
pub fn loss(choices: &[Choice<'_>], with: &Parameters) -> Option<f64> {
    let total: f64 = choices.iter().map(|choice| choice.count).sum();
    let sum: f64 = choices
        .iter()
        .filter(|choice| choice.count > 0.0)
        .map(|choice| {
            let chosen = choice.problem.choices(with, ORDER).get(choice.route).copied().unwrap_or(0.0);
            -choice.count * chosen.ln()
        })
        .sum();
    (total > 0.0).then_some(sum / total)
}

/// The likelihood surface over cost and urgency at the midpoints of `resolution` x `resolution` squares.
pub fn surface(choices: &[Choice<'_>], fading: f64, leaving: f64, resolution: usize) -> Vec<SurfaceRow> {
    midpoints(resolution)
        .filter_map(|(cost, urgency)| {
            let loss = loss(choices, &Parameters { cost, urgency, fading, leaving })?;
            Some(SurfaceRow { cost, urgency, loss })
        })
        .collect()
}

/// Which route kind the model prefers over cost and urgency, by the mean prediction over the problems.
pub fn regions(problems: &[Problem], fading: f64, leaving: f64, resolution: usize) -> Vec<RegionRow> {
    if problems.is_empty() {
        return Vec::new();
    }
    midpoints(resolution)
        .map(|(cost, urgency)| {
            let with = Parameters { cost, urgency, fading, leaving };
            let mut mean = [0.0; 4];
            for problem in problems {
                for (sum, chance) in mean.iter_mut().zip(problem.choices(&with, ORDER)) {
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
pub fn fit(choices: &[Choice<'_>], fading: f64, leaving: f64, free: Free) -> Option<Fit> {
    let start = surface(choices, fading, leaving, 20)
        .into_iter()
        .min_by(|one, other| one.loss.total_cmp(&other.loss))?;
    let unfold = |at: &[f64; 4]| Parameters {
        cost: at[0],
        urgency: at[1],
        fading: if free.fading { at[2] } else { fading },
        leaving: if free.leaving { -at[3].ln() } else { leaving },
    };
    let axes: Vec<usize> = [Some(0), Some(1), free.fading.then_some(2), free.leaving.then_some(3)]
        .into_iter()
        .flatten()
        .collect();
    let mut at = [start.cost, start.urgency, fading, (-leaving).exp()].map(|value| value.clamp(LOW, HIGH));
    let mut best = loss(choices, &unfold(&at))?;
    let mut step = 0.05;
    while step > 1e-6 {
        let mut moved = false;
        for &axis in &axes {
            for sign in [1.0, -1.0] {
                let mut tried = at;
                tried[axis] = (at[axis] + sign * step).clamp(LOW, HIGH);
                let loss = loss(choices, &unfold(&tried))?;
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
        let fit = fit(&choices, 0.99, 100.0, Free::default()).unwrap();
        assert!((fit.parameters.cost - 0.62).abs() < 1e-3, "{fit:?}");
        assert!((fit.parameters.urgency - 0.27).abs() < 1e-3, "{fit:?}");
        // No fit can beat the entropy of the shares.
        let entropy: f64 = choices.iter().map(|choice| -choice.count * choice.count.ln()).sum::<f64>() / 2.0;
        assert!((fit.loss - entropy).abs() < 1e-6, "{fit:?}, entropy {entropy}");
        // From wrong values of the other two parameters, freeing them must help.
        let wider = super::fit(&choices, 0.5, 2.0, Free { fading: true, leaving: true }).unwrap();
        let narrow = super::fit(&choices, 0.5, 2.0, Free::default()).unwrap();
        assert!(wider.loss < narrow.loss - 1e-6, "{wider:?} {narrow:?}");
        assert_eq!(super::fit(&[], 0.99, 100.0, Free::default()), None);
    }

    /// As the paper's Figure 6 shows it on this scene.
    #[test]
    fn every_route_wins_somewhere_with_a_strong_pulse_and_reversed_never_with_a_weak_one() {
        let problems = &problems()[..1];
        let winners = |fading, leaving| {
            let rows = regions(problems, fading, leaving, 200);
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
        let rows = surface(&choices, 0.99, 100.0, 100);
        assert_eq!((rows[0].cost, rows[0].urgency, rows.len()), (0.005, 0.005, 10_000));
        let least = rows.iter().map(|row| row.loss).fold(f64::INFINITY, f64::min);
        let fit = fit(&choices, 0.99, 100.0, Free::default()).unwrap();
        assert!(fit.loss <= least && least - fit.loss < 1e-2, "{fit:?}, surface {least}");
    }
}
