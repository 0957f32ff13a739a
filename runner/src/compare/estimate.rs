//! A mean of paired differences with its interval.

use datasets::Stream;
use serde::Serialize;

use super::pairs::{Value, families};
use crate::statistics::{Family, Resampled, cluster_t, design_effect, mean, resamples_for, score_interval};

/// Families that must vary before their scatter is believed: with fewer it rests on too few values.
const VARYING: usize = 10;

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The t interval over families.
    ClusterT,
    /// Tango's score interval, widened by the families' design effect.
    Score,
}

/// A mean difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Mean {
    /// The mean; `None` without pairs.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Lower end of the 90 % interval: with a probability of 95 % the truth is above it.
    pub least: Option<f64>,
    /// Upper end of the 90 % interval.
    pub most: Option<f64>,
    /// How the intervals were made; `None` without them.
    pub method: Option<Method>,
    /// 95 % interval of the bootstrap over families, whichever is shown.
    pub bootstrap: Option<(f64, f64)>,
    /// 95 % score interval, whichever is shown.
    pub score: Option<(f64, f64)>,
    /// Families that the values come from.
    pub families: u64,
    /// By how much the variance of the mean grows because items come in families.
    pub design_effect: f64,
}

impl Mean {
    /// The same with intervals that end where no mean can lie: t intervals over few families go on beyond.
    pub(crate) fn within(self, reach: f64) -> Mean {
        let end = |end: Option<f64>| end.map(|end| end.clamp(-reach, reach));
        let both = |ends: Option<(f64, f64)>| {
            ends.map(|(low, high)| (low.clamp(-reach, reach), high.clamp(-reach, reach)))
        };
        Mean {
            low: end(self.low),
            high: end(self.high),
            least: end(self.least),
            most: end(self.most),
            bootstrap: both(self.bootstrap),
            score: both(self.score),
            ..self
        }
    }
}

/// Estimates the mean of values that families share. The stream's purpose names what is estimated.
pub(crate) fn estimate(values: &[Value<'_>], seed: u64, purpose: &[&str]) -> Mean {
    let sums = families(values);
    let squares = values.iter().map(|(_, value)| value * value).sum();
    let effect = design_effect(&sums, squares);
    let drawn = Resampled::draw(&sums, resamples_for(sums.len()), &mut Stream::new(seed, purpose));
    let drawn =
        |level| drawn.as_ref().and_then(|drawn| drawn.interval(level)).filter(|(low, high)| low < high);
    let score = |level| {
        let whole = values.iter().all(|(_, value)| [-1.0, 0.0, 1.0].contains(value));
        let count = |side: f64| values.iter().filter(|(_, value)| *value == side).count() as f64 / effect;
        whole.then(|| score_interval(count(-1.0), count(1.0), values.len() as f64 / effect, level)).flatten()
    };
    let by_family = |level| cluster_t(&sums, level);
    let (bootstrap, scored) = (drawn(0.95), score(0.95));
    let method = match (by_family(0.95), scored) {
        (Some(_), Some(_)) if varying(&sums) < VARYING => Some(Method::Score),
        (Some(_), _) => Some(Method::ClusterT),
        (None, Some(_)) => Some(Method::Score),
        (None, None) => None,
    };
    let chosen = |level| match method? {
        Method::ClusterT => by_family(level),
        Method::Score => score(level),
    };
    let (wide, narrow) = (chosen(0.95), chosen(0.9));
    Mean {
        value: mean(&sums),
        low: wide.map(|ends| ends.0),
        high: wide.map(|ends| ends.1),
        least: narrow.map(|ends| ends.0),
        most: narrow.map(|ends| ends.1),
        method,
        bootstrap,
        score: scored,
        families: sums.len() as u64,
        design_effect: effect,
    }
}

/// Families whose mean is not the most frequent one.
fn varying(families: &[Family]) -> usize {
    let mut means: Vec<f64> = families.iter().map(|family| family.sum / family.items as f64).collect();
    means.sort_by(f64::total_cmp);
    let most = means.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or_default();
    means.len() - most
}
