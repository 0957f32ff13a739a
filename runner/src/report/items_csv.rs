//! One row per item and interface, for spreadsheets and scripts. Columns are stable and documented in
//! `docs/items-csv.md`; new ones are appended.

use std::io::Write;

use datasets::{Condition, Gold, Said, Verdict};
use models::Reply;

use super::cells::greedy_is_label;
use super::load::RunLog;
use super::parity::{best_two, floors, lead, normalisation};
use crate::entry::{ItemRecord, TurnRecord};

/// The columns, in order.
pub const COLUMNS: [&str; 47] = [
    "model",
    "task",
    "interface",
    "item",
    "family",
    "tags",
    "turns",
    "gold",
    "answer",
    "verdict",
    "reason",
    "rescued",
    "conflict",
    "label_logprobs",
    "label_mass",
    "best_label_rank",
    "greedy_is_label",
    "margin",
    "finish",
    "prompt_tokens",
    "evaluated_tokens",
    "output_tokens",
    "prefill_us",
    "decode_us",
    "tries",
    "prompt_hash",
    "scores",
    "reply",
    "group",
    "labels",
    "candidates",
    "undecided",
    "run",
    "picture_tokens",
    "pictures_encoded",
    "encode_us",
    "ending",
    "label_set",
    "permutation",
    "options",
    "gold_slot",
    "said_slot",
    "continuation_mass",
    "variant_mass",
    "gold_rank",
    "entropy",
    "top_tokens",
];

/// Writes the rows of a run.
pub fn write_items_csv(run: &RunLog, output: impl Write) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS)?;
    let (by, floors) = (normalisation(run), floors(run));
    for item in &run.items {
        let model = run.header.models.get(usize::from(item.at.model)).map(|model| &model.name);
        let floor = model.and_then(|model| floors.get(model));
        let undecided = floor.and_then(|floor| Some(lead(item, by)? < *floor));
        writer.write_record(row(run, item, undecided))?;
    }
    writer.flush()?;
    Ok(())
}

fn row(run: &RunLog, item: &ItemRecord, undecided: Option<bool>) -> Vec<String> {
    let name = |names: Option<&String>| names.cloned().unwrap_or_default();
    let last = item.turns.last();
    let (verdict, reason) = verdict(item.verdict);
    let scored = last.and_then(TurnRecord::scored);
    let generated = last.and_then(|turn| {
        turn.replies
            .iter()
            .find_map(|reply| if let Reply::Generated(text) = reply { Some(text) } else { None })
    });
    let sums: Vec<f64> =
        scored.map(|scored| scored.labels.iter().map(|label| label.sum()).collect()).unwrap_or_default();
    let best =
        (0..sums.len()).filter(|&label| sums[label].is_finite()).max_by(|&a, &b| sums[a].total_cmp(&sums[b]));
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or(String::new(), |v| format!("{v:.6}"))
    };
    let pairs = |pairs: Vec<String>| pairs.join(" ");
    let mut row = vec![
        name(run.header.models.get(usize::from(item.at.model)).map(|model| &model.name)),
        name(run.header.tasks.get(usize::from(item.at.task)).map(|task| &task.name)),
        item.interface.clone(),
        item.item.clone(),
        item.family.clone(),
        pairs(item.tags.iter().map(|(key, value)| format!("{key}={value}")).collect()),
        item.turns.len().to_string(),
        last.map(gold_in_words).unwrap_or_default(),
        last.map(answer_in_words).unwrap_or_default(),
        verdict.to_owned(),
        reason,
        last.is_some_and(|turn| turn.rescued).to_string(),
        last.and_then(|turn| turn.found.as_ref()).is_some_and(|found| found.conflict).to_string(),
        pairs(sums.iter().map(|&sum| logprob(sum)).collect()),
        number(scored.and_then(|scored| scored.mass)),
        scored.zip(best).map_or(String::new(), |(scored, best)| scored.labels[best].rank.to_string()),
        scored.and_then(greedy_is_label).map_or(String::new(), |is| is.to_string()),
        number(margin(&sums)),
        generated.map_or(String::new(), |text| format!("{:?}", text.finish).to_lowercase()),
        item.usage.prompt_tokens.to_string(),
        item.usage.evaluated_tokens.to_string(),
        item.usage.output_tokens.to_string(),
        item.usage.prefill_us.to_string(),
        item.usage.decode_us.to_string(),
        item.tries.to_string(),
        last.map(|turn| models::gguf::hex(&turn.prompt_hash)).unwrap_or_default(),
        pairs(item.scores.iter().map(|(key, value)| format!("{key}={value}")).collect()),
        generated.map(|text| text.text().into_owned()).unwrap_or_default(),
        item.at.group.to_string(),
        last.map(|turn| serde_json::json!(turn.labels).to_string()).unwrap_or_default(),
        last.and_then(|turn| turn.found.as_ref())
            .map_or(String::new(), |found| found.candidates.len().to_string()),
        undecided.map_or(String::new(), |is| is.to_string()),
        run.source_of(item.at.group).to_owned(),
        item.usage.picture_tokens.to_string(),
        item.usage.pictures_encoded.to_string(),
        item.usage.encode_us.to_string(),
    ];
    row.extend(laboratory(item));
    row
}

