//! Log-probabilities from one row of logits.

use crate::TokenProb;

/// One row of logits, with what its softmax needs computed once.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    logits: &'a [f32],
    /// Natural logarithm of the sum of exponentials; not finite when any logit is not.
    log_sum: f64,
}

impl<'a> Row<'a> {
    /// Reads a row: one pass for the maximum, one for the sum.
    pub fn new(logits: &'a [f32]) -> Self {
        let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits.iter().map(|&logit| f64::from(logit - max).exp()).sum();
        // A NaN is skipped by `max` but makes the sum NaN; an infinity makes `logit - max` NaN.
        Row { logits, log_sum: f64::from(max) + sum.ln() }
    }

    /// Whether every logit that counts is a finite number.
    pub fn is_finite(&self) -> bool {
        self.log_sum.is_finite()
    }

    /// Natural log-probability of a token; NaN for an id outside the vocabulary.
    pub fn logprob(&self, token: i32) -> f32 {
        match usize::try_from(token).ok().and_then(|index| self.logits.get(index)) {
            Some(&logit) => (f64::from(logit) - self.log_sum) as f32,
            None => f32::NAN,
        }
    }

    /// 1 + the number of tokens with a larger logit.
    pub fn rank(&self, token: i32) -> u32 {
        match usize::try_from(token).ok().and_then(|index| self.logits.get(index)) {
            Some(&own) => 1 + self.logits.iter().filter(|&&logit| logit > own).count() as u32,
            None => u32::MAX,
        }
    }

    /// The most probable token; ties go to the lowest id, `None` when nothing compares.
    pub fn best(&self) -> Option<i32> {
        let mut best: Option<(usize, f32)> = None;
        for (index, &logit) in self.logits.iter().enumerate() {
            if best.map_or(!logit.is_nan(), |(_, top)| logit > top) {
                best = Some((index, logit));
            }
        }
        best.map(|(index, _)| index as i32)
    }

    /// The `count` most probable tokens, best first, ties by id; `piece` shows a token.
    pub fn top(&self, count: usize, piece: impl Fn(i32) -> String) -> Vec<TokenProb> {
        let mut best: Vec<(f32, usize)> = Vec::with_capacity(count + 1);
        for (index, &logit) in self.logits.iter().enumerate() {
            if logit.is_nan() || (best.len() == count && best.last().is_none_or(|last| logit <= last.0)) {
                continue;
            }
            let place = best.partition_point(|kept| kept.0 >= logit);
            best.insert(place, (logit, index));
            best.truncate(count);
        }
        let shown = |(_, index): (f32, usize)| TokenProb {
            token: index as i32,
            piece: piece(index as i32),
            logprob: self.logprob(index as i32),
        };
        best.into_iter().map(shown).collect()
    }

    /// Draws a token at a temperature; `unit` is uniform in [0, 1).
    pub fn draw(&self, temperature: f32, unit: f64) -> Option<i32> {
        let max = self.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weight = |logit: f32| (f64::from(logit - max) / f64::from(temperature)).exp();
        let total: f64 = self.logits.iter().map(|&logit| weight(logit)).sum();
        if !total.is_finite() {
            return None;
        }
        let mut left = unit * total;
        for (index, &logit) in self.logits.iter().enumerate() {
            left -= weight(logit);
            if left < 0.0 {
                return Some(index as i32);
            }
        }
        self.best()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_probabilities_are_those_of_the_softmax() {
        // Logits ln 1, ln 2, ln 5: probabilities 1/8, 2/8, 5/8.
        let logits = [0.0, 2f32.ln(), 5f32.ln()];
        let row = Row::new(&logits);
        for (token, p) in [(0, 0.125f32), (1, 0.25), (2, 0.625)] {
            assert!((row.logprob(token).exp() - p).abs() < 1e-6);
        }
        assert_eq!((row.rank(0), row.rank(1), row.rank(2)), (3, 2, 1));
        assert_eq!(row.best(), Some(2));
        let top = row.top(2, |token| token.to_string());
        assert_eq!(top.iter().map(|t| t.token).collect::<Vec<_>>(), [2, 1]);
        assert!(row.logprob(3).is_nan() && row.logprob(-1).is_nan());
    }

    #[test]
    fn num_05_rows_that_are_not_finite_are_known() {
        assert!(Row::new(&[1.0, 2.0]).is_finite());
        assert!(Row::new(&[f32::NEG_INFINITY, 2.0]).is_finite(), "a masked token is no fault");
        assert!(!Row::new(&[f32::NAN, 2.0]).is_finite());
        assert!(!Row::new(&[f32::INFINITY, 2.0]).is_finite());
        assert!(!Row::new(&[f32::NAN, f32::NAN]).is_finite());
        assert_eq!(Row::new(&[f32::NAN, f32::NAN]).best(), None);
    }

    #[test]
    fn ties_go_to_the_lowest_id_and_large_logits_do_not_overflow() {
        let logits = [1000.0, 1000.0, 0.0];
        let row = Row::new(&logits);
        assert_eq!(row.best(), Some(0));
        assert!((row.logprob(1) + 2f32.ln()).abs() < 1e-6);
        assert_eq!(row.top(1, |_| String::new())[0].token, 0);
    }

    #[test]
    fn draws_follow_the_distribution() {
        let logits = [0.0, 2f32.ln(), 5f32.ln()];
        let row = Row::new(&logits);
        assert_eq!(row.draw(1.0, 0.0), Some(0));
        assert_eq!(row.draw(1.0, 0.124), Some(0));
        assert_eq!(row.draw(1.0, 0.126), Some(1));
        assert_eq!(row.draw(1.0, 0.376), Some(2));
        assert_eq!(row.draw(1.0, 0.999_999_999), Some(2));
    }
}
