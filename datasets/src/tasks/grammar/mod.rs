//! Artificial grammar learning: does a string follow the rules that made the strings shown?

mod automaton;
mod bigram;
mod graph;
mod words;

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::item::{Ask, Cue, Gold, Item, Part, Question, tags};
use crate::reading::Reading;
use crate::{Params, Stream, Task, TaskError};
use automaton::{Automaton, LONGEST};
use bigram::BIGRAM;
use graph::Graph;
use words::Words;

/// The task.
pub static GRAMMAR: Task = Task {
    name: "grammar",
    version: 1,
    summary: "15 strings of a finite-state grammar are shown; asks whether another string follows the same rules",
    source: "Mind Your Step (by Step), section 4.1, appendix A",
    params: "\
# Grammars: different graphs, each with letters of its own.
grammars = 100
# Words of each grammar that are shown, that are asked about and belong to it, and that do not belong to it.
train = 15
positives = 22
negatives = 22
# Letters of the longest words, 3 to 16. Shorter words are easier.
max-length = 8
# Edges of the largest graphs, 8 to 20. Fewer edges make simpler grammars.
max-edges = 20
# Whether every edge has a letter of its own; letters repeat otherwise.
distinct-letters = false
# How words are drawn: \"uniform\" over all different words, or \"walks\" through the graph, which favour short words.
sampling = \"uniform\"
# Letters changed to make a word that does not belong. More are easier.
changed-letters = 1
# Whether they change to letters that the grammar never uses, which is much easier.
foreign-letters = false
# Keep only the 10 grammars on which tree-of-thought is compared.
tree-of-thought-subset = false
",
    items,
    resolve: None,
    analysis: crate::analysis::Analysis { strata: &[&["kind"]], figures: crate::analysis::none },
    baselines: &[BIGRAM],
};

/// Grammars on which tree-of-thought is compared.
const SUBSET: usize = 10;

/// The sentence between the training words and the word in question.
const RULES: &str = "These strings were generated according to a certain set of rules. Does the following string also \
    follow the same set of rules?";

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct GrammarParams {
    grammars: u32,
    train: u32,
    positives: u32,
    negatives: u32,
    max_length: usize,
    max_edges: u32,
    distinct_letters: bool,
    sampling: Sampling,
    changed_letters: u32,
    foreign_letters: bool,
    tree_of_thought_subset: bool,
}

/// How words of a grammar are drawn.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Sampling {
    Uniform,
    Walks,
}

impl Default for GrammarParams {
    fn default() -> Self {
        GrammarParams {
            grammars: 100,
            train: 15,
            positives: 22,
            negatives: 22,
            max_length: 8,
            max_edges: 20,
            distinct_letters: false,
            sampling: Sampling::Uniform,
            changed_letters: 1,
            foreign_letters: false,
            tree_of_thought_subset: false,
        }
    }
}

impl GrammarParams {
    fn check(&self) -> Result<(), TaskError> {
        let within = |key: &str, value: u64, low: u64, high: u64| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(TaskError::Params(format!("grammar: {key} must be {low} to {high}, not {value}")))
        };
        within("grammars", self.grammars.into(), 1, 10_000)?;
        within("train", self.train.into(), 1, 1000)?;
        within("positives", self.positives.into(), 0, 1000)?;
        within("negatives", self.negatives.into(), 0, 1000)?;
        within("positives + negatives", u64::from(self.positives) + u64::from(self.negatives), 1, 2000)?;
        within("max-length", self.max_length as u64, 3, LONGEST as u64)?;
        within("max-edges", self.max_edges.into(), 8, 20)?;
        within("changed-letters", self.changed_letters.into(), 1, 16)
    }

    /// The graphs that grammars are drawn from.
    fn classes(&self) -> Vec<Graph> {
        graph::classes(u64::from(self.train + self.positives), self.max_length, self.max_edges)
    }
}

/// A grammar with its words.
struct Grammar {
    automaton: Automaton,
    words: Words,
}

fn items(params: &Params, seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: GrammarParams = params.read()?;
    params.check()?;
    let grammars = grammars(&params.classes(), &params, seed)?;
    let subset = Stream::new(seed, &["grammar", "subset"]).distinct(grammars.len(), SUBSET);
    let mut items = Vec::new();
    for (number, grammar) in grammars.iter().enumerate() {
        let in_subset = subset.contains(&number);
        if in_subset || !params.tree_of_thought_subset {
            items.extend(grammar.items(number, in_subset));
        }
    }
    Ok(items)
}

/// Draws graphs without replacement, and letters and words for each. One whose letters leave too few words is
/// passed over.
fn grammars(classes: &[Graph], params: &GrammarParams, seed: u64) -> Result<Vec<Grammar>, TaskError> {
    let mut graphs = Stream::new(seed, &["grammar", "graphs"]);
    let mut used = BTreeSet::new();
    let mut grammars = Vec::new();
    for number in 0..params.grammars {
        let number = number.to_string();
        let mut letters = Stream::new(seed, &["grammar", "letters", &number]);
        let mut draws = Stream::new(seed, &["grammar", "words", &number]);
        let grammar = loop {
            if used.len() == classes.len() {
                return Err(TaskError::Params(format!(
                    "grammar: grammars = {} are too many: {number} of {} graphs with at most {} edges gave the words \
                     asked for; raise max-length or max-edges, or ask for fewer words",
                    params.grammars,
                    classes.len(),
                    params.max_edges
                )));
            }
            let index = graphs.below(classes.len());
            if !used.insert(index) {
                continue;
            }
            let automaton = Automaton::lettered(classes[index], params.distinct_letters, &mut letters);
            if let Some(words) = Words::draw(&automaton, params, &mut draws) {
                break Grammar { automaton, words };
            }
        };
        grammars.push(grammar);
    }
    Ok(grammars)
}

impl Grammar {
    fn items(&self, number: usize, in_subset: bool) -> impl Iterator<Item = Item> {
        let family = format!("g{number:03}");
        let shown = format!("{}\n{RULES}\n", self.words.train.join("\n"));
        let edges = self.automaton.edges.len().to_string();
        let deterministic = self.automaton.deterministic().to_string();
        self.words.tests.iter().enumerate().map(move |(index, (word, member))| {
            let tags = tags([
                ("kind", if *member { "positive" } else { "negative" }.to_owned()),
                ("length", word.len().to_string()),
                ("edges", edges.clone()),
                ("deterministic", deterministic.clone()),
                ("tree-of-thought-subset", in_subset.to_string()),
            ]);
            Item::one(format!("{family}-w{index:02}"), family.clone(), tags, question(&shown, word, *member))
        })
    }
}

fn question(shown: &str, word: &str, member: bool) -> Question {
    Question {
        history: Vec::new(),
        stem: vec![Part::from(format!("{shown}{word}"))],
        ask: Ask {
            direct: "\nPlease ONLY answer “Yes” or “No”.".to_owned(),
            direct_lead: String::new(),
            reason: vec![Cue {
                name: "reason".to_owned(),
                stem: None,
                text: "\nPlease reason about your answer before answering “Yes” or “No”.".to_owned(),
            }],
        },
        labels: vec!["Yes".to_owned(), "No".to_owned()],
        options: Vec::new(),
        reading: Reading::YesNo,
        gold: Gold::Label(u16::from(!member)),
    }
}

#[cfg(test)]
mod tests;
