//! Log-probabilities from one row of logits.

use crate::TokenProb;

/// One row of logits.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    logits: &'a [f32],
    hidden: Option<Hidden<'a>>,
}

/// The hidden states at the row's token.
#[derive(Clone, Copy, Debug)]
pub struct Hidden<'a> {
    /// Numbers of one state.
    pub dimension: usize,
    /// State by state.
    pub values: &'a [f32],
}

/// A row with the sum that its probabilities need: a pass of its own, paid only where probabilities are read.
#[derive(Clone, Copy, Debug)]
pub struct Softmax<'a> {
    row: Row<'a>,
    /// Natural logarithm of the sum of exponentials; not finite when any logit is not.
    log_sum: f64,
}

impl<'a> Softmax<'a> {
    /// Whether every logit that counts is a finite number.
    pub fn is_finite(&self) -> bool {
        self.log_sum.is_finite()
    }

    /// Natural log-probability of a token; NaN for an id outside the vocabulary.
    pub fn logprob(&self, token: i32) -> f32 {
        self.row.logit(token).map_or(f32::NAN, |logit| (f64::from(logit) - self.log_sum) as f32)
    }

    /// Probability that the token is one of these, each of which is named once.
    pub fn mass(&self, tokens: &[i32]) -> f64 {
        let known = tokens.iter().filter_map(|&token| self.row.logit(token));
        known.map(|logit| (f64::from(logit) - self.log_sum).exp()).sum()
    }

    /// Entropy in nats; `None` when a logit is not finite.
    pub fn entropy(&self) -> Option<f64> {
        // H = ln Z - sum(p * logit), with logits taken from their maximum so that nothing overflows.
        let max = self.row.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut weighted = 0.0;
        for &logit in self.row.logits.iter().filter(|logit| **logit > f32::NEG_INFINITY) {
            weighted += f64::from((logit - max).exp()) * f64::from(logit - max);
        }
        let log_sum = self.log_sum - f64::from(max);
        let entropy = log_sum - weighted / log_sum.exp();
        self.is_finite().then_some(entropy.max(0.0))
    }

    /// The `count` most probable tokens, best first, ties by id; `piece` shows a token.
    pub fn top(&self, count: usize, piece: impl Fn(i32) -> String) -> Vec<TokenProb> {
        let shown = |token: i32| TokenProb { token, piece: piece(token), logprob: self.logprob(token) };
        self.row.top(count).into_iter().map(shown).collect()
    }
}

impl<'a> Row<'a> {
    /// A row over the whole vocabulary.
    pub fn new(logits: &'a [f32]) -> Self {
        Row { logits, hidden: None }
    }

    /// The same row with the hidden states that it was made from.
    pub fn with_hidden(self, hidden: Option<Hidden<'a>>) -> Self {
        Row { hidden, ..self }
    }

