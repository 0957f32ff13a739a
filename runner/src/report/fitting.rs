//! Makes a table fit a terminal. Numbers stay whole: columns of words give way first, then what tells nothing is left out, then
//! what tells least.

/// Spaces around the cells of a column.
const PADDING: usize = 2;
/// A column of words gives way down to this, or to its heading.
const WORD: usize = 16;
/// Columns that are left out before others, where they tell something.
const LEAST_TELLING: [&str; 5] = ["tokens in", "evaluated", "out", "time, tok/s", "chance"];

/// What of a table fits.
pub(super) struct Fitted {
    pub(super) headings: Vec<String>,
    /// Columns of words, from the left.
    pub(super) words: usize,
    pub(super) rows: Vec<Vec<String>>,
    /// What is left out, in words.
    pub(super) left_out: Vec<String>,
}

/// Fits a table into a width.
pub(super) fn fitted(headings: Vec<String>, words: usize, rows: Vec<Vec<String>>, width: usize) -> Fitted {
    let mut columns: Vec<Column> = headings
        .into_iter()
        .enumerate()
        .map(|(at, heading)| Column {
            is_word: at < words,
            cells: rows.iter().map(|row| row.get(at).cloned().unwrap_or_default()).collect(),
            heading,
        })
        .collect();
    let mut left_out = Vec::new();
    let least = |columns: &[Column]| columns.iter().map(|column| column.least() + PADDING).sum::<usize>();
    while least(&columns) > width {
        let Some(at) = least_telling(&columns) else { break };
        let column = columns.remove(at);
        left_out.push(match column.same() {
            Some(value) if column.is_word => format!("{} ({value})", column.heading),
            _ => column.heading.clone(),
        });
    }
    // What is left goes to the columns of words, from the left.
    let mut spare = width.saturating_sub(least(&columns));
    for column in columns.iter_mut().filter(|column| column.is_word) {
        let wanted = column.width() - column.least();
        let given = wanted.min(spare);
        spare -= given;
        column.wrap(column.least() + given);
    }
    Fitted {
        words: columns.iter().filter(|column| column.is_word).count(),
        rows: (0..rows.len())
            .map(|row| columns.iter().filter_map(|column| column.cells.get(row).cloned()).collect())
            .collect(),
        headings: columns.into_iter().map(|column| column.heading).collect(),
        left_out,
    }
}

struct Column {
    heading: String,
    is_word: bool,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| length(cell));
        cells.max().unwrap_or(0).max(length(&self.heading))
    }

    /// The width that it cannot do without.
    fn least(&self) -> usize {
        match self.is_word {
            true => self.width().min(WORD.max(length(&self.heading))),
            false => self.width(),
        }
    }

    /// The value of every row, where it is the same in all.
    fn same(&self) -> Option<&str> {
        let first = self.cells.first()?;
        self.cells.iter().all(|cell| cell == first).then_some(first.as_str())
    }

    /// Whether no row has anything to tell.
    fn is_nothing(&self) -> bool {
        self.cells.iter().all(|cell| matches!(cell.as_str(), "" | "-" | "0"))
    }

    fn wrap(&mut self, width: usize) {
        for cell in &mut self.cells {
            *cell = wrapped(cell, width);
        }
    }
}

/// Which column is left out next: numbers that are nothing, a first column of words that is the same in all rows, what tells
/// least, and then from the right. The last number stays.
fn least_telling(columns: &[Column]) -> Option<usize> {
    let numbers = || columns.iter().enumerate().filter(|(_, column)| !column.is_word);
    if numbers().count() > 1
        && let Some((at, _)) = numbers().rev().find(|(_, column)| column.is_nothing())
    {
        return Some(at);
    }
    let several = columns.iter().filter(|column| column.is_word).count() > 1;
    if several && columns.first().is_some_and(|first| first.is_word && first.same().is_some()) {
        return Some(0);
    }
    if numbers().count() < 2 {
        return None;
    }
    let named = |name: &&str| numbers().find(|(_, column)| column.heading == **name).map(|(at, _)| at);
    LEAST_TELLING.iter().find_map(named).or_else(|| numbers().next_back().map(|(at, _)| at))
}

