//! Tables for people: columns of text, numbers to the right.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::fitting::fitted;

/// Lays out rows under headings; `words` columns from the left hold words and the others numbers. `width` limits the
/// table where the terminal tells its width: no number and no word of a heading is ever broken; what has no place is left out, and
/// a line below says so.
pub(crate) fn grid(headings: &[&str], words: usize, rows: Vec<Vec<String>>, width: Option<u16>) -> String {
    let headings: Vec<String> = headings.iter().map(|&heading| heading.to_owned()).collect();
    let Some(width) = width else { return laid_out(&headings, words, rows) };
    let fitted = fitted(headings, words, rows, usize::from(width));
    let table = laid_out(&fitted.headings, fitted.words, fitted.rows);
    match fitted.left_out.is_empty() {
        true => table,
        false => {
            format!("{table}\n(left out for {width} columns: {}; --csv has all)", fitted.left_out.join(", "))
        }
    }
}

fn laid_out(headings: &[String], words: usize, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings);
    for index in words..headings.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.add_rows(rows);
    table.to_string()
}

/// `87.5 %`, or `-` where there is nothing to tell.
pub(crate) fn percent(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{:.1} %", 100.0 * value))
}

/// `80.1 - 91.2`, in per cent.
pub(super) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{:.1} - {:.1}", 100.0 * low, 100.0 * high),
        _ => "-".to_owned(),
    }
}

/// Up to four decimals, without trailing zeros; `-` where there is nothing to tell.
pub(crate) fn number(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return "-".to_owned() };
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    // Rounding leaves a minus on what is then nothing.
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_what_they_have() {
        let shown = |value| number(Some(value));
        assert_eq!(
            (shown(0.875), shown(12.0), shown(1.0 / 3.0)),
            ("0.875".into(), "12".into(), "0.3333".into())
        );
        assert_eq!((shown(-0.00001), shown(f64::NAN), number(None)), ("0".into(), "-".into(), "-".into()));
        assert_eq!((shown(100.0), shown(0.0)), ("100".into(), "0".into()));
        assert_eq!(
            (percent(Some(0.875)), interval(Some(0.5), Some(1.0))),
            ("87.5 %".into(), "50.0 - 100.0".into())
        );
    }
}
