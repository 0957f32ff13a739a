//! What the machine did while it was measured, one line each: throttling, jumps of the clock, changed conditions, a rate
//! that falls.

use std::collections::BTreeSet;

use super::cells::{Place, places};
use super::load::RunLog;
use crate::entry::ItemRecord;
use crate::telemetry::record::Stretch;
use crate::telemetry::throttle;

/// By what share the rate of the last quarter of a run may be below that of the first.
const FALL: f64 = 0.1;
/// Items below which quarters tell nothing: a quarter that is a part of one packed group has its speed from its company.
const FEWEST_ITEMS: usize = 80;

/// Load of other programs that is told, as a share of all processors.
pub(crate) const LOADED: f64 = 0.1;

/// Mean load of other programs while groups ran, of one model's or of all, as a share of all processors; `None` where it was
/// not measured.
pub(crate) fn load_of_others(run: &RunLog, model: Option<u16>) -> Option<f64> {
    let (mut load, mut span) = (0.0, 0.0);
    for (_, window) in &run.measured.windows {
        let is_own = window.stretch == Stretch::Group && model.is_none_or(|model| window.model == model);
        let Some(permille) = window.state.others_permille.filter(|_| is_own) else { continue };
        let us = window.end.since_us(window.begin) as f64;
        load += permille as f64 / 1e3 * us;
        span += us;
    }
    (span > 0.0).then(|| load / span)
}

/// The notes.
pub(super) fn machine_notes(run: &RunLog) -> Vec<String> {
    let mut notes = Vec::new();
    let measured = &run.measured;
    let groups = || measured.windows.iter().filter(|(_, window)| window.stretch == Stretch::Group);
    let throttled = groups().filter(|(_, window)| window.state.throttled()).count();
    if throttled > 0 {
        let bits = groups().filter_map(|(_, window)| window.state.pi_flags).fold(0, |all, bits| all | bits);
        let why = throttle::now(bits);
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
        notes.push(format!(
            "the machine held itself back in {throttled} of {} groups{why}: times and energies are not those of a cool, well-fed board",
            groups().count()
        ));
    }
    let suspended = groups().filter(|(_, window)| window.suspended).count();
    if suspended > 0 {
        notes.push(format!("the machine was suspended in {suspended} groups; they have no energy"));
    }
    if let Some(load) = load_of_others(run, None).filter(|load| *load > LOADED) {
        notes.push(format!(
            "other programs took {:.0} % of all processors while groups ran: times and energies are not those of a quiet machine",
            100.0 * load
        ));
    }
    if let Some(first) = measured.steps.first() {
        notes.push(format!(
            "the wall clock jumped {} times, first by {:.0} s in group {}; durations do not depend on it",
            measured.steps.len(),
            first.step.change_us as f64 / 1e6,
            first.group.group
        ));
    }
    for pair in measured.began.windows(2) {
        notes.extend(
            pair[0]
                .conditions
                .changes(&pair[1].conditions)
                .into_iter()
                .map(|change| format!("between sessions {change}")),
        );
    }
    for (began, ended) in measured.began.iter().zip(&measured.ended) {
        notes.extend(
            began
                .conditions
                .changes(&ended.conditions)
                .into_iter()
                .map(|change| format!("during the run {change}")),
        );
    }
    let modes: BTreeSet<&String> =
        measured.began.iter().filter_map(|began| began.conditions.power_mode.as_ref()).collect();
    if modes.len() > 1 {
        let modes: Vec<&str> = modes.into_iter().map(String::as_str).collect();
        notes.push(format!(
            "sessions ran in different power modes ({}): their costs cannot be compared",
            modes.join(", ")
        ));
    }
    notes.extend(falling(&places(run)));
    notes
}

/// A note when the last quarter of the items of some places ran slower than the first: one for all, on the worst of them.
fn falling(places: &[Place<'_>]) -> Option<String> {
    let told = places.iter().filter_map(|place| Some((place, quarters(&place.items)?)));
    let mut fallen: Vec<_> = told.filter(|(_, (first, last))| *last < (1.0 - FALL) * first).collect();
    fallen.sort_by(|(_, a), (_, b)| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (place, (first, last)) = fallen.first()?;
    let others = match fallen.len() {
        1 => String::new(),
        n => format!(", and less so in {} more", n - 1),
    };
    Some(format!(
        "{} / {} / {}: {first:.1} tokens/s in the first quarter of the items and {last:.1} in the last{others}: the machine became slower",
        place.model, place.task, place.interface
    ))
}

/// Tokens per second over the first and the last quarter of the items, in the order in which they ran.
pub(super) fn quarters(items: &[&ItemRecord]) -> Option<(f64, f64)> {
    if items.len() < FEWEST_ITEMS {
        return None;
    }
    let quarter = items.len() / 4;
    // Prompts and answers have different speeds: the one that takes the time is compared with itself.
    let writes = items.iter().map(|item| item.usage.decode_us).sum::<u64>()
        > items.iter().map(|item| item.usage.prefill_us).sum::<u64>();
    let rate = |items: &[&ItemRecord]| {
        let (tokens, us) = items.iter().fold((0u64, 0u64), |(tokens, us), item| match writes {
            true => (tokens + u64::from(item.usage.output_tokens), us + item.usage.decode_us),
            false => (tokens + u64::from(item.usage.evaluated_tokens), us + item.usage.prefill_us),
        });
        (tokens > 0 && us > 0).then(|| tokens as f64 / (us as f64 / 1e6))
    };
    rate(&items[..quarter]).zip(rate(&items[items.len() - quarter..]))
}

#[cfg(test)]
mod tests {
    use datasets::Verdict;
    use models::Usage;

    use super::*;
    use crate::report::made_up::{item, run};

    #[test]
    fn perf_05_a_rate_that_falls_is_told_and_a_steady_one_is_not() {
        let items = |fall_from: usize| -> Vec<ItemRecord> {
            let one = |index: usize| {
                let mut item = item(0, &format!("i{index:03}"), &[], "free-cot", Verdict::Right);
                // 4.5 tokens a second, and 3.9 from some item on.
                let decode_us = if index < fall_from { 20_000_000 } else { 23_076_923 };
                item.usage = Usage { output_tokens: 90, decode_us, ..Usage::default() };
                item
            };
            (0..80).map(one).collect()
        };
        let notes = machine_notes(&run(&["lights"], items(60)));
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("4.5 tokens/s") && notes[0].contains("3.9"), "{notes:?}");
        assert!(machine_notes(&run(&["lights"], items(80))).is_empty());
    }
}
