//! Whether the log has all of the run, and what it lacks.

use models::Reply;

use super::load::RunLog;
use crate::entry::ItemRecord;

/// The notes.
pub(super) fn completeness(run: &RunLog) -> Vec<String> {
    let part = run
        .header
        .shard
        .map(|shard| format!("part {} of {} of the plan; merge the others", shard.index, shard.of));
    let lack = run.complete.is_none().then(|| match (run.groups.len(), run.header.own_groups()) {
        (done, planned) if done < planned as usize => {
            format!("incomplete: {done} of {planned} groups are in the log")
        }
        (done, _) => format!(
            "incomplete: all {done} groups are in the log, but not all that comes after them: {}; the same command goes on with it",
            behind_groups(run)
        ),
    });
    part.into_iter().chain(lack).collect()
}

/// What a run without its end may lack behind its groups.
fn behind_groups(run: &RunLog) -> String {
    let config: serde_json::Value = serde_json::from_str(&run.header.config_json).unwrap_or_default();
    let wanted = config["engine"]["parity"].as_u64().filter(|_| config["engine"]["mode"] == "packed");
    let mut lacking = Vec::new();
    for (model, record) in run.header.models.iter().enumerate() {
        let is_own = |at: &crate::entry::GroupRef| usize::from(at.model) == model;
        let alone = run.alone.iter().filter(|alone| is_own(&alone.at)).count() as u64;
        let scored = run.items.iter().filter(|item| is_own(&item.at) && is_scored(item)).count() as u64;
        // A part of a plan has a part of the sample, and how large that is stands in the plan alone.
        let expected = wanted.unwrap_or(0).min(scored);
        if alone < expected {
            let of = if run.header.shard.is_some() { String::new() } else { format!(" of {expected}") };
            lacking.push(format!("the parity sample of {} ({alone}{of} items are there)", record.name));
        }
    }
    lacking.push("items asked alone for their latency, where some were wanted".to_owned());
    lacking.push("the end of the last session".to_owned());
    lacking.join(", or ")
}

/// Whether its labels were scored without anything written before.
fn is_scored(item: &ItemRecord) -> bool {
    let [turn] = &item.turns[..] else { return false };
    turn.texts.is_empty() && matches!(turn.replies[..], [Reply::Scored(_)])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use datasets::{Said, Verdict};
    use models::Scored;

    use super::*;
    use crate::entry::{Alone, Complete, GroupEnd};
    use crate::plan::Shard;
    use crate::report::made_up::{item, run, turn};

    fn scored(id: &str) -> ItemRecord {
        let mut item = item(0, id, &[], "direct", Verdict::Right);
        item.turns = vec![turn(0, Said::Choice(0))];
        item.turns[0].replies = vec![Reply::Scored(Scored::default())];
        item
    }

    fn made(groups: usize) -> RunLog {
        let items: Vec<ItemRecord> = (0..20).map(|at| scored(&format!("i{at}"))).collect();
        let mut run = run(&["lights"], items);
        run.header.groups = 2;
        run.header.config_json = r#"{"engine":{"parity":12,"mode":"packed"}}"#.to_owned();
        let end = |group: u32| {
            let at = crate::entry::GroupRef { group, model: 0, task: 0 };
            GroupEnd { at, items: 0, wall_us: 0, phases: Vec::new() }
        };
        run.groups = (0..groups as u32).map(|group| (group, end(group))).collect::<BTreeMap<_, _>>();
        let alone = |item: &ItemRecord| Alone {
            at: item.at,
            interface: item.interface.clone(),
            item: item.item.clone(),
            scored: Scored::default(),
        };
        run.alone = run.items[..3].iter().map(alone).collect();
        run
    }

    #[test]
    fn what_is_missing_behind_whole_groups_is_named() {
        let notes = completeness(&made(2));
        assert!(notes[0].starts_with("incomplete: all 2 groups are in the log, but not all"), "{notes:?}");
        assert!(notes[0].contains("the parity sample of m (3 of 12 items are there)"), "{notes:?}");
        assert_eq!(completeness(&made(1)), ["incomplete: 1 of 2 groups are in the log"]);
    }

    #[test]
    fn a_part_of_a_plan_says_so_though_it_is_whole() {
        let mut run = made(1);
        run.header.shard = Some(Shard { index: 1, of: 2 });
        run.complete = Some(Complete {
            session_us: 0,
            library_us: 0,
            supervisor_peak_bytes: None,
            worker_peak_bytes: None,
        });
        assert_eq!(completeness(&run), ["part 1 of 2 of the plan; merge the others"]);
    }
}
