//! The first model against the others, item by item.

use super::Material;
use crate::report::grid::{number, percent};
use crate::report::html::markup::{Markup, all, paragraph, table};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let comparison = material.comparison.as_ref()?;
    let points = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{:+.1}", 100.0 * value));
    let ends = |mean: &crate::compare::Mean| match mean.low.zip(mean.high) {
        Some((low, high)) => format!("{:+.1} to {:+.1}", 100.0 * low, 100.0 * high),
        None => "-".to_owned(),
    };
    let rows: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .map(|row| {
            vec![
                row.candidate.clone(),
                row.task.clone(),
                row.interface.clone(),
                row.pairs.to_string(),
                row.both_right.to_string(),
                row.only_reference.to_string(),
                row.only_candidate.to_string(),
                row.both_wrong.to_string(),
                points(row.difference.value),
                ends(&row.difference),
                number(Some(row.by_family.two_sided)),
                number(Some(row.holm)),
                number(row.labels.kl),
                percent(row.labels.same_answer),
                number(row.time_ratio),
            ]
        })
        .collect();
    let effects: Vec<Vec<String>> = comparison
        .effects
        .iter()
        .map(|effect| {
            let other = effect.interaction.as_ref();
            vec![
                effect.model.clone(),
                effect.task.clone(),
                effect.interface.clone(),
                effect.pairs.to_string(),
                points(effect.effect.value),
                ends(&effect.effect),
                points(other.and_then(|other| other.difference.value)),
                other.map_or("-".to_owned(), |other| ends(&other.difference)),
                number(other.map(|other| other.test.two_sided)),
            ]
        })
        .collect();
    let headings = [
        "candidate",
        "task",
        "interface",
        "pairs",
        "both right",
        "only reference",
        "only candidate",
        "both wrong",
        "difference",
        "95 % interval",
        "exact p",
        "Holm p",
        "KL, nats",
        "same answer",
        "time ratio",
    ];
    let mut parts = vec![
        paragraph(&format!(
            "The reference is {}. Pairs are items that both models answered; items of one family count as one witness. \
             Differences are points of per cent, candidate minus reference.",
            comparison.reference.name
        )),
        table("Flips, differences, tests", &headings, 3, &rows),
    ];
    if !effects.is_empty() {
        let headings = [
            "model",
            "task",
            "interface",
            "pairs",
            "minus direct",
            "95 % interval",
            "than reference",
            "95 % interval",
            "p",
        ];
        parts.push(table(
            "What reasoning first does, and how much more than to the reference",
            &headings,
            3,
            &effects,
        ));
    }
    parts.extend(comparison.notes.iter().map(|note| paragraph(note)));
    Some(all(parts))
}
