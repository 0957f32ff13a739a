//! A run as one self-contained page: no script, nothing fetched, readable on a phone, on paper, in light and dark.
//!
//! A section is a file below `sections/` and a line in [`sections::ALL`].

mod markup;
mod plot;
mod sections;
#[cfg(test)]
mod tests;
mod thumbnail;

use markup::{Markup, element, raw, text};

use super::baselines::Controls;
use super::cells::{Cell, cells};
use super::costs::{Cost, costs};
use super::figures::{FigureRow, figures};
use super::load::RunLog;
use super::note::{Note, gathered};
use super::notes::notes;
use super::papers::{Published, published};
use super::parity::parity;
use super::repeats::{Repeat, join_repeats};
use crate::compare::{Comparison, Options, compare_models};
use crate::exit::{Exit, Failure};
use crate::probes::ProbeResult;

/// Styles of the page.
const STYLE: &str = include_str!("html/style.css");

/// Nothing may be loaded and no script may run, whatever a reply contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// What a page is made of.
pub(super) struct Material<'a> {
    run: &'a RunLog,
    cells: Vec<Cell>,
    costs: Vec<Cost>,
    notes: Vec<String>,
    figures: Vec<FigureRow>,
    controls: Controls,
    papers: Vec<Published>,
    /// The first model against the others, where there are others.
    comparison: Option<Comparison>,
    /// What to show of single items.
    items: ItemChoice,
    /// What `edge-eval probe` found, where it was asked.
    probes: Option<ProbeResult>,
}

/// Which items are shown with their prompts and replies.
#[derive(Clone, Debug)]
pub struct ItemChoice {
    /// Items per model, task and interface: one of each verdict in turn, up to this number.
    pub per_place: usize,
    /// Ids of items that are shown in any case.
    pub named: Vec<String>,
}

/// Makes the page of a run, with the rounds of its repetitions.
pub fn html(
    run: &RunLog,
    mass_floor: f64,
    items: ItemChoice,
    probes: Option<ProbeResult>,
    repeats: &[Repeat],
) -> Result<String, Failure> {
    let cells = cells(run);
    let mut costs = costs(run, &cells);
    join_repeats(&mut costs, repeats);
    let controls = Controls::of(run);
    let papers = published(run, &controls).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    if let Some(unknown) = items.named.iter().find(|id| !run.items.iter().any(|item| item.item == **id)) {
        return Err(Failure::usage(format!("--item {unknown}: no item of the run has this id")));
    }
    let mut notes = notes(run, &cells, &parity(run), mass_floor);
    notes.extend(controls.notes.iter().cloned().map(Note::from));
    // Models of one run may be prompted in unlike ways on purpose: that is compared, and the comparison says it.
    let options = Options { margin: 0.03, allow: vec!["prompts".to_owned()], seed: 1 };
    let comparison = match run.header.models.len() {
        0 | 1 => None,
        _ => compare_models(run, repeats, &options)
            // A run that was stopped has a page all the same.
            .map_err(|failure| notes.push(format!("the models are not compared: {failure}").into()))
            .ok(),
    };
    let figures = figures(run, &[]);
    let notes = gathered(&notes);
    Ok(page(&Material { run, cells, costs, notes, figures, controls, papers, comparison, items, probes }))
}

fn page(material: &Material<'_>) -> String {
    let sections: Vec<(&sections::Section, Markup)> =
        sections::ALL.iter().filter_map(|section| Some((section, (section.render)(material)?))).collect();
    let title = format!("edge-eval: {}", material.run.header.run_id);
    let links = sections
        .iter()
        .map(|(section, _)| element("a", &[("href", &format!("#{}", section.id))], [text(section.title)]));
    let body = sections.iter().map(|(section, content)| {
        let heading = element("h2", &[], [text(section.title)]);
        element("section", &[("id", section.id)], [heading, content.clone()])
    });
    let head = element(
        "head",
        &[],
        [
            raw("<meta charset=\"utf-8\">"),
            raw(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">")),
            raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"),
            raw("<meta name=\"color-scheme\" content=\"light dark\">"),
            element("title", &[], [text(&title)]),
            element("style", &[], [raw(STYLE)]),
        ],
    );
    let main = std::iter::once(element("h1", &[], [text(&material.run.header.run_id)]))
        .chain([element("nav", &[], links)])
        .chain(body);
    let page = element("html", &[("lang", "en")], [head, element("body", &[], [element("main", &[], main)])]);
    format!("<!DOCTYPE html>\n{page}\n")
}
