//! Minimising a smooth function: L-BFGS of the crate `argmin`, with the value and the gradient computed in one pass over
//! the rows.

use std::cell::RefCell;

use argmin::core::{CostFunction, Error, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

/// Steps that L-BFGS remembers.
const MEMORY: usize = 8;

/// A function with its gradient.
pub(super) trait Objective {
    /// The value at a point; `gradient` is overwritten.
    fn value(&self, point: &[f64], gradient: &mut [f64]) -> f64;
}

/// The point last asked for, and the best one so far.
struct Known {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    best: Vec<f64>,
    best_value: f64,
}

struct Asked<'a, O> {
    objective: &'a O,
    known: RefCell<Known>,
}

impl<O: Objective> Asked<'_, O> {
    fn ask(&self, point: &[f64]) {
        let mut known = self.known.borrow_mut();
        let known = &mut *known;
        if known.point == point {
            return;
        }
        known.point.clear();
        known.point.extend_from_slice(point);
        known.value = self.objective.value(point, &mut known.gradient);
        if known.value < known.best_value {
            known.best_value = known.value;
            known.best.clone_from(&known.point);
        }
    }
}

impl<O: Objective> CostFunction for &Asked<'_, O> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, Error> {
        self.ask(point);
        Ok(self.known.borrow().value)
    }
}

impl<O: Objective> Gradient for &Asked<'_, O> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, Error> {
        self.ask(point);
        Ok(self.known.borrow().gradient.clone())
    }
}

/// The best point found from a start, within so many steps.
pub(super) fn minimise(objective: &impl Objective, start: Vec<f64>, steps: u64) -> Vec<f64> {
    let known = Known {
        point: Vec::new(),
        value: f64::INFINITY,
        gradient: vec![0.0; start.len()],
        best: start.clone(),
        best_value: f64::INFINITY,
    };
    let asked = Asked { objective, known: RefCell::new(known) };
    let search = MoreThuenteLineSearch::new();
    let solver =
        LBFGS::new(search, MEMORY).with_tolerance_grad(1e-5).and_then(|it| it.with_tolerance_cost(1e-7));
    if let Ok(solver) = solver {
        // A search that finds no better point ends with an error; what was best until then is what there is.
        let _ = Executor::new(&asked, solver)
            .configure(|state| state.param(start).max_iters(steps))
            .timer(false)
            .run();
    }
    asked.known.into_inner().best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A narrow valley: (x - 3)^2 + 1000 (y + 1)^2.
    struct Valley;

    impl Objective for Valley {
        fn value(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
            let (x, y) = (point[0] - 3.0, point[1] + 1.0);
            gradient.copy_from_slice(&[2.0 * x, 2000.0 * y]);
            x * x + 1000.0 * y * y
        }
    }

    #[test]
    fn the_bottom_of_a_narrow_valley_is_found() {
        let point = minimise(&Valley, vec![0.0, 0.0], 100);
        assert!((point[0] - 3.0).abs() < 1e-3 && (point[1] + 1.0).abs() < 1e-4, "{point:?}");
        assert_eq!(minimise(&Valley, vec![3.0, -1.0], 100), [3.0, -1.0], "a start at the bottom stays");
    }
}
