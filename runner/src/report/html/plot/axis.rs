//! What stands along a side of a plot.

/// An axis.
pub(in crate::report::html) enum Axis {
    /// Numbers from one to another.
    Numbers {
        /// What they are.
        name: String,
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Numbers above zero, equal ratios at equal distances. Points are given as they are.
    Ratios {
        /// What they are.
        name: String,
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Names, at 0, 1, 2 and so on.
    Names(Vec<String>),
}

impl Axis {
    /// Shares from 0 to 100 %.
    pub(in crate::report::html) fn shares(name: &str) -> Axis {
        Axis::Numbers { name: name.to_owned(), low: 0.0, high: 1.0 }
    }

    /// An axis of equal ratios that holds these values, with a little room.
    pub(in crate::report::html) fn ratios(name: &str, values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = values
            .filter(|value| value.is_finite() && *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low / 1.25, high * 1.25) } else { (0.1, 1.0) };
        Axis::Ratios { name: name.to_owned(), low, high }
    }

    /// Where a value stands on paper.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self {
            Axis::Ratios { low, .. } => value.max(*low).log10(),
            _ => value,
        }
    }

    /// The ends of the paper.
    pub(super) fn range(&self) -> std::ops::Range<f64> {
        match self {
            Axis::Numbers { low, high, .. } => *low..if high > low { *high } else { low + 1.0 },
            Axis::Ratios { low, high, .. } => low.log10()..high.log10(),
            Axis::Names(names) => -0.5..names.len().max(1) as f64 - 0.5,
        }
    }

    /// What stands under the axis.
    pub(super) fn name(&self) -> &str {
        match self {
            Axis::Numbers { name, .. } | Axis::Ratios { name, .. } => name,
            Axis::Names(_) => "",
        }
    }

    /// The marks, by their places, with their words; about as many as `wanted`.
    pub(super) fn marks(&self, wanted: usize) -> Vec<(f64, String)> {
        match self {
            Axis::Names(names) => {
                names.iter().enumerate().map(|(at, name)| (at as f64, name.clone())).collect()
            }
            Axis::Numbers { low, high, .. } => {
                // Depths and passes are counted: there is nothing between them.
                let counted = low.fract() == 0.0 && high.fract() == 0.0 && high - low >= 2.0;
                let step =
                    step((high - low).max(f64::MIN_POSITIVE), wanted).max(f64::from(u8::from(counted)));
                let first = (low / step).ceil() as i64;
                let last = (high / step + 1e-9).floor() as i64;
                (first..=last).take(50).map(|at| (at as f64 * step, short(at as f64 * step))).collect()
            }
            Axis::Ratios { low, high, .. } => {
                let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
                let few = high / low > 30.0;
                let digits: &[f64] = if few { &[1.0] } else { &[1.0, 2.0, 5.0] };
                decades
                    .flat_map(|decade| digits.iter().map(move |digit| digit * 10_f64.powi(decade)))
                    .filter(|value| (low..=high).contains(&value))
                    .map(|value| (value.log10(), short(value)))
                    .collect()
            }
        }
    }
}

/// A round distance of marks.
fn step(span: f64, wanted: usize) -> f64 {
    let rough = span / wanted.max(1) as f64;
    let decade = 10_f64.powf(rough.log10().floor());
    let digit =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|digit| digit * decade >= rough * 0.999).unwrap_or(10.0);
    digit * decade
}

/// A number in a few characters.
fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 1e6 => format!("{}M", value / 1e6),
        _ if size >= 1e4 => format!("{}k", value / 1e3),
        _ => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        let words = |axis: Axis| axis.marks(5).into_iter().map(|(_, word)| word).collect::<Vec<_>>();
        assert_eq!(words(Axis::shares("x")), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        let depths = Axis::Numbers { name: String::new(), low: 0.0, high: 10.0 };
        assert_eq!(words(depths), ["0", "2", "4", "6", "8", "10"]);
        let passes = Axis::Numbers { name: String::new(), low: 1.0, high: 4.0 };
        assert_eq!(words(passes), ["1", "2", "3", "4"]);
        assert_eq!(words(Axis::ratios("ms", [9.0, 900.0].into_iter())), ["10", "100", "1000"]);
        assert_eq!(words(Axis::ratios("ms", [2.0, 4.0].into_iter())), ["2", "5"]);
        assert_eq!(words(Axis::Names(vec!["a".into(), "b".into()])), ["a", "b"]);
    }

    #[test]
    fn an_axis_of_nothing_has_a_range() {
        let range = Axis::ratios("ms", std::iter::empty()).range();
        assert!(range.start < range.end);
        let flat = Axis::Numbers { name: String::new(), low: 3.0, high: 3.0 };
        assert!(flat.range().end > flat.range().start && !flat.marks(5).is_empty());
    }
}
