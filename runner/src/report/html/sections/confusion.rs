//! What was answered where what was right.

use super::Material;
use crate::report::extent::is_varied;
use crate::report::html::markup::{Markup, element, paragraph, raw, text};
use crate::report::places;
use crate::report::{answer_in_words, gold_in_words};

/// Labels up to which a matrix can be read.
const MOST_LABELS: usize = 8;
/// What stands for no answer.
const NOTHING: &str = "none";

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let mut matrices = Vec::new();
    for place in places(material.run).into_iter().filter(|place| !is_varied(&place.interface)) {
        let mut labels: Vec<String> = Vec::new();
        let mut counts = std::collections::BTreeMap::<(String, String), u64>::new();
        for item in &place.items {
            let [turn] = &item.turns[..] else { continue };
            if turn.gold.label().is_none() || turn.said.is_none() {
                continue;
            }
            for label in &turn.labels {
                if !labels.contains(label) {
                    labels.push(label.clone());
                }
            }
            let said = answer_in_words(turn);
            let said = if turn.labels.contains(&said) { said } else { NOTHING.to_owned() };
            *counts.entry((gold_in_words(turn), said)).or_default() += 1;
        }
        if (2..=MOST_LABELS).contains(&labels.len()) {
            let caption = format!("{}, {}, {}", place.model, place.task, place.interface);
            matrices.push(matrix(&caption, &labels, &counts));
        }
    }
    if matrices.is_empty() {
        return None;
    }
    let words = "Rows: the right label. Columns: the answer. Items without an answer stand under none.";
    Some(element("div", &[], [paragraph(words), element("div", &[("class", "matrices")], matrices)]))
}

fn matrix(
    caption: &str,
    labels: &[String],
    counts: &std::collections::BTreeMap<(String, String), u64>,
) -> Markup {
    let columns: Vec<&str> = labels.iter().map(String::as_str).chain([NOTHING]).collect();
    let count =
        |gold: &str, said: &str| counts.get(&(gold.to_owned(), said.to_owned())).copied().unwrap_or(0);
    let row = |gold: &String| {
        let total: u64 = columns.iter().map(|said| count(gold, said)).sum();
        let cell = |said: &&str| {
            let n = count(gold, said);
            // Up to 60 % of the colour, so that the number stays readable in light and dark.
            let heat = 60.0 * n as f64 / total.max(1) as f64;
            let style = format!("background:rgb(var(--heat) / {heat:.0}%)");
            element("td", &[("class", "n"), ("style", &style)], [text(&n.to_string())])
        };
        let head = element("th", &[("scope", "row")], [text(gold)]);
        element("tr", &[], std::iter::once(head).chain(columns.iter().map(cell)).collect::<Vec<_>>())
    };
    let head = columns.iter().map(|label| element("th", &[("scope", "col"), ("class", "n")], [text(label)]));
    let head = std::iter::once(raw("<td></td>")).chain(head).collect::<Vec<_>>();
    let table = element(
        "table",
        &[],
        [
            element("caption", &[], [text(caption)]),
            element("thead", &[], [element("tr", &[], head)]),
            element("tbody", &[], labels.iter().map(row).collect::<Vec<_>>()),
        ],
    );
    element("div", &[("class", "scroll"), ("tabindex", "0")], [table])
}
