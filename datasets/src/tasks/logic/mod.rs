//! Logical inconsistency: can "if A then always B" and "A, but not B" both be true?
//!
//! Pairs come from three sources: our own list, which is built in, and SNLI and MNLI files that the caller reads
//! ([`resolve`]): this crate opens no files.

mod fit;
mod nli;
mod pairs;

use serde::Deserialize;

use crate::item::{Ask, Cue, Gold, Item, Question, tags};
use crate::reading::Reading;
use crate::task::{Baseline, Params, Task, TaskError};

pub use nli::{ImportError, Loaded, mnli, snli};
pub use pairs::{MAX_WORDS, Pair, Source, own};

pub(super) use nli::resolve;

/// The task.
pub static LOGIC: Task = Task {
    name: "logic",
    version: 1,
    summary: "Say whether two statements can both be true, where the pairs are entailments A -> B",
    source: "Mind Your Step (arXiv 2410.21333), section 4.4 and appendix D",
    params: PARAMS,
    items,
    resolve: Some(resolve),
    analysis: crate::analysis::Analysis {
        strata: &[&["source"], &["conflict"], &["source", "conflict"]],
        figures: crate::analysis::none,
    },
    baselines: &[Baseline {
        name: "always-yes",
        summary: "Says that the two statements can both be true",
        answers: |items| items.iter().map(|_| Some(YES)).collect(),
    }],
};

const PARAMS: &str = r#"# Our own 100 pairs, which are built in.
own = true
# Official JSONL files of SNLI 1.0 and MultiNLI 1.0; "" for none. Their short entailments become pairs.
snli-dev = ""
snli-test = ""
mnli-matched = ""
mnli-mismatched = ""
# Put the texts into the templates as they stand in the source. Otherwise end punctuation, stray quotes and the
# capital after "If" and "the case that" are fitted to the sentence.
raw = false
# Pairs in place, as { source = "own", id = "001", a = "...", b = "..." }; what the files above are replaced by.
pairs = []
"#;

const YES: u16 = 0;
const NO: u16 = 1;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct LogicParams {
    own: bool,
    snli_dev: String,
    snli_test: String,
    mnli_matched: String,
    mnli_mismatched: String,
    raw: bool,
    pairs: Vec<Pair>,
}

impl Default for LogicParams {
    fn default() -> Self {
        LogicParams {
            own: true,
            snli_dev: String::new(),
            snli_test: String::new(),
            mnli_matched: String::new(),
            mnli_mismatched: String::new(),
            raw: false,
            pairs: Vec::new(),
        }
    }
}

/// Two questions per pair. The seed decides nothing: every pair is asked.
fn items(params: &Params, _seed: u64) -> Result<Vec<Item>, TaskError> {
    let params: LogicParams = params.read()?;
    for (key, path) in [
        ("snli-dev", &params.snli_dev),
        ("snli-test", &params.snli_test),
        ("mnli-matched", &params.mnli_matched),
        ("mnli-mismatched", &params.mnli_mismatched),
    ] {
        if !path.is_empty() {
            let message = format!("{key}: {path} has not been read; resolve the parameters first");
            return Err(TaskError::Params(message));
        }
    }
    let own = if params.own { own() } else { Vec::new() };
    let pairs = pairs::checked(own, params.pairs)?;
    let fitted = if params.raw { pairs.iter().map(fit::Fitted::raw).collect() } else { fit::fitted(&pairs) };
    Ok(pairs.iter().zip(&fitted).flat_map(|(pair, fitted)| both(pair, fitted)).collect())
}

/// The conflict and the no-conflict question of a pair.
fn both(pair: &Pair, fitted: &fit::Fitted) -> [Item; 2] {
    let rule = format!("If {}, then it is always the case that {}.", fitted.a_inside, fitted.b_inside);
    let family = pair.family();
    [(true, NO), (false, YES)].map(|(conflict, gold)| {
        let fact = if conflict {
            format!("{}, but it is not the case that {}.", fitted.a, fitted.b_inside)
        } else {
            format!("It is not the case that {}.", fitted.b_inside)
        };
        let kind = if conflict { "conflict" } else { "no-conflict" };
        let mut tags = tags([
            ("source", pair.source.name().to_owned()),
            ("conflict", if conflict { "yes" } else { "no" }.to_owned()),
        ]);
        for (key, value) in [("set", &pair.set), ("genre", &pair.genre)] {
            if !value.is_empty() {
                tags.insert(key.to_owned(), value.clone());
            }
        }
        Item::one(format!("{family}-{kind}"), family.clone(), tags, question(&rule, &fact, gold))
    })
}

fn question(rule: &str, fact: &str, gold: u16) -> Question {
    let cue = |name: &str, text: &str| Cue { name: name.to_owned(), stem: None, text: text.to_owned() };
    Question {
        history: Vec::new(),
        stem: vec![
            format!(
                "The following are two statements:\n1. {rule}\n2. {fact}\n\
                 Can both of these statements, as explicitly stated, be true at the same time?"
            )
            .into(),
        ],
        ask: Ask {
            direct: "\nPlease ONLY answer with “Yes” or “No”.".to_owned(),
            direct_lead: String::new(),
            reason: vec![
                cue("reason", "\nPlease reason about your answer and then answer “Yes” or “No”."),
                cue(
                    "explain",
                    "\nPlease first explain why statement 2 could be true and then answer “Yes” or “No”.",
                ),
            ],
        },
        labels: vec!["Yes".to_owned(), "No".to_owned()],
        options: Vec::new(),
        reading: Reading::YesNo,
        gold: Gold::Label(gold),
    }
}

#[cfg(test)]
mod tests;
