//! Finding out how many replies are best written side by side, when the configuration leaves it to a probe.
//!
//! More sequences in a step cost memory bandwidth once and arithmetic each: throughput rises until the arithmetic is
//! the limit. The smallest number near the best is taken, since fewer replies side by side leave more of the cache to
//! what prompts share.

use std::time::{Duration, Instant};

use models::{LoadSpec, Probe, ProbeReply, ProbeWork};

use super::link::{Link, LinkError};
use crate::entry::{Tuned, TunedStep};
use crate::statistics::median;

/// Sequences that are tried.
const SEQUENCES: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Taken where nothing is generated: the number does not matter then.
pub(super) const UNUSED: u32 = 1;
/// Time that all steps together should take.
const BUDGET: Duration = Duration::from_secs(10);
/// Throughput that is near enough to the best.
const NEAR: f64 = 0.9;
/// Tokens that each sequence has before: attention has something to look at, and filling them stays cheap.
const DEPTH_TOKENS: u32 = 16;
/// Repetitions of a step.
const REPETITIONS: u32 = 2;
/// Most tokens that each sequence writes in a repetition.
const MOST_STEPS: u64 = 16;

/// How a model is loaded to be measured: the probe opens a context of its own, so the main one is small.
pub(super) fn load_spec(spec: &LoadSpec) -> LoadSpec {
    LoadSpec { cells: 256, context_tokens: 256, sequences: 1, parallel: 1, ..spec.clone() }
}

/// The most replies that the cache and the sequences of a context can hold at full length.
pub(super) fn most(spec: &LoadSpec, reply_tokens: u32) -> u32 {
    let cells = spec.cells.max(spec.context_tokens);
    (cells / reply_tokens.clamp(1, spec.context_tokens.max(1))).min(spec.sequences).max(1)
}

/// Measures as many numbers of sequences as memory and time allow; at least one.
pub(super) async fn measure(link: &mut Link, most: u32) -> Result<Vec<TunedStep>, LinkError> {
    let started = Instant::now();
    let probe = |sequences: u32, tokens: u64, repetitions: u32| Probe {
        work: ProbeWork::Decode { steps: tokens as u32, sequences },
        depth_tokens: DEPTH_TOKENS,
        threads: 0,
        threads_batch: 0,
        repetitions,
        budget_us: Some(BUDGET.as_micros() as u64 / SEQUENCES.len() as u64),
    };
    // One step of one sequence tells how much a step's share of the time can hold: a warm-up and the repetitions, and
    // the last ones take longer than the first.
    let first = link.probe(probe(1, 1, 1), &mut |_| ()).await?;
    let share_us = BUDGET.as_micros() as u64 / SEQUENCES.len() as u64 / u64::from(REPETITIONS + 1);
    let tokens = (share_us / 2 / first.samples_us[0].max(1)).clamp(1, MOST_STEPS);
    let mut steps = Vec::new();
    for sequences in SEQUENCES.into_iter().filter(|&sequences| sequences <= most) {
        // A step has at most twice the work of the one before it.
        let next_us =
            steps.last().map_or(0, |step: &TunedStep| 2 * step.samples_us.iter().max().unwrap_or(&0));
        if !steps.is_empty() && started.elapsed() + Duration::from_micros(next_us) >= BUDGET {
            break;
        }
        let probe = probe(sequences, tokens, REPETITIONS);
        match link.probe(probe, &mut |_| ()).await {
            Ok(ProbeReply { samples_us, .. }) => {
                steps.push(TunedStep { sequences, tokens: probe.work.tokens(), samples_us });
            }
            // A step that the engine cannot do, for want of memory say, ends the search and not the run.
            Err(LinkError::Engine(_) | LinkError::Died { .. }) if !steps.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(steps)
}

/// The smallest number of sequences whose throughput is near the best.
pub(super) fn choose(steps: &[TunedStep]) -> u32 {
    let best = steps.iter().map(tokens_per_s).fold(0.0, f64::max);
    let near = steps.iter().filter(|step| tokens_per_s(step) >= NEAR * best);
    near.map(|step| step.sequences).min().unwrap_or(UNUSED)
}

fn tokens_per_s(step: &TunedStep) -> f64 {
    let middle_us = median(step.samples_us.iter().map(|&us| us as f64));
    middle_us.map_or(0.0, |us| step.tokens as f64 / us.max(1.0) * 1e6)
}

/// One line for people.
pub(super) fn in_words(tuned: &Tuned) -> String {
    let shown: Vec<String> =
        tuned.steps.iter().map(|step| format!("{} {:.0}", step.sequences, tokens_per_s(step))).collect();
    format!("replies side by side: {} (sequences and tokens/s: {})", tuned.parallel, shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(sequences: u32, tokens_per_s: u64) -> TunedStep {
        // Ten steps; the outlier is not the median.
        let tokens = 10 * u64::from(sequences);
        let us = tokens * 1_000_000 / tokens_per_s;
        TunedStep { sequences, tokens, samples_us: vec![us, us, 100 * us] }
    }

    #[test]
    fn the_smallest_number_within_a_tenth_of_the_best_is_taken() {
        // Figures of a measured model: 501 x 0.9 = 451, so 8 with 435 is not enough.
        let rising = [step(1, 206), step(4, 337), step(8, 435), step(16, 501)];
        assert_eq!(choose(&rising), 16);
        assert_eq!(choose(&[step(1, 206), step(4, 337), step(8, 455), step(16, 501), step(32, 470)]), 8);
        assert_eq!(choose(&[step(1, 100), step(2, 90), step(4, 80)]), 1);
        assert_eq!(choose(&[]), UNUSED);
    }

    #[test]
    fn what_fits_the_cache_at_full_length_is_the_most() {
        let spec = LoadSpec {
            context_tokens: 1024,
            mode: models::Mode::Packed,
            cells: 8192,
            sequences: 128,
            parallel: 0,
            ..LoadSpec::plain("m")
        };
        assert_eq!(most(&spec, 512), 16);
        assert_eq!(most(&spec, 4096), 8, "a reply ends with its context");
        assert_eq!(most(&spec, 16), 128, "no more than there are sequences");
        assert_eq!(most(&LoadSpec { cells: 0, context_tokens: 100, ..spec }, 512), 1);
    }
}
