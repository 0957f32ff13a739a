//! The best numbers of threads, for generating and for evaluating prompts, in under a minute.

use std::time::{Duration, Instant};

use models::{Probe, ProbeWork};
use serde::Serialize;

use super::opened::Opened;
use super::{Choice, Trouble};
use crate::exit::Failure;
use crate::levels::Program;
use crate::statistics::median;
use crate::supervisor::Link;
use crate::threads::{Cores, here};

/// Time for all candidates together.
const BUDGET: Duration = Duration::from_secs(45);
/// Repetitions of each measurement.
const REPETITIONS: u32 = 3;
/// A number of threads is as good as the best from this share of its speed on; fewer threads then win.
const AS_GOOD: f64 = 0.97;

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Best {
    /// Threads for generating.
    pub threads: u32,
    /// Threads for evaluating prompts.
    pub threads_batch: u32,
    /// What was tried, fewest threads first.
    pub tried: Vec<Tried>,
    /// Candidates for which there was no time.
    pub left_out: Vec<u32>,
}

/// A number of threads with its speeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// Threads.
    pub threads: u32,
    /// Tokens per second of evaluating prompts, the median.
    pub prefill_ts: f64,
    /// Tokens per second of generating, the median.
    pub decode_ts: f64,
}

/// Finds the best pair for a model.
pub fn find(
    model: &str,
    choice: &Choice,
    program: Program,
    say: &mut dyn FnMut(&str),
) -> Result<Best, Failure> {
    let started = Instant::now();
    let opened = Opened::new(model, choice, program, say)?;
    let cores = here();
    let order = candidates(cores);
    super::runtime()?
        .block_on(search(&opened, &order, started, say))
        .map_err(|trouble| Failure::input(format!("{model}: {}", trouble.in_words())))
}

/// Few numbers that matter, the most promising first: around the fast cores, all cores, all hyper-threads, few.
fn candidates(cores: Cores) -> Vec<u32> {
    let (fast, physical, logical) = (cores.fastest, cores.physical, cores.logical);
    let wanted =
        [fast, fast.saturating_sub(1), physical, logical, fast / 2, (fast + physical) / 2, 2, 1, fast + 1, 3];
    let mut order = Vec::new();
    for threads in wanted {
        if (1..=logical).contains(&threads) && !order.contains(&threads) {
            order.push(threads);
        }
    }
    order.truncate(8);
    order
}

async fn search(
    opened: &Opened,
    order: &[u32],
    started: Instant,
    say: &mut dyn FnMut(&str),
) -> Result<Best, Trouble> {
    let (mut link, _) = opened.link(opened.spec_for_probes(Some(order[0]))).await?;
    let share = BUDGET / order.len() as u32 / 2;
    let plans = [
        plan(&mut link, order[0], share, &|tokens| ProbeWork::Prefill { tokens }, 8..=512).await?,
        plan(&mut link, order[0], share, &|steps| ProbeWork::Decode { steps, sequences: 1 }, 1..=64).await?,
    ];
    let mut best = Best { threads: 1, threads_batch: 1, tried: Vec::new(), left_out: Vec::new() };
    for &threads in order {
        if !best.tried.is_empty() && started.elapsed() >= BUDGET {
            best.left_out.push(threads);
            continue;
        }
        let mut speeds = [0.0; 2];
        for (speed, work) in speeds.iter_mut().zip(plans) {
            let probe = probe(work, REPETITIONS, share).with_threads(threads);
            *speed = speed_of(&link.probe(probe, &mut |_| ()).await?.samples_us, work);
        }
        let [prefill_ts, decode_ts] = speeds;
        say(&format!("{threads} threads: prefill {prefill_ts:.1}, decode {decode_ts:.1} tokens/s"));
        best.tried.push(Tried { threads, prefill_ts, decode_ts });
    }
    best.tried.sort_by_key(|tried| tried.threads);
    best.threads = fewest(&best.tried, |tried| tried.decode_ts);
    best.threads_batch = fewest(&best.tried, |tried| tried.prefill_ts);
    Ok(best)
}