/// What the decoding laboratory adds to a row: what was varied, places, and the next token's distribution.
fn laboratory(item: &ItemRecord) -> [String; 11] {
    let last = item.turns.last();
    let condition = Condition::named(&item.interface);
    let scored = last.and_then(TurnRecord::scored_labels);
    let gold = last.and_then(|turn| turn.gold.label());
    let said = match last.and_then(|turn| turn.said.as_ref()) {
        Some(Said::Choice(label)) => Some(*label),
        _ => None,
    };
    let place = |label: Option<u16>| label.map_or(String::new(), |label| (u32::from(label) + 1).to_string());
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or(String::new(), |value| format!("{value:.6e}"))
    };
    let gold_label = gold.and_then(|gold| scored?.labels.get(usize::from(gold)));
    let top = |scored: &models::Scored| {
        let tokens = scored.top.iter().map(|token| serde_json::json!([token.piece, token.logprob]));
        serde_json::Value::Array(tokens.collect()).to_string()
    };
    [
        condition.as_ref().and_then(|condition| condition.ending).map_or(String::new(), |it| it.name.clone()),
        condition.and_then(|condition| condition.labels).map_or(String::new(), |set| set.name().to_owned()),
        item.tags
            .iter()
            .find(|(key, _)| key == "permutation")
            .map_or(String::new(), |(_, seed)| seed.clone()),
        last.map_or(String::new(), |turn| turn.labels.len().to_string()),
        place(gold),
        place(said),
        number(scored.and_then(|scored| scored.watched.first().copied())),
        number(scored.and_then(|scored| scored.watched.get(1).copied())),
        gold_label.map_or(String::new(), |label| label.rank.to_string()),
        number(scored.and_then(|scored| scored.entropy)),
        last.and_then(TurnRecord::scored).map(top).unwrap_or_default(),
    ]
}

/// A log-probability in a list, where an empty place could not be told from none: `-inf` and `nan` as words.
fn logprob(value: f64) -> String {
    if value.is_finite() { format!("{value:.6}") } else { format!("{value}").to_lowercase() }
}

/// By how much the best label leads the second; `None` unless all are finite.
fn margin(sums: &[f64]) -> Option<f64> {
    best_two(sums).map(|(best, second)| best.1 - second.1)
}

/// The verdict as people read it: `unanswered (truncated)`.
pub(crate) fn verdict_in_words(of: Verdict) -> String {
    match verdict(of) {
        (word, reason) if reason.is_empty() => word.to_owned(),
        (word, reason) => format!("{word} ({reason})"),
    }
}

