//! What came of it: verdicts, notes, the result table.

use super::Material;
use crate::report::grid::number;
use crate::report::html::markup::{Markup, all, details, element, prose};
use crate::report::table::results;
use crate::report::witnesses::few_families;

/// Notes that stand open.
const MOST_NOTES: usize = 12;

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let lines = |class: &str, lines: &[String]| {
        all(lines.iter().map(|line| element("p", &[("class", class)], [prose(line)])))
    };
    let sentences = material.comparison.as_ref().map(|comparison| {
        // With many conditions those that vary something would stand between the reader and the results.
        let (mut plain, mut varied) = (Vec::new(), Vec::new());
        for (sentence, overall) in comparison.sentences.iter().zip(&comparison.overall) {
            let of = if material.is_swept(&overall.interface) { &mut varied } else { &mut plain };
            of.push(sentence.clone());
        }
        let more = (!varied.is_empty()).then(|| {
            let summary = format!("{} sentences on conditions that vary something", varied.len());
            details(&summary, [lines("verdict", &varied)])
        });
        all([lines("verdict", &plain), more.unwrap_or_default()])
    });
    // How few witnesses there are belongs beside the verdicts, however many other notes there are.
    let few = few_families(&material.cells);
    let rest: Vec<String> = material.notes.iter().filter(|note| !few.contains(note)).cloned().collect();
    let notes = match material.notes.len() {
        0..=MOST_NOTES => lines("note", &rest),
        _ => details(
            &format!("{} notes: what to know before believing the figures", rest.len()),
            [lines("note", &rest)],
        ),
    };
    let headings = [
        "model",
        "task",
        "interface",
        "n",
        "accuracy",
        "95 % interval",
        "chance",
        "unanswered",
        "skipped",
        "lost",
        "tokens in",
        "out",
        "time, s",
        "tok/s",
    ];
    let row = |cell: &crate::report::Cell| {
        let mut row = vec![cell.model.clone(), cell.task.clone(), cell.interface.clone()];
        row.extend(results(cell));
        row.extend([cell.prompt_tokens, cell.output_tokens].map(|n| n.to_string()));
        row.extend([format!("{:.1}", cell.engine_s), number(cell.tokens_per_s.map(f64::round))]);
        row
    };
    let rows: Vec<Vec<String>> = material.cells.iter().map(row).collect();
    let caption = "Results; unanswered items count as wrong, skipped and lost ones do not count. Intervals are \
                   Wilson's, on as many items as their families are worth; items of one family have none.";
    Some(all([
        sentences.unwrap_or_default(),
        lines("note", &few),
        notes,
        material.by_condition(caption, &headings, 3, &rows, [1, 2]),
    ]))
}