/// How much work a share of the time holds: a warm-up and the repetitions, judged by one short probe.
async fn plan(
    link: &mut Link,
    threads: u32,
    share: Duration,
    work: &dyn Fn(u32) -> ProbeWork,
    range: std::ops::RangeInclusive<u32>,
) -> Result<ProbeWork, Trouble> {
    let small = work(*range.start());
    let sample = link.probe(probe(small, 1, share).with_threads(threads), &mut |_| ()).await?;
    let each_us = share.as_micros() as u64 / u64::from(REPETITIONS + 1);
    let fits = each_us * u64::from(*range.start()) / sample.samples_us[0].max(1);
    Ok(work(u32::try_from(fits).unwrap_or(u32::MAX).clamp(*range.start(), *range.end())))
}

fn probe(work: ProbeWork, repetitions: u32, share: Duration) -> Probe {
    Probe {
        work,
        depth_tokens: 0,
        threads: 0,
        threads_batch: 0,
        repetitions,
        budget_us: Some(share.as_micros() as u64),
    }
}

fn speed_of(samples_us: &[u64], work: ProbeWork) -> f64 {
    median(samples_us.iter().map(|&us| work.tokens() as f64 / us.max(1) as f64 * 1e6)).unwrap_or_default()
}

/// The smallest number whose speed is as good as the best.
fn fewest(tried: &[Tried], speed: impl Fn(&Tried) -> f64) -> u32 {
    let best = tried.iter().map(&speed).fold(0.0, f64::max);
    tried.iter().filter(|one| speed(one) >= AS_GOOD * best).map(|one| one.threads).min().unwrap_or(1)
}

impl Best {
    /// The table and the lines for a configuration.
    pub fn in_words(&self) -> String {
        let mut text = format!("{:>7}  {:>14}  {:>13}\n", "threads", "prefill tok/s", "decode tok/s");
        for tried in &self.tried {
            text.push_str(&format!(
                "{:>7}  {:>14.1}  {:>13.1}\n",
                tried.threads, tried.prefill_ts, tried.decode_ts
            ));
        }
        if !self.left_out.is_empty() {
            text.push_str(&format!("no time for {:?}\n", self.left_out));
        }
        text.push_str(&format!(
            "\n[engine]\nthreads = {}\nthreads-batch = {}\n",
            self.threads, self.threads_batch
        ));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::Told;

    fn cores(logical: u32, physical: u32, fastest: u32) -> Cores {
        Cores { logical, physical, fastest, told: Told::Nothing, quota: None }
    }

    #[test]
    fn candidates_are_few_possible_and_begin_with_the_fast_cores() {
        assert_eq!(candidates(cores(1, 1, 1)), [1]);
        assert_eq!(candidates(cores(2, 2, 2)), [2, 1]);
        assert_eq!(candidates(cores(4, 4, 4)), [4, 3, 2, 1]);
        // Four fast and eight slow cores, the fast ones with two threads each.
        assert_eq!(candidates(cores(16, 12, 4)), [4, 3, 12, 16, 2, 8, 1, 5]);
        for logical in 1..=128 {
            let all = candidates(cores(logical, logical.div_ceil(2), logical.div_ceil(4)));
            assert!(all.len() <= 8 && all.iter().all(|threads| (1..=logical).contains(threads)), "{all:?}");
        }
    }

    #[test]
    fn fewer_threads_win_where_they_are_as_fast() {
        let tried = |threads, prefill_ts, decode_ts| Tried { threads, prefill_ts, decode_ts };
        let all = [tried(1, 50.0, 60.0), tried(2, 99.0, 98.0), tried(4, 190.0, 100.0), tried(8, 180.0, 40.0)];
        assert_eq!(fewest(&all, |tried| tried.decode_ts), 2);
        assert_eq!(fewest(&all, |tried| tried.prefill_ts), 4);
    }
}
