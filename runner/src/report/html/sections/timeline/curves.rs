//! Curves over time, cut where there is nothing.

use crate::report::cost_views::significant;
use crate::report::html::plot::Point;
use crate::telemetry::record::Row;

/// Points of a curve; more than a screen can show are averaged.
const POINTS: usize = 240;
/// Silence, in usual distances of samples, from which on a line is broken.
const GAP: f64 = 3.0;

/// A curve with its figures.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) segments: Vec<Vec<Point>>,
    pub(super) samples: usize,
    pub(super) least: f64,
    pub(super) mean: f64,
    pub(super) most: f64,
    pub(super) gaps: usize,
}

/// Headings of the table; the first two columns are words.
pub(super) const HEADINGS: [&str; 7] = ["curve", "unit", "samples", "least", "mean", "most", "gaps"];

impl Curve {
    pub(super) fn row(&self, unit: &str) -> Vec<String> {
        let mut row = vec![self.name.clone(), unit.to_owned(), self.samples.to_string()];
        row.extend([self.least, self.mean, self.most].map(significant));
        row.push(self.gaps.to_string());
        row
    }
}

/// The time of every sample in minutes, sessions one after the other, and the usual distance of two samples.
pub(super) struct Times {
    minutes: Vec<f64>,
    usual: f64,
}

impl Times {
    pub(super) fn of(timeline: &[(usize, Row)]) -> Times {
        let mut distances: Vec<f64> = timeline
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| pair[1].1.at.since_us(pair[0].1.at) as f64 / 6e7)
            .collect();
        distances.sort_by(f64::total_cmp);
        let usual = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
        let (mut minutes, mut offset, mut first) = (Vec::with_capacity(timeline.len()), 0.0, None);
        for (session, row) in timeline {
            let (own, begin) = *first.get_or_insert((*session, row.at));
            let begin = match own == *session {
                true => begin,
                false => {
                    // Another session: its clock begins anew.
                    offset = minutes.last().copied().unwrap_or(0.0) + 2.0 * GAP * usual;
                    first = Some((*session, row.at));
                    row.at
                }
            };
            minutes.push(offset + row.at.since_us(begin) as f64 / 6e7);
        }
        Times { minutes, usual }
    }
}

/// The curve of one value; `None` where it was never read. `value` gets the session too.
pub(super) fn curve(
    timeline: &[(usize, Row)],
    times: &Times,
    name: &str,
    unit: f64,
    value: impl Fn(usize, &Row) -> Option<i64>,
) -> Option<Curve> {
    let mut segments: Vec<Vec<Point>> = Vec::new();
    let (mut last, mut broken) = (None, true);
    let (mut sum, mut samples) = (0.0, 0_usize);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for ((session, row), &x) in timeline.iter().zip(&times.minutes) {
        let Some(raw) = value(*session, row) else {
            broken = true;
            continue;
        };
        let y = raw as f64 / unit;
        broken |= last.is_none_or(|last: f64| x - last > GAP * times.usual);
        match segments.last_mut() {
            Some(segment) if !broken => segment.push(Point::at(x, y)),
            _ => segments.push(vec![Point::at(x, y)]),
        }
        (last, broken) = (Some(x), false);
        (sum, samples) = (sum + y, samples + 1);
        (least, most) = (least.min(y), most.max(y));
    }
    let gaps = segments.len().checked_sub(1)?;
    let each = samples.div_ceil(POINTS).max(1);
    let thinned = segments.iter().map(|segment| segment.chunks(each).map(middle).collect()).collect();
    Some(Curve {
        name: name.to_owned(),
        segments: thinned,
        samples,
        least,
        mean: sum / samples as f64,
        most,
        gaps,
    })
}

fn middle(points: &[Point]) -> Point {
    let count = points.len() as f64;
    let mean = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / count;
    Point::at(mean(|point| point.x), mean(|point| point.y))
}

/// Values that have a name, and a place of their own in each session.
#[derive(Default)]
pub(super) struct Named(Vec<(String, Vec<(usize, usize)>)>);

impl Named {
    pub(super) fn add(&mut self, session: usize, name: String, place: usize) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, places)) => places.push((session, place)),
            None => self.0.push((name, vec![(session, place)])),
        }
    }

    pub(super) fn curves(
        &self,
        timeline: &[(usize, Row)],
        times: &Times,
        unit: f64,
        value: impl Fn(usize, &Row) -> Option<i64>,
    ) -> Vec<Curve> {
        let of = |(name, places): &(String, Vec<(usize, usize)>)| {
            curve(timeline, times, name, unit, |session, row| {
                let (_, place) = places.iter().find(|(own, _)| *own == session)?;
                value(*place, row)
            })
        };
        self.0.iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Moment;

    fn row(second: u64, bytes: Option<i64>) -> Row {
        Row {
            at: Moment { mono_us: second * 1_000_000, wall_us: 0 },
            power_uw: Vec::new(),
            temperature_mc: Vec::new(),
            clock_khz: Vec::new(),
            pi_flags: None,
            events: None,
            available_bytes: bytes,
            others_permille: None,
            own_permille: None,
            battery_percent: None,
            worker_private_bytes: None,
            worker_file_bytes: None,
        }
    }

    #[test]
    fn a_silence_a_missing_value_and_a_new_session_break_the_line() {
        let mut timeline: Vec<(usize, Row)> = (0..10).map(|second| (1, row(second, Some(100)))).collect();
        timeline[4].1.available_bytes = None;
        timeline.extend((20..23).map(|second| (1, row(second, Some(200)))));
        // The clock of the second session begins anew.
        timeline.extend((0..3).map(|second| (2, row(second, Some(300)))));
        let times = Times::of(&timeline);
        let curve = curve(&timeline, &times, "memory", 1.0, |_, row| row.available_bytes).unwrap();
        let lengths: Vec<usize> = curve.segments.iter().map(Vec::len).collect();
        assert_eq!((lengths.as_slice(), curve.gaps, curve.samples), (&[4, 5, 3, 3][..], 3, 15));
        assert_eq!((curve.least, curve.most), (100.0, 300.0));
        // 9 times 100, 3 times 200, 3 times 300.
        assert_eq!(curve.mean, 160.0);
        let xs: Vec<f64> = curve.segments.iter().flatten().map(|point| point.x).collect();
        assert!(xs.is_sorted(), "{xs:?}");
    }

    #[test]
    fn what_was_never_read_has_no_curve_and_long_runs_are_averaged() {
        let timeline: Vec<(usize, Row)> =
            (0..5000).map(|second| (1, row(second, Some(second as i64 % 2)))).collect();
        let times = Times::of(&timeline);
        assert!(curve(&timeline, &times, "x", 1.0, |_, row| row.own_permille).is_none());
        let thinned = curve(&timeline, &times, "x", 1.0, |_, row| row.available_bytes).unwrap();
        assert_eq!((thinned.segments.len(), thinned.samples, thinned.mean), (1, 5000, 0.5));
        assert!(thinned.segments[0].len() <= POINTS);
    }
}
