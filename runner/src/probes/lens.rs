//! The logit lens: the model's own end, applied to the state behind any layer.

use std::io;

use super::corpus::{Corpus, Sample};

/// Whether a sample's labels can be read by the lens: a row for each, and first tokens that differ.
pub(super) fn fits(corpus: &Corpus, sample: &Sample) -> bool {
    let tokens = &sample.tokens;
    corpus.norm.is_some()
        && tokens.len() == sample.labels.len()
        && tokens
            .iter()
            .enumerate()
            .all(|(at, token)| !tokens[..at].contains(token) && corpus.rows.contains_key(token))
}

/// The label that the lens reads out of a state. The last state is behind the final norm already.
pub(super) fn choice(corpus: &Corpus, sample: &Sample, state: usize) -> io::Result<Option<usize>> {
    let (Some(norm), Some(states)) = (&corpus.norm, &sample.states) else { return Ok(None) };
    let mut values = states.floats(state)?;
    if state + 1 < states.count {
        values = norm.apply(&values);
    }
    let score = |token: &i32| -> f64 {
        let row = corpus.rows.get(token).map(Vec::as_slice).unwrap_or_default();
        row.iter().zip(&values).map(|(&w, &x)| f64::from(w) * f64::from(x)).sum()
    };
    let scores: Vec<f64> = sample.tokens.iter().map(score).collect();
    let best = (0..scores.len()).reduce(|best, at| if scores[at] > scores[best] { at } else { best });
    Ok(best)
}

/// Whether the norm turns the last layer's state into the one behind the final norm, up to its size: models whose end is more
/// than that have no lens.
pub(super) fn is_sound(corpus: &Corpus, sample: &Sample) -> io::Result<bool> {
    let (Some(norm), Some(states)) = (&corpus.norm, &sample.states) else { return Ok(false) };
    let Some(last) = states.count.checked_sub(2) else { return Ok(false) };
    let (normed, told) = (norm.apply(&states.floats(last)?), states.floats(last + 1)?);
    let product =
        |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum() };
    let lengths = (product(&normed, &normed) * product(&told, &told)).sqrt();
    Ok(product(&normed, &told) > 0.99 * lengths)
}
