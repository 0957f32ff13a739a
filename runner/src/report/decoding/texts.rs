//! Whole texts of options, judged in every way; and scores of unequal lengths, which the sum is unfair to.

use datasets::interfaces::{TextScores, best, text_scores};
use datasets::{Normalisation, Said, TextNormalisation};
use models::Reply;
use serde::Serialize;

use super::mean;
use super::readout::Readout;
use crate::report::cells::Place;
use crate::report::load::RunLog;
use crate::report::note::{Like, Note};

/// The ways, in the order of the table.
const WAYS: [TextNormalisation; 4] = [
    TextNormalisation::Sum,
    TextNormalisation::PerToken,
    TextNormalisation::PerByte,
    TextNormalisation::Unconditional,
];

/// A condition that scores texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextsRow {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the condition.
    pub condition: String,
    /// Answers.
    pub n: u64,
    /// Accuracy by summed log-probability.
    pub sum: Option<f64>,
    /// Per token.
    pub per_token: Option<f64>,
    /// Per byte.
    pub per_byte: Option<f64>,
    /// Less the log-probability without the question.
    pub unconditional: Option<f64>,
    /// The one by which the run's answers were judged.
    pub judged_by: TextNormalisation,
    /// Share of items whose options differ in their number of tokens.
    pub unequal: Option<f64>,
}

pub(super) fn rows(places: &[(&Place<'_>, Vec<Readout<'_>>)], run: &RunLog) -> Vec<TextsRow> {
    let judged_by = judged_by(run);
    let mut rows = Vec::new();
    for (place, readouts) in places {
        let scores: Vec<(usize, Vec<TextScores>)> =
            readouts.iter().filter_map(|it| Some((it.gold, scores(it)?))).collect();
        if scores.is_empty() {
            continue;
        }
        let accuracy = |way: TextNormalisation| {
            mean(scores.iter().map(|(gold, scores)| {
                let values: Vec<f64> = scores.iter().map(|score| score.by(way)).collect();
                f64::from(u8::from(
                    best(&values) == u16::try_from(*gold).map_or(Said::Choice(u16::MAX), Said::Choice),
                ))
            }))
        };
        let [sum, per_token, per_byte, unconditional] = WAYS.map(accuracy);
        let unequal = |(_, scores): &(usize, Vec<TextScores>)| {
            f64::from(u8::from(scores.windows(2).any(|two| two[0].tokens != two[1].tokens)))
        };
        rows.push(TextsRow {
            model: place.model.clone(),
            task: place.task.clone(),
            condition: place.interface.clone(),
            n: scores.len() as u64,
            sum,
            per_token,
            per_byte,
            unconditional,
            judged_by,
            unequal: mean(scores.iter().map(unequal)),
        });
    }
    rows
}

/// The scores of an answer's texts, after the question and without it.
fn scores(it: &Readout<'_>) -> Option<Vec<TextScores>> {
    if it.turn.texts.is_empty() {
        return None;
    }
    let mut scored = it.turn.replies.iter().filter_map(|reply| match reply {
        Reply::Scored(scored) => Some(scored),
        _ => None,
    });
    Some(text_scores(scored.next()?, scored.next(), &it.turn.texts))
}

/// How the run judged texts.
fn judged_by(run: &RunLog) -> TextNormalisation {
    let config: serde_json::Value = serde_json::from_str(&run.header.config_json).unwrap_or_default();
    serde_json::from_value(config["asking"]["full-string"].clone()).unwrap_or_default()
}

/// Warnings of scores that are not comparable as they were judged.
pub(super) fn notes(
    places: &[(&Place<'_>, Vec<Readout<'_>>)],
    texts: &[TextsRow],
    run: &RunLog,
) -> Vec<Note> {
    let mut notes = Vec::new();
    for row in texts.iter().filter(|_| judged_by(run) == TextNormalisation::Sum) {
        if let Some(unequal) = row.unequal.filter(|unequal| *unequal > 0.0) {
            let so = "they are judged by their sum, which favours the shorter; `regrade --full-string per-token` (or per-byte, \
                      unconditional) judges them anew";
            let text = format!(
                "{} / {} / {}: options of unequal lengths in {:.0} % of the items: {so}",
                row.model,
                row.task,
                row.condition,
                100.0 * unequal
            );
            let is_own = |other: &&TextsRow| (&other.model, &other.task) == (&row.model, &row.task);
            let like = Like {
                place: [&row.model, &row.task, &row.condition].map(String::clone),
                what: "options of unequal lengths".to_owned(),
                figure: format!("most, {:.0} % of the items", 100.0 * unequal),
                weight: unequal,
                so: so.to_owned(),
                of: texts.iter().filter(is_own).count(),
            };
            notes.push(Note::like(text, like));
        }
    }
    let scored = || places.iter().filter(|(place, _)| place.by == Normalisation::Sum);
    for (place, readouts) in scored() {
        let unequal = readouts.iter().filter(|it| {
            let labels = it.turn.scored_labels().map(|scored| &scored.labels[..]).unwrap_or_default();
            labels.windows(2).any(|two| two[0].tokens.len() != two[1].tokens.len())
        });
        let unequal = unequal.count();
        if unequal > 0 {
            let so = "they are judged by their sum, which favours the shorter; `regrade --normalisation per-token` judges them \
                      anew";
            let text = format!(
                "{} / {} / {}: labels of unequal numbers of tokens in {unequal} of {} items: {so}",
                place.model,
                place.task,
                place.interface,
                readouts.len()
            );
            let like = Like {
                place: [&place.model, &place.task, &place.interface].map(String::clone),
                what: "labels of unequal numbers of tokens".to_owned(),
                figure: format!("most, {unequal} of {} items", readouts.len()),
                weight: unequal as f64 / readouts.len() as f64,
                so: so.to_owned(),
                of: scored()
                    .filter(|(other, _)| (&other.model, &other.task) == (&place.model, &place.task))
                    .count(),
            };
            notes.push(Note::like(text, like));
        }
    }
    notes
}
