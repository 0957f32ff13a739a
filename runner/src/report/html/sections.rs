//! The sections of the page, in their order. A new one is a file and a line in [`ALL`].

mod accuracy;
mod comparison;
mod confusion;
mod curves;
mod decoding;
mod energy;
mod items;
mod papers;
mod pictures;
mod probes;
mod provenance;
mod rounds;
mod slots;
mod summary;
mod time;
mod timeline;
mod tradeoff;
mod unanswered;

use super::Material;
use super::markup::{Markup, all, details, table};
use crate::report::extent::{Extent, is_varied};

/// A part of the page.
pub(super) struct Section {
    /// What links to it.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    /// Its content; `None` where the run has nothing of the kind.
    pub(super) render: fn(&Material<'_>) -> Option<Markup>,
}

/// Every section.
pub(super) const ALL: &[Section] = &[
    Section { id: "summary", title: "Summary", render: summary::render },
    Section { id: "accuracy", title: "Accuracy by interface", render: accuracy::render },
    Section { id: "comparison", title: "Comparison of models", render: comparison::render },
    Section { id: "price", title: "Accuracy and its price", render: tradeoff::render },
    Section { id: "depth", title: "Curves over difficulty", render: curves::by_stratum },
    Section { id: "learning", title: "Learning curves", render: curves::learning },
    Section { id: "confusion", title: "Answers by right label", render: confusion::render },
    Section { id: "slots", title: "Liking for a place", render: slots::render },
    Section {
        id: "decoding",
        title: "Reading the answer: the decoding laboratory",
        render: decoding::render,
    },
    Section { id: "probes", title: "Readouts of hidden states", render: probes::render },
    Section { id: "time", title: "Engine time per item", render: time::render },
    Section { id: "energy", title: "Latency and energy", render: energy::render },
    Section { id: "rounds", title: "Costs over rounds", render: rounds::render },
    Section { id: "timeline", title: "Power and machine over time", render: timeline::render },
    Section { id: "pictures", title: "Pictures", render: pictures::render },
    Section { id: "unanswered", title: "Unanswered and undecided items", render: unanswered::render },
    Section { id: "items", title: "Prompts and replies", render: items::render },
    Section { id: "papers", title: "Published figures", render: papers::render },
    Section { id: "provenance", title: "Device and provenance", render: provenance::render },
];

impl Material<'_> {
    /// Names of the models, whose numbers are those of colours and markers.
    fn models(&self) -> impl Iterator<Item = String> + '_ {
        self.run.header.models.iter().map(|model| model.name.clone())
    }

    /// Number of a model by its name.
    fn style(&self, model: &str) -> usize {
        self.run.header.models.iter().position(|own| own.name == model).unwrap_or_default()
    }

    /// Whether a condition of this task is open to the eye: one that varies nothing, or one of few.
    fn is_plain(&self, task: &str, condition: &str) -> bool {
        let count = || {
            let own = self.run.header.tasks.iter().find(|own| own.name == task);
            own.map_or(0, |own| own.interfaces.len())
        };
        !is_varied(condition) || Extent::Brief.shows_all_of(count())
    }

    /// Whether a condition is one of many that vary something, in every task that has it.
    fn is_swept(&self, condition: &str) -> bool {
        let mut own =
            self.run.header.tasks.iter().filter(|task| task.interfaces.iter().any(|name| name == condition));
        is_varied(condition) && own.all(|task| !self.is_plain(&task.name, condition))
    }

    /// A table of all conditions; where there are many, open with those that vary nothing, and whole behind a line.
    /// `place` tells which columns hold task and condition.
    fn by_condition(
        &self,
        caption: &str,
        headings: &[&str],
        words: usize,
        rows: &[Vec<String>],
        place: [usize; 2],
    ) -> Markup {
        let plain: Vec<Vec<String>> =
            rows.iter().filter(|row| self.is_plain(&row[place[0]], &row[place[1]])).cloned().collect();
        if plain.len() == rows.len() {
            return table(caption, headings, words, rows);
        }
        let summary = format!("All {} rows", rows.len());
        let open = (!plain.is_empty()).then(|| table(caption, headings, words, &plain));
        all([open.unwrap_or_default(), details(&summary, [table(caption, headings, words, rows)])])
    }

    /// Interfaces in the order of the plan. Conditions that vary something have a section of their own.
    fn interfaces(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.run.header.tasks.iter().flat_map(|task| &task.interfaces) {
            if is_varied(name) {
                continue;
            }
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}
