//! The bootstrap over families: how a mean would move if other material had been drawn.

use datasets::Stream;

use super::normal::{below, t};

/// The items of one family, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Family {
    /// Sum of the items' values.
    pub sum: f64,
    /// Items.
    pub items: u64,
}

/// Means of resampled families.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    /// The means, sorted.
    pub means: Vec<f64>,
    /// Families that they were drawn from.
    pub families: usize,
}

/// Draws that are enough and end in bounded time: 10 000, fewer above 2000 families, never under 2000.
pub fn resamples_for(families: usize) -> usize {
    (20_000_000 / families.max(1)).clamp(2000, 10_000)
}

impl Resampled {
    /// Draws families with replacement, as many as there are, `resamples` times; the mean is over items (Davison and
    /// Hinkley, Bootstrap Methods and their Application, 1997, section 3.8). `None` without items.
    pub fn draw(families: &[Family], resamples: usize, stream: &mut Stream) -> Option<Resampled> {
        let bound = u32::try_from(families.len()).ok().filter(|&bound| bound > 0)?;
        if families.iter().any(|family| family.items == 0) {
            return None;
        }
        let mut draws = Draws::of(stream);
        let mut means: Vec<f64> = (0..resamples)
            .map(|_| {
                let (mut sum, mut items) = (0.0, 0);
                for _ in 0..bound {
                    let family = families[draws.below(bound) as usize];
                    sum += family.sum;
                    items += family.items;
                }
                sum / items as f64
            })
            .collect();
        means.sort_by(f64::total_cmp);
        Some(Resampled { means, families: families.len() })
    }

    /// The interval that holds the true mean with this probability: percentiles, drawn out for few families as a
    /// t interval is (Hesterberg, The American Statistician 69, 2015, section 3.5). `None` for a single family.
    pub fn interval(&self, level: f64) -> Option<(f64, f64)> {
        let families = self.families as f64;
        if self.families < 2 || self.means.is_empty() {
            return None;
        }
        let wide = t((1.0 + level) / 2.0, families - 1.0)? * (families / (families - 1.0)).sqrt();
        let tail = below(-wide);
        Some((quantile(&self.means, tail)?, quantile(&self.means, 1.0 - tail)?))
    }
}

/// A quantile of sorted values, between neighbours by proportion (Hyndman and Fan's type 7, as in R and NumPy).
pub fn quantile(sorted: &[f64], probability: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = probability.clamp(0.0, 1.0) * last as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(last);
    Some(sorted[low] + part * (sorted[high] - sorted[low]))
}

/// Draws of 32 bits: half of what the stream gives at a time.
pub(super) struct Draws<'a> {
    stream: &'a mut Stream,
    left: Option<u32>,
}

impl<'a> Draws<'a> {
    pub(super) fn of(stream: &'a mut Stream) -> Self {
        Draws { stream, left: None }
    }

    fn bits(&mut self) -> u32 {
        match self.left.take() {
            Some(bits) => bits,
            None => {
                let bits = self.stream.bits();
                self.left = Some((bits >> 32) as u32);
                bits as u32
            }
        }
    }

    /// Uniform in `0..bound`, unbiased (Lemire, ACM Transactions on Modeling and Computer Simulation 29, 2019).
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        loop {
            let product = u64::from(self.bits()) * u64::from(bound);
            let low = product as u32;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 32) as u32;
            }
        }
    }
}
