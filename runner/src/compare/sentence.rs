//! The verdict in plain words: the last lines of a comparison.

use super::costs::costs;
use super::overall::Overall;
use super::rows::Row;
use super::side::Side;
use crate::statistics::Ranged;

/// Level below which a task's difference is named.
const LEVEL: f64 = 0.05;

/// One sentence per candidate and interface.
pub(super) fn sentences(
    reference: &Side,
    candidates: &[Side],
    overall: &[Overall],
    rows: &[Row],
    margin: f64,
) -> Vec<String> {
    overall
        .iter()
        .map(|one| {
            let mut parts = vec![verdict(one, margin)];
            parts.extend(guessed(one, reference));
            parts.extend(surely_different(one, rows));
            let rounds = one.rounds.each.len();
            parts.extend(one.time_ratio.map(|ratio| speed(ratio, one.rounds.time, rounds)));
            parts.extend(one.energy.ratio.map(|ratio| energy(ratio, one.rounds.energy, rounds)));
            if let Some(side) = candidates.iter().find(|side| side.name == one.candidate) {
                parts.extend(memory(side, reference));
            }
            format!("{}, {}: {}", one.candidate, one.interface, parts.join("; "))
        })
        .collect()
}

fn verdict(one: &Overall, margin: f64) -> String {
    let (Some(difference), Some(most_loss)) = (one.difference, one.most_loss) else {
        return "no verdict: there are no pairs, or too few to tell how sure they are".to_owned();
    };
    let interval = match one.low.zip(one.high) {
        Some((low, high)) => format!(" (95 %: {} to {})", signed(low), signed(high)),
        None => String::new(),
    };
    let bound = format!("no loss larger than {} points at 95 %", points(most_loss));
    if one.low.is_some_and(|low| low > 0.0) {
        return format!("gains {} points{interval}", points(difference));
    }
    match (one.high.is_some_and(|high| high < 0.0), most_loss <= margin) {
        (true, true) => format!("loses {} points{interval}, {bound}", points(-difference)),
        (true, false) => format!("loses {} points{interval}", points(-difference)),
        (false, true) => bound,
        (false, false) => {
            let more =
                one.items_to_exclude.map(|needed| needed - one.pairs as f64).filter(|more| *more >= 1.0);
            let more = match more {
                Some(more) => format!(
                    "about {} more items from new families would settle whether it loses",
                    rounded(more)
                ),
                // Enough pairs were asked for a model that loses nothing; this one seems to lose a little.
                None => "more are needed to tell whether it loses".to_owned(),
            };
            format!(
                "not enough items: {} points here{interval}; {more} {} points",
                signed(difference),
                points(margin)
            )
        }
    }
}

/// Where the reference guesses, an equal accuracy says nothing of what a candidate lost.
fn guessed(one: &Overall, reference: &Side) -> Option<String> {
    let tasks = match (one.guessed_tasks, one.tasks) {
        (0, _) => return None,
        (1, 1) => String::new(),
        (guessed, tasks) => format!(" on {guessed} of {tasks} tasks"),
    };
    Some(format!("but {} does not surely beat chance{tasks}, where there is nothing to lose", reference.name))
}

/// Tasks whose difference survives the adjustment for all tests.
fn surely_different(one: &Overall, rows: &[Row]) -> Option<String> {
    let own = rows.iter().filter(|row| row.candidate == one.candidate && row.interface == one.interface);
    let named: Vec<String> = own
        .filter(|row| row.holm.is_some_and(|p| p < LEVEL) && one.tasks > 1)
        .filter_map(|row| Some(format!("{} ({})", row.task, signed(row.difference.value?))))
        .collect();
    (!named.is_empty()).then(|| format!("certain on {}", named.join(", ")))
}

/// Where there are rounds their median is told: a round that something else disturbed does not move it.
fn typical(pooled: f64, rounds: Ranged) -> f64 {
    rounds.median.filter(|_| rounds.n > 1).unwrap_or(pooled)
}

fn speed(pooled: f64, rounds: Ranged, of: usize) -> String {
    let ratio = typical(pooled, rounds);
    match ratio <= 1.0 {
        true => format!("{:.2}x as fast{}", 1.0 / ratio, over(rounds, of, |ratio| 1.0 / ratio)),
        false => format!("takes {ratio:.2}x the time{}", over(rounds, of, |ratio| ratio)),
    }
}

fn energy(pooled: f64, rounds: Ranged, of: usize) -> String {
    let ratio = typical(pooled, rounds);
    format!("{ratio:.2}x energy{}", over(rounds, of, |ratio| ratio))
}

/// ` (median of 4 rounds, 1.90 to 2.05)`; nothing where fewer than two have a ratio.
fn over(ratios: Ranged, rounds: usize, shown: fn(f64) -> f64) -> String {
    let Some((low, high)) = ratios.low.zip(ratios.high).filter(|_| ratios.n > 1) else {
        return String::new();
    };
    let (one, other) = (shown(low), shown(high));
    let of = if ratios.n < rounds as u64 { format!(" of {rounds}") } else { String::new() };
    format!(" (median of {}{of} rounds, {:.2} to {:.2})", ratios.n, one.min(other), one.max(other))
}

fn memory(side: &Side, reference: &Side) -> Option<String> {
    let costs = costs(side, reference);
    let peak = costs.peak_ratio.map(|ratio| format!("{ratio:.2}x peak memory"));
    peak.or_else(|| costs.file_ratio.map(|ratio| format!("{ratio:.2}x file size")))
}

/// A fraction in points of per cent.
fn points(fraction: f64) -> String {
    let text = format!("{:.1}", 100.0 * fraction);
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

/// The same with its sign.
fn signed(fraction: f64) -> String {
    let text = format!("{:+.1}", 100.0 * fraction);
    if text == "-0.0" { "+0.0".to_owned() } else { text }
}

/// Two digits are as good as such a number gets.
fn rounded(items: f64) -> String {
    let digits = items.log10().floor().max(1.0) - 1.0;
    let unit = 10_f64.powf(digits);
    format!("{}", ((items / unit).ceil() * unit) as u64)
}
