//! What linear readouts found in the hidden states: the model's own readout against a probe's, along the layers, across
//! conditions, and repaired.

use super::Material;
use crate::probes::{
    CONDITION_HEADINGS, CURVE_HEADINGS, CorpusResult, CurvePoint, LEGEND, Rows, Share, condition_rows,
    curve_conditions, curve_rows, curves_beside, heading, is_whole, left_out, repair_rows, shortcut_headings,
    shortcut_rows, shortcuts, summary, transfer_rows,
};
use crate::report::extent::{Extent, is_varied};
use crate::report::html::markup::{Markup, all, details, element, paragraph, table, text};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};

/// A page is for reading: the program prints the rest.
const EXTENT: Extent = Extent::Brief;

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let result = material.probes.as_ref()?;
    let intro = paragraph(
        "A probe is a linear readout of the hidden state at the last token of the prompt, learnt on other items. Where it is right \
         and the model's own scores are not, the answer is there and is not read. That says what can be read, not what the \
         model uses. Shuffled labels show what a probe of this size gets from nothing. Shares in per cent with 95 % intervals, \
         over the items for test.",
    );
    let mut parts = vec![intro, paragraph(LEGEND)];
    parts.extend(result.notes.iter().map(|note| paragraph(note)));
    let is_long = result.corpora.iter().any(|corpus| !is_whole(corpus, EXTENT));
    if is_long && result.corpora.len() > 1 {
        parts.push(overview(&result.corpora));
        for corpus in &result.corpora {
            let title =
                format!("{}, {}: all {} conditions", corpus.model, corpus.task, corpus.conditions.len());
            parts.push(details(&title, [corpus_markup(corpus)]));
        }
    } else {
        for corpus in &result.corpora {
            parts.push(element("h3", &[], [text(&format!("{}, {}", corpus.model, corpus.task))]));
            parts.push(corpus_markup(corpus));
        }
    }
    Some(all(parts))
}

/// The plain conditions of every model and task in one table.
fn overview(corpora: &[CorpusResult]) -> Markup {
    let mut columns: Vec<String> = Vec::new();
    let summaries: Vec<Rows> = corpora.iter().map(|corpus| summary(corpus, true)).collect();
    for heading in summaries.iter().flat_map(|rows| &rows.headings) {
        if !columns.contains(heading) {
            columns.push(heading.clone());
        }
    }
    let mut rows = Vec::new();
    for (corpus, own) in corpora.iter().zip(&summaries) {
        for row in own.rows.iter().filter(|row| !is_varied(&row[0])) {
            let cell = |heading: &String| {
                let at = own.headings.iter().position(|name| name == heading);
                at.map_or("-".to_owned(), |at| row[at].clone())
            };
            rows.push(
                [corpus.model.clone(), corpus.task.clone()]
                    .into_iter()
                    .chain(columns.iter().map(cell))
                    .collect(),
            );
        }
    }
    let headings: Vec<&str> =
        ["model", "task"].into_iter().chain(columns.iter().map(String::as_str)).collect();
    table("Conditions that vary nothing", &headings, 3, &rows)
}

fn corpus_markup(corpus: &CorpusResult) -> Markup {
    let mut parts = vec![paragraph(&heading(corpus))];
    parts.extend(corpus.notes.iter().map(|note| paragraph(note)));
    let is_whole = is_whole(corpus, EXTENT);
    parts.push(beside("Own readout, probes and repairs", &summary(corpus, true)));
    if is_whole {
        parts.push(table("Own readout and probe", &CONDITION_HEADINGS, 1, &condition_rows(corpus)));
    }
    let shown = curve_conditions(corpus, EXTENT);
    if !shown.is_empty() {
        parts.push(legend(names(&shown)));
        parts.push(element("div", &[("class", "plots")], [figure(&curves(corpus, &shown))]));
        let values = match is_whole {
            true => table("Probe and logit lens along the layers", &CURVE_HEADINGS, 2, &curve_rows(corpus)),
            false => beside("Probe and logit lens along the layers", &curves_beside(corpus, &shown)),
        };
        parts.push(details("The values of these curves", [values]));
    }
    if corpus.transfer.len() > 1 && is_whole {
        parts.push(table(
            "Transfer: learnt in one condition, tried in another",
            &["learnt in", "tried in", "probe %"],
            2,
            &transfer_rows(corpus),
        ));
    }
    if !corpus.repair.is_empty() && is_whole {
        parts.push(table(
            "Repairs of the model's own readout",
            &["repair", "learnt in", "tried in", "before %", "after %"],
            3,
            &repair_rows(corpus),
        ));
    }
    for shortcut in shortcuts(corpus, EXTENT) {
        parts.push(table(
            &format!("Learnt without some kinds ({}), % right", shortcut.tag),
            &shortcut_headings(shortcut),
            1,
            &shortcut_rows(shortcut),
        ));
    }
    parts.extend(left_out(corpus, EXTENT).map(|words| paragraph(&words)));
    all(parts)
}

fn beside(caption: &str, rows: &Rows) -> Markup {
    let headings: Vec<&str> = rows.headings.iter().map(String::as_str).collect();
    table(caption, &headings, 1, &rows.rows)
}

/// What the colours stand for, two per condition.
fn names(conditions: &[&str]) -> impl Iterator<Item = String> {
    let names: Vec<String> = conditions
        .iter()
        .flat_map(|condition| [format!("{condition}: probe"), format!("{condition}: logit lens")])
        .collect();
    names.into_iter()
}

fn curves(corpus: &CorpusResult, conditions: &[&str]) -> Plot {
    let mut series = Vec::new();
    for (number, &condition) in conditions.iter().enumerate() {
        let points = |of: &dyn Fn(&CurvePoint) -> Option<Share>| -> Vec<Point> {
            let own = corpus.curve.iter().filter(|point| point.condition == condition);
            own.filter_map(|point| {
                let share = of(point)?;
                // Intervals of many lines hide the lines; the table beside the plot has them.
                let ends = share.low.zip(share.high).filter(|_| is_whole(corpus, EXTENT));
                Some(Point { x: point.layer as f64, y: share.value?, ends })
            })
            .collect()
        };
        let lines = [points(&|point| point.probe), points(&|point| point.lens)];
        for (place, points) in lines.into_iter().enumerate().filter(|(_, points)| !points.is_empty()) {
            series.push(Series { style: Some(2 * number + place), points, join: Join::Line, marked: true });
        }
    }
    let chance = |x: usize| Point::at(x as f64, corpus.chance);
    series.push(Series {
        style: None,
        points: vec![chance(1), chance(corpus.states)],
        join: Join::Line,
        marked: false,
    });
    Plot {
        title: format!(
            "{}, {}: share right by layer; the last one is the state behind the final norm, the thin line is chance",
            corpus.model, corpus.task
        ),
        x: Axis::Numbers { name: "layer".into(), low: 1.0, high: (corpus.states as f64).max(2.0) },
        y: Axis::shares("share right"),
        series,
    }
}
