//! What is shown of many conditions, counted; and that nothing is lost where all is written.

use super::super::made_up::{names, result};
use super::super::{ProbeResult, text, write_csv};
use super::*;

/// Conditions, states and plain conditions of the large case.
const C: usize = 15;
const L: usize = 31;
const PLAIN: usize = 2;

fn lines(result: &ProbeResult, extent: Extent) -> Vec<String> {
    text(result, None, extent).lines().map(str::to_owned).collect()
}

#[test]
fn many_conditions_have_a_row_each_and_curves_of_the_plain_ones() {
    let result = result(1, C, L);
    let shown = lines(&result, Extent::Brief);
    // What the columns are and an empty line; the heading; two lines of headings and a row per condition; two lines of headings and a
    // row per state; headings and one row of each plain condition's shortcut table; what is left out.
    assert_eq!(shown.len(), 2 + 1 + (2 + C) + (2 + L) + 2 * PLAIN + 1, "{shown:#?}");
    let left_out = shown.last().unwrap();
    let counts = [C * C, 2 * C * C, L * (C - PLAIN), C - PLAIN].map(|count| format!(" {count} rows of "));
    for count in counts {
        assert!(left_out.contains(&count), "{count} in {left_out}");
    }
    assert!(left_out.contains("--all-rows") && left_out.contains("--csv") && left_out.contains("--json"));
}

#[test]
fn few_conditions_and_all_rows_show_the_matrices() {
    for (conditions, extent) in [(4, Extent::Brief), (4, Extent::Whole), (C, Extent::Whole)] {
        let shown = lines(&result(1, conditions, L), extent);
        let tables =
            [conditions, conditions, conditions * conditions, 2 * conditions * conditions, L * conditions];
        // The first table has two lines of headings, the others one.
        let rows: usize = tables.iter().sum::<usize>() + tables.len() + 1;
        assert_eq!(shown.len(), 2 + 1 + rows + 2 * conditions, "{conditions} {extent:?}");
        assert!(shown.iter().all(|line| !line.contains("Left out")));
    }
}

#[test]
fn a_row_has_what_was_learnt_here_and_in_the_direct_condition() {
    let corpus = &result(1, C, L).corpora[0];
    let rows = summary(corpus, false);
    let columns: Vec<String> = rows.headings.iter().map(|heading| heading.replace('\n', " ")).collect();
    let at = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let row = &rows.rows[5];
    // Condition 5: learnt there and tried there is 55, learnt in `direct` (0) 5; in tenths of a per cent.
    let expected = [
        ("condition", "direct+ending-5"),
        ("n", "1000"),
        ("own", "0.5"),
        ("probe", "5.5"),
        ("shuffled", "0.7"),
        ("probe of direct", "0.5"),
        ("low-rank", "45.5"),
        ("low-rank of direct", "40.5"),
        ("affine", "85.5"),
        ("affine of direct", "80.5"),
        ("MA", "0.25"),
        ("mean rank", "5.0"),
        ("best layer", "2: 50.0"),
    ];
    for (column, value) in expected {
        assert_eq!(row[at(column)], value, "{column}");
    }
    // Nobody told MR: there is no such column.
    assert_eq!(columns.len(), expected.len());
    assert!(summary(corpus, true).rows[5][at("probe")].starts_with("5.5 ["));
}

#[test]
fn a_narrow_terminal_has_fewer_columns_not_broken_rows_and_says_which() {
    let corpus = &result(1, C, L).corpora[0];
    let (all, nothing) = fitted(corpus, None);
    assert!(nothing.is_empty());
    let mut before = all.width() + 1;
    for (less, columns) in [(1, all.headings.len()), (35, all.headings.len() - 2)] {
        let width = all.width() - less;
        let (rows, gone) = fitted(corpus, Some(width as u16));
        assert!(rows.width() <= width && rows.width() < before, "{width}");
        before = rows.width();
        assert_eq!((gone[0].as_str(), rows.rows.len()), ("intervals", C));
        // Intervals are in columns that stay.
        assert_eq!(rows.headings.len() + gone.len() - 1, all.headings.len());
        assert!(rows.headings.len() <= columns);
    }
    // What people come for stays, however narrow.
    let (rows, _) = fitted(corpus, Some(10));
    let kept: Vec<&str> = rows.headings.iter().map(String::as_str).collect();
    assert_eq!(
        kept,
        ["condition", "own", "probe", "shuffled", "probe\nof direct", "low-rank", "affine", "best\nlayer"]
    );
}

#[test]
fn without_a_direct_condition_nothing_is_said_of_it() {
    let mut result = result(1, C, L);
    for name in result.corpora[0].transfer.iter_mut().flat_map(|row| [&mut row.train, &mut row.test]) {
        *name = name.replace("direct", "other");
    }
    let columns = summary(&result.corpora[0], true).headings;
    assert!(!columns.contains(&"probe\nof direct".to_owned()), "{columns:?}");
}

#[test]
fn csv_and_json_have_every_row_of_many_conditions() {
    let result = result(2, C, L);
    let mut csv = Vec::new();
    write_csv(&result, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    // Own readout, first slot, shuffled; transfer; probe and lens of every state; two repairs; two shares of a shortcut table.
    let corpus = 3 * C + C * C + 2 * L * C + 2 * C * C + 2 * C;
    assert_eq!(csv.lines().count(), 1 + 2 * corpus);
    let pair = format!("m1,t,affine,{},{},,,934,1000,", names(C)[12], names(C)[14]);
    assert!(csv.contains(&pair), "{pair}");
    let dir = tempfile::tempdir().unwrap();
    result.save(dir.path()).unwrap();
    let again = ProbeResult::of_run(dir.path()).unwrap().unwrap();
    let sizes = |corpus: &CorpusResult| {
        [
            corpus.conditions.len(),
            corpus.transfer.len(),
            corpus.repair.len(),
            corpus.curve.len(),
            corpus.shortcut.len(),
        ]
    };
    assert_eq!(again.corpora.iter().map(sizes).collect::<Vec<_>>(), vec![[C, C * C, 2 * C * C, L * C, C]; 2]);
}
