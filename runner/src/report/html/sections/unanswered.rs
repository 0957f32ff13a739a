//! Why items have no answer, and which answers rounding decides.

use datasets::NoAnswer;

use super::Material;
use crate::report::html::markup::{Markup, all, element, paragraph, raw, table, text};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let mut reasons: Vec<NoAnswer> =
        material.cells.iter().flat_map(|cell| cell.unanswered.keys().copied()).collect();
    reasons.sort();
    reasons.dedup();
    let cells: Vec<_> = material.cells.iter().filter(|cell| cell.unanswered_total() > 0).collect();
    let conflicts = conflicts(material);
    let undecided = undecided(material);
    if cells.is_empty() && conflicts.is_empty() && undecided.is_empty() {
        return None;
    }
    let words = |reason: &NoAnswer| serde_json::json!(reason).as_str().unwrap_or_default().to_owned();
    let mut parts = Vec::new();
    if !cells.is_empty() {
        let names: Vec<String> = reasons.iter().map(words).collect();
        let key = names.iter().enumerate().map(|(at, name)| {
            let sign = element(
                "span",
                &[("style", &format!("color:var(--s{at})")), ("aria-hidden", "true")],
                [raw("&#9632;")],
            );
            element("li", &[], [sign, text(&format!(" {name}"))])
        });
        parts.push(element("ul", &[("class", "legend")], key));
        let mut headings = vec!["model", "task", "interface", "n"];
        headings.extend(names.iter().map(String::as_str));
        let rows: Vec<Vec<String>> = cells
            .iter()
            .map(|cell| {
                let mut row =
                    vec![cell.model.clone(), cell.task.clone(), cell.interface.clone(), cell.n.to_string()];
                row.extend(
                    reasons
                        .iter()
                        .map(|reason| cell.unanswered.get(reason).copied().unwrap_or(0).to_string()),
                );
                row
            })
            .collect();
        let open = cells.iter().filter(|cell| material.is_plain(&cell.task, &cell.interface));
        let bars = open.map(|cell| {
            let part = |(at, reason): (usize, &NoAnswer)| {
                let share =
                    100.0 * cell.unanswered.get(reason).copied().unwrap_or(0) as f64 / cell.n.max(1) as f64;
                element("span", &[("style", &format!("width:{share:.2}%;background:var(--s{at})"))], [])
            };
            let name = format!(
                "{}, {}, {}: {} of {}",
                cell.model,
                cell.task,
                cell.interface,
                cell.unanswered_total(),
                cell.n
            );
            let bar = element(
                "div",
                &[("class", "bar"), ("aria-hidden", "true")],
                reasons.iter().enumerate().map(part),
            );
            element("figure", &[], [element("figcaption", &[], [text(&name)]), bar])
        });
        parts.push(element("div", &[("class", "plots")], bars.collect::<Vec<_>>()));
        parts.push(material.by_condition("Items without an answer, by reason", &headings, 3, &rows, [1, 2]));
    }
    if !conflicts.is_empty() {
        parts.push(paragraph(
            "Replies that give different answers in different places; the stated rule decided between them.",
        ));
        parts.push(table(
            "Conflicting replies",
            &["model", "task", "interface", "items", "conflicts"],
            3,
            &conflicts,
        ));
    }
    if !undecided.is_empty() {
        parts.push(paragraph(
            "Undecided: the lead of the best label is below the noise floor that the run's parity sample measured.",
        ));
        let headings = ["model", "task", "interface", "items", "undecided"];
        parts.push(material.by_condition(
            "Scored answers that rounding decides",
            &headings,
            3,
            &undecided,
            [1, 2],
        ));
    }
    Some(all(parts))
}

/// Undecided answers by place, where a sample tells.
fn undecided(material: &Material<'_>) -> Vec<Vec<String>> {
    let row = |cell: &crate::report::Cell| {
        let undecided = cell.undecided.filter(|count| *count > 0)?;
        let words = [&cell.model, &cell.task, &cell.interface].map(String::clone).to_vec();
        Some([words, vec![cell.n.to_string(), undecided.to_string()]].concat())
    };
    material.cells.iter().filter_map(row).collect()
}

/// Items whose reply contradicts itself, by place.
fn conflicts(material: &Material<'_>) -> Vec<Vec<String>> {
    crate::report::places(material.run)
        .into_iter()
        .filter_map(|place| {
            let conflicting = place.items.iter().filter(|item| {
                item.turns.iter().any(|turn| turn.found.as_ref().is_some_and(|found| found.conflict))
            });
            let count = conflicting.count();
            (count > 0).then(|| {
                vec![
                    place.model,
                    place.task,
                    place.interface,
                    place.items.len().to_string(),
                    count.to_string(),
                ]
            })
        })
        .collect()
}
