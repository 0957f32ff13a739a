//! Recursive Bayesian inference between an actor who shows a route and an observer who infers a hypothesis.
//!
//! From "Evaluating and Modeling Social Intelligence", algorithm 1. Order 0 is the actor alone; every odd order is what
//! the observer infers from the order before, every even order how the actor chooses given that.

pub mod choice;
pub mod fit;
pub mod preference;

/// A table of one row per route and one column per hypothesis.
pub type Table = Vec<Vec<f64>>;

/// What both sides assume.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// How strongly each route speaks for each hypothesis; any scale.
    pub likelihood: Table,
    /// Prior of the routes; any scale.
    pub routes: Vec<f64>,
    /// Prior of the hypotheses; any scale.
    pub hypotheses: Vec<f64>,
}

impl System {
    /// The belief of an order: P(route | hypothesis) for even orders, columns sum to 1; P(hypothesis | route) for odd
    /// ones, rows sum to 1. Where there is no signal at all, the prior stands.
    pub fn belief(&self, order: usize) -> Table {
        let mut table = self.likelihood.clone();
        self.normalise_columns(&mut table);
        for step in 1..=order {
            if step % 2 == 1 {
                for row in &mut table {
                    row.iter_mut().zip(&self.hypotheses).for_each(|(cell, prior)| *cell *= prior);
                    normalise(row, &self.hypotheses);
                }
            } else {
                for (row, prior) in table.iter_mut().zip(&self.routes) {
                    row.iter_mut().for_each(|cell| *cell *= prior);
                }
                self.normalise_columns(&mut table);
            }
        }
        table
    }

    fn normalise_columns(&self, table: &mut Table) {
        for column in 0..self.hypotheses.len() {
            let mut values: Vec<f64> = table.iter().map(|row| row[column]).collect();
            normalise(&mut values, &self.routes);
            table.iter_mut().zip(values).for_each(|(row, value)| row[column] = value);
        }
    }
}

/// Makes values sum to 1; the prior takes their place where all are 0.
fn normalise(values: &mut [f64], prior: &[f64]) {
    let sum: f64 = values.iter().sum();
    if sum > 0.0 {
        values.iter_mut().for_each(|value| *value /= sum);
    } else {
        let sum: f64 = prior.iter().sum();
        values.iter_mut().zip(prior).for_each(|(value, prior)| *value = prior / sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two routes, two hypotheses; worked by hand in fractions.
    #[test]
    fn orders_alternate_as_worked_by_hand() {
        let system = System {
            likelihood: vec![vec![1.0, 1.0], vec![3.0, 1.0]],
            routes: vec![1.0, 1.0],
            hypotheses: vec![1.0, 1.0],
        };
        let near = |table: Table, wanted: [[f64; 2]; 2]| {
            for (row, wanted) in table.iter().zip(wanted) {
                assert!(row.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{table:?}");
            }
        };
        near(system.belief(0), [[0.25, 0.5], [0.75, 0.5]]);
        near(system.belief(1), [[1.0 / 3.0, 2.0 / 3.0], [0.6, 0.4]]);
        near(system.belief(2), [[5.0 / 14.0, 0.625], [9.0 / 14.0, 0.375]]);
        near(system.belief(3), [[4.0 / 11.0, 7.0 / 11.0], [12.0 / 19.0, 7.0 / 19.0]]);
    }

    #[test]
    fn a_route_without_any_signal_leaves_the_prior() {
        let system = System {
            likelihood: vec![vec![0.0, 0.0], vec![1.0, 1.0]],
            routes: vec![1.0, 1.0],
            hypotheses: vec![1.0, 3.0],
        };
        assert_eq!(system.belief(1)[0], [0.25, 0.75]);
    }
}