fn length(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// Breaks a text behind a space or a joint of a name where one is near enough, else anywhere.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > width.max(1) {
        let joint = rest[..width].iter().rposition(|c| matches!(c, ' ' | '-' | '+' | '/' | '_' | '='));
        let end = joint.map_or(width, |at| at + 1).max(1);
        let after = rest.split_off(end);
        lines.push(rest.iter().collect::<String>().trim_end().to_owned());
        rest = after;
    }
    lines.push(rest.into_iter().collect());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use crate::report::grid::grid;
    use crate::report::{Cell, table};

    fn cell(model: &str, task: &str, interface: &str) -> Cell {
        Cell {
            model: model.into(),
            task: task.into(),
            interface: interface.into(),
            n: 1320,
            accuracy: Some(0.875),
            low: Some(0.801),
            high: Some(0.912),
            chance: Some(0.25),
            prompt_tokens: 12_345_678,
            evaluated_tokens: 2_345_678,
            output_tokens: 456_789,
            engine_s: 1234.5,
            tokens_per_s: Some(87.0),
            ..Cell::default()
        }
    }

    /// Every line fits, every number and every heading that is shown is whole.
    fn is_readable(text: &str, width: usize, whole: &[&str]) {
        assert!(text.lines().all(|line| line.trim_end().chars().count() <= width), "{text}");
        for part in whole {
            assert!(text.contains(part), "{part} is broken or gone:\n{text}");
        }
    }

    #[test]
    fn at_80_columns_numbers_are_whole_and_what_is_left_out_is_named() {
        let model = "SmolLM2-135M-Instruct.Q4_1";
        let one = [cell(model, "linear-world", "direct"), cell(model, "hand-swap", "self-consistency")];
        let text = table(&one, Some(80));
        let whole = [
            "linear-world",
            "hand-swap",
            "self-consistency",
            "accuracy",
            "95 % interval",
            "87.5 %",
            "80.1 to 91.2",
            "1320",
        ];
        is_readable(
            &text
                .replace("(left out", "\n(left out")
                .lines()
                .filter(|line| !line.starts_with('('))
                .collect::<Vec<_>>()
                .join("\n"),
            80,
            &whole,
        );
        let last = text.lines().last().unwrap();
        assert!(
            last.starts_with("(left out for 80 columns: ") && last.contains(&format!("model ({model})")),
            "{last}"
        );
        assert!(last.contains("lost") && last.contains("skipped") && last.contains("tokens in"), "{last}");
        // What is not nothing stays longer than what tells least.
        let lost = Cell { lost: 7, ..cell(model, "hand-swap", "direct") };
        let text = table(&[lost, cell(model, "linear-world", "direct")], Some(80));
        is_readable(&text, 400, &["lost", " 7"]);
    }

    #[test]
    fn at_120_columns_two_models_keep_their_names_and_their_figures() {
        let rows =
            [cell("SmolLM2-135M-Instruct.Q4_1", "logic", "direct"), cell("gemma-3", "logic", "direct")];
        let text = table(&rows, Some(120));
        let shown: Vec<&str> = text.lines().filter(|line| !line.starts_with('(')).collect();
        is_readable(
            &shown.join("\n"),
            120,
            &["model", "gemma-3", "accuracy", "87.5 %", "80.1 to 91.2", "1234.5 s, 87"],
        );
        assert!(text.lines().last().unwrap().contains("skipped"), "{text}");
        // Wide enough, or no terminal: everything, and no line below.
        for width in [Some(250), None] {
            let text = table(&rows, width);
            assert!(
                text.contains("tokens in") && text.contains("skipped") && !text.contains("left out"),
                "{text}"
            );
        }
    }

    #[test]
    fn long_names_of_conditions_are_broken_at_their_joints_and_numbers_are_not() {
        let row = |name: &str| {
            vec!["m".to_owned(), "logic".to_owned(), name.to_owned(), "1234567".to_owned(), "0.5".to_owned()]
        };
        let rows = vec![row("cot-prefix+explain-first+labels=numbers+at=assistant-lead"), row("direct")];
        let text = grid(&["model", "task", "interface", "n", "value"], 3, rows, Some(60));
        is_readable(&text, 60, &["1234567", "0.5", "value", "interface", "cot-prefix+"]);
        assert!(!text.contains("left out"), "{text}");
    }
}
