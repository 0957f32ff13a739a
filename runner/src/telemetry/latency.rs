//! Latency of single items: each asked alone, from an empty cache, as a user would. Never mixed with the cost of packed
//! items, which share their time.

use datasets::Stream;
use models::{Call, Reply, RoundReply};
use serde::Serialize;

use super::record::Timed;

/// Which items of a task are asked alone: a sample drawn from the seed, in canonical order.
pub fn sample(items: usize, count: usize, seed: u64, task: &str) -> Vec<usize> {
    let mut chosen = Stream::new(seed, &["latency", task]).distinct(items, count.min(items));
    chosen.sort_unstable();
    chosen
}

/// What the calls of a single job tell of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Until the first token of the answer, or the score, was known, in microseconds.
    pub first_token_us: u64,
    /// Times between tokens.
    pub between_us: Vec<u32>,
}

/// The timing of a round of one job; `None` where the engine told no calls.
pub fn timing(reply: &RoundReply) -> Option<Timing> {
    let [answer] = &reply.replies[..] else { return None };
    let wanted = u64::from(answer.usage().evaluated_tokens);
    let mut evaluated = 0;
    let prompt = reply.calls.iter().position(|call| {
        evaluated += u64::from(call.tokens);
        evaluated >= wanted
    })?;
    let first_token_us = reply.calls[prompt].end_us;
    let between =
        |pair: &[Call]| u32::try_from(pair[1].end_us.saturating_sub(pair[0].end_us)).unwrap_or(u32::MAX);
    let between_us = match answer {
        Reply::Generated(_) => reply.calls[prompt..].windows(2).map(between).collect(),
        _ => Vec::new(),
    };
    Some(Timing { first_token_us, between_us })
}

/// The value below which a share of the values lies, by nearest rank; `None` without values, and where the rank is the
/// highest of too few: a 99th percentile of ten values is only their maximum.
fn percentile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    let fewest = (1.0 / (1.0 - share)).round() as usize;
    (sorted.len() >= fewest.max(1)).then(|| sorted[rank.clamp(1, sorted.len()) - 1])
}

/// Percentiles of some durations, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// How many.
    pub n: u64,
    /// Median.
    pub p50_ms: Option<f64>,
    /// 90th percentile; from ten on.
    pub p90_ms: Option<f64>,
    /// 99th percentile; from a hundred on.
    pub p99_ms: Option<f64>,
    /// The longest.
    pub max_ms: Option<f64>,
}

impl Spread {
    /// Of durations in microseconds.
    pub fn of(mut us: Vec<u64>) -> Self {
        us.sort_unstable();
        let at = |share| percentile(&us, share).map(|us| us as f64 / 1e3);
        Spread {
            n: us.len() as u64,
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p99_ms: at(0.99),
            max_ms: us.last().map(|us| *us as f64 / 1e3),
        }
    }
}

/// Latency of one model on one task through one interface. Warm-ups are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// From sending to having the answer.
    pub end_to_end: Spread,
    /// Until the first token or the score.
    pub first_token: Spread,
    /// Between tokens, over all answers.
    pub between_tokens: Spread,
    /// Prompt tokens evaluated per second until the first token; `None` where none was evaluated.
    pub prompt_tokens_per_s: Option<f64>,
    /// Tokens written per second after the first.
    pub output_tokens_per_s: Option<f64>,
    /// Page faults that went to the disk, of all of them; more than a few mean that weights were read while timing.
    pub major_faults: Option<u64>,
}

