//! Named and published figures on a terminal: values over a row of strata, depths or passes stand in one line.

use super::figures::FigureRow;
use super::grid::{grid, number};
use super::papers::{Published, Series, series, value_in_words};

/// Renders named figures. A share of answers that is missing nowhere is left out.
pub fn figures_table(figures: &[FigureRow], width: Option<u16>) -> String {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for figure in figures {
        let tags: Vec<&str> = figure.by.iter().map(|(tag, _)| tag.as_str()).collect();
        let levels: Vec<&str> = figure.by.iter().map(|(_, level)| level.as_str()).collect();
        let (name, pass) = pass(&figure.figure);
        let level = levels.into_iter().chain(pass).collect::<Vec<_>>().join("/");
        let line = Line { first: figure, name, tags, points: Vec::new() };
        let found = lines.iter().position(|known| known.is_continued_by(&line));
        let at = found.unwrap_or_else(|| {
            lines.push(line);
            lines.len() - 1
        });
        lines[at].points.push((level, figure));
    }
    lines.retain(|line| {
        line.name != "no answer" || line.points.iter().any(|(_, figure)| figure.value != Some(0.0))
    });
    let headings = ["model", "task", "interface", "figure", "value", "n"];
    grid(&headings, headings.len(), lines.iter().map(Line::row).collect(), width)
}

/// Figures of one name over the strata of one list of tags.
struct Line<'a> {
    first: &'a FigureRow,
    name: &'a str,
    tags: Vec<&'a str>,
    points: Vec<(String, &'a FigureRow)>,
}

impl Line<'_> {
    fn is_continued_by(&self, other: &Line<'_>) -> bool {
        let place = |line: &Line<'_>| {
            let FigureRow { model, task, interface, .. } = line.first;
            (model.clone(), task.clone(), interface.clone())
        };
        self.name == other.name && self.tags == other.tags && place(self) == place(other)
    }

    fn row(&self) -> Vec<String> {
        let name = match &self.tags[..] {
            [] => self.name.to_owned(),
            tags => format!("{} by {}", self.name, tags.join(" and ")),
        };
        let value = |(level, figure): &(String, &FigureRow)| match level.as_str() {
            "" => number(figure.value),
            level => format!("{level}: {}", number(figure.value)),
        };
        let values: Vec<String> = self.points.iter().map(value).collect();
        let FigureRow { model, task, interface, .. } = self.first;
        let sizes = sizes(self.points.iter().map(|(_, figure)| Some(figure.n)));
        vec![model.clone(), task.clone(), interface.clone(), name, values.join("  "), sizes]
    }
}

/// `correct_pass_03` is point 03 of the line `correct_pass`.
fn pass(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('_') {
        Some((stem, digits)) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            (stem, Some(digits))
        }
        _ => (name, None),
    }
}

/// Renders published and measured figures.
pub fn papers_table(rows: &[Published], width: Option<u16>) -> String {
    let row = |series: Series<'_>| {
        let condition = match span(&series) {
            Some(span) => format!("{} {span}", series.condition),
            None => series.condition.clone(),
        };
        let values: Vec<String> = series.points.iter().map(|(_, row)| value_in_words(row)).collect();
        let first = series.first;
        let people =
            if first.human && !first.model.to_lowercase().contains("human") { " (people)" } else { "" };
        vec![
            first.task.clone(),
            first.paper.clone(),
            first.table.clone(),
            format!("{}{people}", first.model),
            condition,
            first.metric.clone(),
            values.join(" "),
            sizes(series.points.iter().map(|(_, row)| row.n)),
        ]
    };
    let headings = ["task", "paper", "table", "model", "condition", "metric", "value", "n"];
    grid(&headings, headings.len(), series(rows).into_iter().map(row).collect(), width)
}

/// The numbers of a line: `0..10`, or one by one where some are missing; `None` for a row that has none.
fn span(series: &Series<'_>) -> Option<String> {
    let numbers: Vec<u32> = series.points.iter().filter_map(|(number, _)| number.parse().ok()).collect();
    let (first, last) = (numbers.first()?, numbers.last()?);
    let rising = numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    Some(match (rising, first == last) {
        (_, true) => first.to_string(),
        (true, false) => format!("{first}..{last}"),
        (false, false) => numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
    })
}

/// Sample sizes, once where all are equal; `-` where they are not known.
fn sizes(sizes: impl Iterator<Item = Option<u64>>) -> String {
    let mut sizes: Vec<String> = sizes.map(|n| n.map_or("-".to_owned(), |n| n.to_string())).collect();
    sizes.dedup();
    sizes.join(" ")
}

#[cfg(test)]
mod tests;