/// The verdict in one word, with its reason where it has one.
pub(crate) fn verdict(verdict: Verdict) -> (&'static str, String) {
    let reason = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    match verdict {
        Verdict::Right => ("right", String::new()),
        Verdict::Wrong => ("wrong", String::new()),
        Verdict::Partial(part) => ("partial", format!("{part}")),
        Verdict::Unanswered(why) => ("unanswered", reason(serde_json::json!(why))),
        Verdict::Skipped(why) => ("skipped", reason(serde_json::json!(why))),
        Verdict::Lost(why) => ("lost", reason(serde_json::json!(why))),
    }
}

/// What is right: a label, or an order as JSON.
pub(crate) fn gold_in_words(turn: &TurnRecord) -> String {
    match &turn.gold {
        Gold::Label(label) | Gold::Route { label, .. } => {
            turn.labels.get(usize::from(*label)).cloned().unwrap_or_default()
        }
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// What was said; empty without an answer.
pub(crate) fn answer_in_words(turn: &TurnRecord) -> String {
    match &turn.said {
        Some(Said::Choice(index)) => turn.labels.get(usize::from(*index)).cloned().unwrap_or_default(),
        Some(Said::Text(text)) => text.clone(),
        Some(Said::Nothing(_)) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use datasets::Said;
    use models::{LabelScore, Scored, TokenProb};

    use super::*;
    use crate::report::made_up::{item, run, turn};

    /// A question about A and B with these log-probabilities, token 7 the most probable next one.
    fn scored(logprobs: [f32; 2], tokens: [i32; 2], top: &[i32]) -> Vec<String> {
        let label = |(&logprob, token): (&f32, i32)| LabelScore {
            tokens: vec![token],
            logprobs: vec![logprob],
            rank: 2,
        };
        let mut item = item(0, "a", &[("depth", "3")], "direct", Verdict::Right);
        item.turns.push(turn(0, Said::Choice(0)));
        item.turns[0].replies.push(Reply::Scored(Scored {
            labels: logprobs.iter().zip(tokens).map(label).collect(),
            mass: Some(0.25),
            top: top.iter().map(|&token| TokenProb { token, piece: String::new(), logprob: -0.1 }).collect(),
            ..Scored::default()
        }));
        row(&run(&["lights"], vec![item.clone()]), &item, None)
    }

    fn field<'a>(row: &'a [String], column: &str) -> &'a str {
        &row[COLUMNS.iter().position(|name| *name == column).unwrap()]
    }

    #[test]
    fn every_column_is_documented_in_its_place() {
        let page = include_str!("../../../docs/items-csv.md");
        let named = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
        assert_eq!(page.lines().filter_map(named).collect::<Vec<_>>(), COLUMNS);
    }

    #[test]
    fn scores_margin_and_greedy_token_are_told() {
        let row = scored([-0.5, -2.0], [7, 8], &[7]);
        assert_eq!(row.len(), COLUMNS.len());
        assert_eq!(field(&row, "label_logprobs"), "-0.500000 -2.000000");
        assert_eq!((field(&row, "margin"), field(&row, "greedy_is_label")), ("1.500000", "true"));
        assert_eq!(
            (field(&row, "labels"), field(&row, "gold"), field(&row, "tags")),
            (r#"["A","B"]"#, "A", "depth=3")
        );
        assert_eq!(field(&scored([-0.5, -2.0], [7, 8], &[9]), "greedy_is_label"), "false");
    }

    #[test]
    fn a_score_that_is_not_finite_keeps_its_place_and_gives_no_margin() {
        let row = scored([f32::NAN, -2.0], [7, 8], &[7]);
        assert_eq!((field(&row, "label_logprobs"), field(&row, "margin")), ("nan -2.000000", ""));
        assert_eq!(
            field(&scored([f32::NEG_INFINITY, -2.0], [7, 8], &[7]), "label_logprobs"),
            "-inf -2.000000"
        );
    }

    #[test]
    fn without_logged_next_tokens_nothing_is_said_of_the_greedy_one() {
        assert_eq!(field(&scored([-0.5, -2.0], [7, 8], &[]), "greedy_is_label"), "");
    }
}
