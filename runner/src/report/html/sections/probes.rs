//! What linear readouts found in the hidden states: the model's own readout against a probe's, along the layers, across
//! conditions, and repaired.

use super::Material;
use crate::probes::{
    CONDITION_HEADINGS, condition_rows, curve_rows, heading, repair_rows, shortcut_headings, shortcut_rows,
    transfer_rows,
};
use crate::probes::{CorpusResult, CurvePoint, Share};
use crate::report::html::markup::{Markup, all, details, element, paragraph, table, text};
use crate::report::html::plot::{Axis, Join, Plot, Point, Series, figure, legend};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let result = material.probes.as_ref()?;
    let intro = paragraph(
        "A probe is a linear readout of the hidden state at the last token of the prompt, learnt on other items. Where it is right \
         and the model's own scores are not, the answer is there and is not read. That says what can be read, not what the \
         model uses. Shuffled labels show what a probe of this size gets from nothing. Shares in per cent with 95 % intervals, \
         over the items for test.",
    );
    let notes = result.notes.iter().map(|note| paragraph(note));
    let corpora = result.corpora.iter().map(corpus_markup);
    Some(all(std::iter::once(intro).chain(notes).chain(corpora)))
}

fn corpus_markup(corpus: &CorpusResult) -> Markup {
    let mut parts = vec![
        element("h3", &[], [text(&format!("{}, {}", corpus.model, corpus.task))]),
        paragraph(&heading(corpus)),
    ];
    parts.extend(corpus.notes.iter().map(|note| paragraph(note)));
    parts.push(table("Own readout and probe", &CONDITION_HEADINGS, 1, &condition_rows(corpus)));
    if !corpus.curve.is_empty() {
        parts.push(legend(names(corpus)));
        parts.push(element("div", &[("class", "plots")], [figure(&curves(corpus))]));
        let values = table(
            "Probe and logit lens along the layers",
            &["layer", "condition", "probe %", "logit lens %"],
            2,
            &curve_rows(corpus),
        );
        parts.push(details("The values of these curves", [values]));
    }
    if corpus.transfer.len() > 1 {
        parts.push(table(
            "Transfer: learnt in one condition, tried in another",
            &["learnt in", "tried in", "probe %"],
            2,
            &transfer_rows(corpus),
        ));
    }
    if !corpus.repair.is_empty() {
        parts.push(table(
            "Repairs of the model's own readout",
            &["repair", "learnt in", "tried in", "before %", "after %"],
            3,
            &repair_rows(corpus),
        ));
    }
    for shortcut in &corpus.shortcut {
        parts.push(table(
            &format!("Learnt without some kinds ({}), % right", shortcut.tag),
            &shortcut_headings(shortcut),
            1,
            &shortcut_rows(shortcut),
        ));
    }
    all(parts)
}

/// Conditions of a curve, in order.
fn conditions(corpus: &CorpusResult) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for point in &corpus.curve {
        if !all.contains(&point.condition.as_str()) {
            all.push(&point.condition);
        }
    }
    all
}

/// What the colours stand for, two per condition.
fn names(corpus: &CorpusResult) -> impl Iterator<Item = String> {
    let names: Vec<String> = conditions(corpus)
        .into_iter()
        .flat_map(|condition| [format!("{condition}: probe"), format!("{condition}: logit lens")])
        .collect();
    names.into_iter()
}

fn curves(corpus: &CorpusResult) -> Plot {
    let mut series = Vec::new();
    for (number, condition) in conditions(corpus).into_iter().enumerate() {
        let points = |of: &dyn Fn(&CurvePoint) -> Option<Share>| -> Vec<Point> {
            let own = corpus.curve.iter().filter(|point| point.condition == condition);
            own.filter_map(|point| {
                let share = of(point)?;
                Some(Point { x: point.layer as f64, y: share.value?, ends: share.low.zip(share.high) })
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