    /// The hidden states at the row's token, where they are read.
    pub fn hidden(&self) -> Option<Hidden<'a>> {
        self.hidden
    }

    /// Computes the sum that probabilities need.
    pub fn softmax(self) -> Softmax<'a> {
        let max = self.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = self.logits.iter().map(|&logit| f64::from((logit - max).exp())).sum();
        // A NaN is skipped by `max` but makes the sum NaN; an infinity makes `logit - max` NaN.
        Softmax { row: self, log_sum: f64::from(max) + sum.ln() }
    }

    fn logit(&self, token: i32) -> Option<f32> {
        self.logits.get(usize::try_from(token).ok()?).copied()
    }

    /// 1 + the number of tokens with a larger logit.
    pub fn rank(&self, token: i32) -> u32 {
        let Some(own) = self.logit(token) else { return u32::MAX };
        1 + self.logits.iter().filter(|&&logit| logit > own).count() as u32
    }

    /// The most probable token, ties to the lowest id; `None` when a logit is NaN or infinite upwards. One pass.
    pub fn best_if_finite(&self) -> Option<i32> {
        let mut best = (0, f32::NEG_INFINITY);
        let mut sane = true;
        for (index, &logit) in self.logits.iter().enumerate() {
            sane &= logit < f32::INFINITY;
            if logit > best.1 {
                best = (index, logit);
            }
        }
        (sane && best.1 > f32::NEG_INFINITY).then_some(best.0 as i32)
    }

    /// The `count` tokens with the largest logits, best first, ties by id.
    pub fn top(&self, count: usize) -> Vec<i32> {
        let mut best: Vec<(f32, usize)> = Vec::with_capacity(count + 1);
        for (index, &logit) in self.logits.iter().enumerate() {
            if logit.is_nan() || (best.len() == count && best.last().is_none_or(|last| logit <= last.0)) {
                continue;
            }
            let place = best.partition_point(|kept| kept.0 >= logit);
            best.insert(place, (logit, index));
            best.truncate(count);
        }
        best.into_iter().map(|(_, index)| index as i32).collect()
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
        self.best_if_finite()
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
        let softmax = row.softmax();
        for (token, p) in [(0, 0.125f32), (1, 0.25), (2, 0.625)] {
            assert!((softmax.logprob(token).exp() - p).abs() < 1e-6);
        }
        assert_eq!((row.rank(0), row.rank(1), row.rank(2)), (3, 2, 1));
        assert_eq!(row.best_if_finite(), Some(2));
        assert_eq!(row.top(2), [2, 1]);
        assert_eq!(softmax.top(1, |token| token.to_string())[0].piece, "2");
        assert!(softmax.logprob(3).is_nan() && softmax.logprob(-1).is_nan());
    }

    #[test]
    fn mass_and_entropy_are_those_of_the_distribution() {
        // 1/8, 2/8, 5/8: entropy 1/8 ln 8 + 1/4 ln 4 + 5/8 ln 8/5.
        let logits = [0.0, 2f32.ln(), 5f32.ln(), f32::NEG_INFINITY];
        let softmax = Row::new(&logits).softmax();
        let expected = 8f64.ln() / 8.0 + 4f64.ln() / 4.0 + 0.625 * (8.0f64 / 5.0).ln();
        assert!((softmax.entropy().unwrap() - expected).abs() < 1e-6);
        assert!((softmax.mass(&[0, 2]) - 0.75).abs() < 1e-6);
        assert_eq!(softmax.mass(&[7, -1, 3]), 0.0, "no such token, or one that never comes");
        let even = [500.0f32; 4];
        assert!((Row::new(&even).softmax().entropy().unwrap() - 4f64.ln()).abs() < 1e-6);
        assert_eq!(Row::new(&[1.0, f32::NAN]).softmax().entropy(), None);
        assert_eq!(Row::new(&[1.0, f32::INFINITY]).softmax().entropy(), None);
    }

    #[test]
    fn num_05_rows_that_are_not_finite_are_known() {
        let finite = |logits: &[f32]| {
            let row = Row::new(logits);
            assert_eq!(row.softmax().is_finite(), row.best_if_finite().is_some(), "{logits:?}");
            row.softmax().is_finite()
        };
        assert!(finite(&[1.0, 2.0]));
        assert!(finite(&[f32::NEG_INFINITY, 2.0]), "a masked token is no fault");
        assert!(!finite(&[f32::NAN, 2.0]));
        assert!(!finite(&[2.0, f32::NAN]));
        assert!(!finite(&[f32::INFINITY, 2.0]));
        assert!(!finite(&[f32::NAN, f32::NAN]));
        assert!(!finite(&[f32::NEG_INFINITY, f32::NEG_INFINITY]));
    }

    #[test]
    fn num_03_one_overflowed_logit_leaves_no_label_a_probability() {
        // As half-precision sums beyond 65504 leave a row: one infinity among numbers that look sound.
        let mut logits = [0.5f32; 100];
        logits[37] = f32::INFINITY;
        let row = Row::new(&logits);
        let softmax = row.softmax();
        assert!(!softmax.is_finite());
        assert!((0..100).all(|token| !softmax.logprob(token).is_finite()));
        assert_eq!((row.best_if_finite(), row.draw(1.0, 0.5)), (None, None), "nothing is predicted");
    }

    #[test]
    fn ties_go_to_the_lowest_id_and_large_logits_do_not_overflow() {
        let logits = [1000.0, 1000.0, 0.0];
        let row = Row::new(&logits);
        assert_eq!(row.best_if_finite(), Some(0));
        assert!((row.softmax().logprob(1) + 2f32.ln()).abs() < 1e-6);
        assert_eq!(row.top(1), [0]);
    }

    #[test]
    fn tok_12_tokens_of_the_same_text_keep_their_own_scores() {
        let logits = [0.0, 3.0, 1.0];
        // A letter with and without its space may be shown alike.
        let top = Row::new(&logits).softmax().top(3, |_| "A".to_owned());
        assert_eq!(top.iter().map(|token| token.token).collect::<Vec<_>>(), [1, 2, 0]);
        assert!(top.iter().all(|token| token.piece == "A"));
        assert!((top[0].logprob - top[1].logprob - 2.0).abs() < 1e-6);
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