/// The latency over some items.
pub fn latency<'a>(items: impl Iterator<Item = &'a Timed>) -> Option<Latency> {
    let items: Vec<&Timed> = items.filter(|item| !item.warm_up).collect();
    if items.is_empty() {
        return None;
    }
    let between: Vec<u64> = items.iter().flat_map(|item| &item.between_us).map(|us| u64::from(*us)).collect();
    let rate = |tokens: u64, us: u64| (tokens > 0 && us > 0).then(|| tokens as f64 / (us as f64 / 1e6));
    let evaluated = items.iter().map(|item| u64::from(item.evaluated_tokens)).sum();
    let first: Vec<u64> = items.iter().map(|item| item.first_token_us).collect();
    Some(Latency {
        end_to_end: Spread::of(items.iter().map(|item| item.end_to_end_us).collect()),
        prompt_tokens_per_s: rate(evaluated, first.iter().sum()),
        first_token: Spread::of(first),
        output_tokens_per_s: rate(between.len() as u64, between.iter().sum()),
        between_tokens: Spread::of(between),
        major_faults: items.iter().map(|item| item.major_faults).sum(),
    })
}

#[cfg(test)]
mod tests {
    use models::{Finish, Generated, Scored, Usage};

    use super::*;

    fn generated(evaluated: u32, written: u32, calls: &[(u32, u64)]) -> RoundReply {
        let usage = Usage {
            prompt_tokens: evaluated,
            evaluated_tokens: evaluated,
            output_tokens: written,
            ..Usage::default()
        };
        RoundReply {
            replies: vec![Reply::Generated(Generated {
                bytes: Vec::new(),
                tokens: vec![0; written as usize],
                finish: Finish::Stop,
                thinking_cut: false,
                usage,
            })],
            calls: calls.iter().map(|&(tokens, end_us)| Call { tokens, end_us }).collect(),
            ..RoundReply::default()
        }
    }

    #[test]
    fn the_first_token_is_known_when_the_whole_prompt_is_evaluated() {
        // 700 tokens in two calls, then three tokens, the last of which only shows that the answer is over.
        let reply = generated(700, 3, &[(512, 900), (188, 1400), (1, 1500), (1, 1590), (1, 1700)]);
        assert_eq!(timing(&reply), Some(Timing { first_token_us: 1400, between_us: vec![100, 90, 110] }));
    }

    #[test]
    fn a_score_has_no_times_between_tokens_and_several_jobs_have_no_timing() {
        let mut reply = generated(10, 0, &[(10, 500)]);
        reply.replies = vec![Reply::Scored(Scored {
            usage: Usage { evaluated_tokens: 10, ..Usage::default() },
            ..Scored::default()
        })];
        assert_eq!(timing(&reply), Some(Timing { first_token_us: 500, between_us: vec![] }));
        reply.replies.push(reply.replies[0].clone());
        assert_eq!(timing(&reply), None);
        assert_eq!(timing(&generated(10, 1, &[])), None);
    }

    #[test]
    fn percentiles_are_nearest_ranks_and_those_of_too_few_values_do_not_exist() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!([0.5, 0.9, 0.99].map(|share| percentile(&values, share)), [Some(50), Some(90), Some(99)]);
        assert_eq!(percentile(&values[..10], 0.9), Some(9));
        assert_eq!((percentile(&values[..9], 0.9), percentile(&values[..99], 0.99)), (None, None));
        assert_eq!((percentile(&[7], 0.5), percentile(&[], 0.5)), (None, None));
        assert_eq!(percentile(&[7, 9], 0.5), Some(7));
    }

    #[test]
    fn perf_08_a_rate_over_nothing_evaluated_does_not_exist() {
        let spread = Spread::of(vec![]);
        assert_eq!((spread.n, spread.p50_ms, spread.max_ms), (0, None, None));
        assert_eq!(latency(std::iter::empty()), None);
    }

    #[test]
    fn the_sample_is_drawn_from_the_seed_and_the_same_for_ever() {
        assert_eq!(sample(100, 5, 1, "grammar"), sample(100, 5, 1, "grammar"));
        assert_ne!(sample(100, 5, 1, "grammar"), sample(100, 5, 2, "grammar"));
        assert_eq!(sample(3, 5, 1, "grammar"), [0, 1, 2]);
        assert!(sample(100, 20, 1, "logic").is_sorted());
    }
}
