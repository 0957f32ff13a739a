//! Tables for people: columns of text, numbers to the right.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Below it, four decimals show nothing.
const SMALLEST: f64 = 0.0001;

/// Lays out rows under headings; `words` columns from the left hold words and the others numbers. `width` limits the
/// table where the terminal tells its width.
pub(crate) fn grid(headings: &[&str], words: usize, rows: Vec<Vec<String>>, width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
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

/// `80.1 to 91.2`, in per cent.
pub(super) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{:.1} to {:.1}", 100.0 * low, 100.0 * high),
        _ => "-".to_owned(),
    }
}

/// Three significant digits, four from one on, whole numbers in full; without trailing zeros. What is small stays what it is:
/// nothing but zero shows as zero. `-` where there is nothing to tell.
pub(crate) fn number(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return "-".to_owned() };
    let size = value.abs();
    if size == 0.0 || size >= 1000.0 {
        // Adding nothing takes the minus from zero.
        return format!("{:.0}", value + 0.0);
    }
    if size < SMALLEST {
        return format!("{value:.1e}");
    }
    let before = size.log10().floor() as i32;
    let places = if size < 1.0 { 2 - before } else { 3 - before };
    let text = format!("{value:.*}", places.max(0) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A probability of a test; those too small to matter by how much are told as that.
pub(crate) fn probability(value: Option<f64>) -> String {
    match value {
        Some(p) if (0.0..SMALLEST).contains(&p) => format!("<{SMALLEST}"),
        other => number(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_what_they_have() {
        let shown = |value| number(Some(value));
        assert_eq!(
            [0.875, 12.0, 1.0 / 3.0, 0.5304, 564.3815, 12.3456, 12345.6, 99.999].map(shown),
            ["0.875", "12", "0.333", "0.53", "564.4", "12.35", "12346", "100"]
        );
        assert_eq!([100.0, 0.0, -0.0, 1000.0, -3.5].map(shown), ["100", "0", "0", "1000", "-3.5"]);
        assert_eq!((shown(f64::NAN), number(None)), ("-".into(), "-".into()));
        assert_eq!(
            (percent(Some(0.875)), interval(Some(0.5), Some(1.0))),
            ("87.5 %".into(), "50.0 to 100.0".into())
        );
    }

    #[test]
    fn what_is_small_is_not_shown_as_nothing() {
        let shown = |value| number(Some(value));
        assert_eq!([0.000448, -0.00001, 8.5e-22].map(shown), ["0.000448", "-1.0e-5", "8.5e-22"]);
        let shown = |p| probability(Some(p));
        assert_eq!(
            [8.5e-22, 0.0, 0.0001, 0.03126, 1.0].map(shown),
            ["<0.0001", "<0.0001", "0.0001", "0.0313", "1"]
        );
        assert_eq!(probability(None), "-");
    }
}
