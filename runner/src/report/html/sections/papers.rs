//! Published figures beside the measured ones.

use super::Material;
use crate::report::html::markup::{Markup, all, details, paragraph, table};
use crate::report::papers::value_in_words;
use crate::report::{Published, THIS_RUN};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    if material.papers.is_empty() {
        return None;
    }
    let mut tasks: Vec<&str> = Vec::new();
    for row in &material.papers {
        if !tasks.contains(&row.task.as_str()) {
            tasks.push(&row.task);
        }
    }
    let headings = ["paper", "table", "who", "condition", "metric", "value", "n"];
    let words = |row: &Published| {
        let people = if row.human { " (people)" } else { "" };
        vec![
            row.paper.clone(),
            row.table.clone(),
            format!("{}{people}", row.model),
            row.condition.clone(),
            row.metric.clone(),
            value_in_words(row),
            row.n.map_or("-".to_owned(), |n| n.to_string()),
        ]
    };
    let of_task = |task: &str| {
        let own = material.papers.iter().filter(|row| row.task == task);
        // This run first: it is what the others are read beside.
        let (here, there): (Vec<&Published>, Vec<&Published>) = own.partition(|row| row.paper == THIS_RUN);
        let rows: Vec<Vec<String>> = here.into_iter().chain(there).map(words).collect();
        details(task, [table(task, &headings, 5, &rows)])
    };
    let note = "Published figures come from other models on other items, often with longer replies: they give a scale, no test.";
    Some(all(std::iter::once(paragraph(note)).chain(tasks.into_iter().map(of_task))))
}
