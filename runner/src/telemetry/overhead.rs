//! What sampling costs the work beside it: the same load with and without the sampler.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::sampler::Cost;

/// What sampling costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overhead {
    /// Processor time of the sampler as a share of one core; `None` where the system does not tell.
    pub core_share: Option<f64>,
    /// By what share a load on all cores was slower beside it; below zero when it happened to be faster.
    pub slowdown: Option<f64>,
    /// By how much single slices of the load differ from each other anyway, as a share.
    pub scatter: Option<f64>,
    /// Its account.
    pub cost: Cost,
}

impl Overhead {
    /// Of the work done in slices without and with the sampler.
    pub fn of(without: &[u64], with: &[u64], cost: Cost) -> Self {
        let mean = |work: &[u64]| {
            (!work.is_empty())
                .then(|| work.iter().sum::<u64>() as f64 / work.len() as f64)
                .filter(|mean| *mean > 0.0)
        };
        let scatter = mean(without).map(|mean| {
            let low = without.iter().min().copied().unwrap_or(0) as f64;
            let high = without.iter().max().copied().unwrap_or(0) as f64;
            (high - low) / mean
        });
        Overhead {
            core_share: cost.share(),
            slowdown: mean(without).zip(mean(with)).map(|(without, with)| 1.0 - with / without),
            scatter,
            cost,
        }
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let cost = &self.cost;
        let mut lines = vec![format!(
            "{} samples in {:.1} s, {} missed, longest reading {:.1} ms",
            cost.samples,
            cost.wall_us as f64 / 1e6,
            cost.missed,
            cost.longest_us as f64 / 1e3
        )];
        if let Some(share) = self.core_share {
            lines.push(format!("takes {:.3} % of one core", 100.0 * share));
        }
        if let (Some(slowdown), Some(scatter)) = (self.slowdown, self.scatter) {
            let scatter_percent = 100.0 * scatter;
            lines.push(match slowdown.abs() <= scatter {
                true => format!(
                    "a load on all cores runs as fast beside it, within what its slices differ by anyway ({scatter_percent:.2} %)"
                ),
                false => format!(
                    "a load on all cores does {:+.2} % work beside it (its slices differ by {scatter_percent:.2} % anyway)",
                    -100.0 * slowdown
                ),
            });
        }
        lines
    }
}

/// Works on all cores for some slices of time; gives the work done in each.
pub fn work(slice: Duration, slices: usize, cores: u32) -> Vec<u64> {
    if slice.is_zero() {
        return Vec::new();
    }
    let one = move || {
        let begun = Instant::now();
        let (mut rounds, mut value) = (0u64, 0x9e37_79b9_7f4a_7c15u64);
        while begun.elapsed() < slice {
            for _ in 0..20_000 {
                value = (value ^ (value >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(17);
            }
            std::hint::black_box(value);
            rounds += 1;
        }
        rounds
    };
    let all = |_| {
        let workers: Vec<_> = (0..cores.max(1)).map(|_| std::thread::spawn(one)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).sum()
    };
    (0..slices).map(all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowdown_is_the_work_that_is_missing() {
        let cost = Cost { cpu_us: Some(500), wall_us: 100_000, ..Cost::default() };
        let overhead = Overhead::of(&[1000, 1020, 980, 1000], &[990, 990], cost);
        assert_eq!(overhead.core_share, Some(0.005));
        assert!((overhead.slowdown.unwrap() - 0.01).abs() < 1e-12);
        assert!((overhead.scatter.unwrap() - 0.04).abs() < 1e-12);
        assert_eq!(Overhead::of(&[], &[], Cost::default()).slowdown, None);
    }
}
