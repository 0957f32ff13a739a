//! The task's side of a conversation: which question comes next.

mod passes;

use crate::item::{Item, Question, Script};
use crate::verdict::{Said, Verdict};

/// What came back on the last question.
#[derive(Clone, Debug)]
pub struct Heard {
    /// What the interface read; `None` when the question was skipped or lost, as the verdict says.
    pub said: Option<Said>,
    /// What it is worth.
    pub verdict: Verdict,
    /// The user's turn as it was sent, terminal text included: the last turn of the exchange's first prompt.
    pub asked: String,
    /// The reply as it stays in the conversation: the whole text, or the chosen label where labels were scored.
    pub reply: String,
}

/// What happens next.
#[derive(Debug)]
pub enum Step {
    /// Ask this.
    Ask(Box<Question>),
    /// The item is over.
    Done(Outcome),
}

/// How an item ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The item's own verdict.
    pub verdict: Verdict,
    /// Named figures beside it: `("rounds", 7.0)`.
    pub scores: Vec<(String, f64)>,
}

/// The course of one item with one interface.
pub trait Episode {
    /// The next step, given what was heard on the question before (`None` at the start).
    fn next(&mut self, heard: Option<&Heard>) -> Step;
}

impl Item {
    /// Starts the item.
    pub fn open(&self) -> Box<dyn Episode + Send + '_> {
        match &self.script {
            Script::One(question) => Box::new(Single { question }),
            Script::Passes(passes) => Box::new(passes::Learning::new(passes)),
        }
    }
}

/// One question, one answer.
struct Single<'a> {
    question: &'a Question,
}

impl Episode for Single<'_> {
    fn next(&mut self, heard: Option<&Heard>) -> Step {
        match heard {
            None => Step::Ask(Box::new(self.question.clone())),
            Some(heard) => {
                let said = heard.said.as_ref();
                let scores = said.map(|said| crate::grade::scores(&self.question.gold, said, &heard.reply));
                let scores = scores.unwrap_or_default();
                let outcome = Outcome { verdict: heard.verdict, scores };
                Step::Done(outcome)
            }
        }
    }
}
