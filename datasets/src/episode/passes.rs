//! Learning by feedback: passes over the same cards until one is all right.

use models::Turn;

use super::{Episode, Heard, Outcome, Step};
use crate::item::{Card, Gold, Passes};
use crate::verdict::{NoAnswer, Verdict};

/// The course of [`Passes`].
///
/// Scores: `rounds` (the pass without a mistake, or the number of passes allowed when there was none), `solved`,
/// `cut` (1 when the conversation outgrew the context), `questions`, `unanswered`, `wrong_regular`,
/// `wrong_exception`, and `correct_pass_01` ... with the cards right in each pass. Passes after the solving one
/// count as all right; passes that a cut left unfinished have no score.
pub(super) struct Learning<'a> {
    passes: &'a Passes,
    history: Vec<Turn>,
    /// Cards right in each finished pass.
    curve: Vec<usize>,
    /// Cards right in this pass.
    correct: usize,
    /// Place in this pass's order.
    place: usize,
    questions: usize,
    unanswered: usize,
    wrong_regular: usize,
    wrong_exception: usize,
}

impl Episode for Learning<'_> {
    fn next(&mut self, heard: Option<&Heard>) -> Step {
        let Some(heard) = heard else {
            return self.ask(None);
        };
        match heard.verdict {
            Verdict::Skipped(_) if self.questions == 0 => return without_scores(heard.verdict),
            // What is left unfinished is unsolved, and shown apart: leaving it out would flatter long replies.
            Verdict::Skipped(_) => return self.over(Verdict::Unanswered(NoAnswer::Truncated), true),
            Verdict::Lost(_) => return without_scores(heard.verdict),
            Verdict::Right | Verdict::Wrong | Verdict::Partial(_) | Verdict::Unanswered(_) => {}
        }
        let Some(card) = self.card() else {
            return self.over(Verdict::Wrong, false);
        };
        self.count(card, heard);
        self.place += 1;
        if self.place == self.passes.cards.len() {
            self.curve.push(self.correct);
            if self.correct == self.passes.cards.len() {
                return self.over(Verdict::Right, false);
            }
            (self.correct, self.place) = (0, 0);
            if self.curve.len() == self.passes.orders.len() {
                return self.over(Verdict::Wrong, false);
            }
        }
        let opening = if heard.verdict == Verdict::Right { &self.passes.right } else { &self.passes.wrong };
        self.ask(Some(format!("{opening} {}{}", card.truth, self.passes.join)))
    }
}

impl<'a> Learning<'a> {
    pub(super) fn new(passes: &'a Passes) -> Self {
        Learning {
            passes,
            history: Vec::new(),
            curve: Vec::new(),
            correct: 0,
            place: 0,
            questions: 0,
            unanswered: 0,
            wrong_regular: 0,
            wrong_exception: 0,
        }
    }

    /// The card that is up; none when the passes hold no cards.
    fn card(&self) -> Option<&'a Card> {
        let index = *self.passes.orders.get(self.curve.len())?.get(self.place)?;
        self.passes.cards.get(usize::from(index))
    }

    fn ask(&mut self, feedback: Option<String>) -> Step {
        let Some(card) = self.card() else {
            return self.over(Verdict::Wrong, false);
        };
        let mut question = self.passes.first.clone();
        question.history.extend(self.history.iter().cloned());
        question.stem = vec![(feedback.unwrap_or_default() + &card.text).into()];
        question.gold = Gold::Label(card.gold);
        Step::Ask(Box::new(question))
    }

    fn count(&mut self, card: &Card, heard: &Heard) {
        self.history.push(Turn::user(heard.asked.clone()));
        self.history.push(Turn::assistant(heard.reply.clone()));
        self.questions += 1;
        match heard.verdict {
            Verdict::Right => self.correct += 1,
            _ if card.exception => self.wrong_exception += 1,
            _ => self.wrong_regular += 1,
        }
        if matches!(heard.verdict, Verdict::Unanswered(_)) {
            self.unanswered += 1;
        }
    }

    fn over(&self, verdict: Verdict, cut: bool) -> Step {
        let solved = verdict == Verdict::Right;
        let allowed = self.passes.orders.len();
        let rounds = if solved { self.curve.len() } else { allowed };
        let mut scores = vec![
            ("rounds".to_owned(), rounds as f64),
            ("solved".to_owned(), f64::from(u8::from(solved))),
            ("cut".to_owned(), f64::from(u8::from(cut))),
            ("questions".to_owned(), self.questions as f64),
            ("unanswered".to_owned(), self.unanswered as f64),
            ("wrong_regular".to_owned(), self.wrong_regular as f64),
            ("wrong_exception".to_owned(), self.wrong_exception as f64),
        ];
        let carried = if solved { allowed - self.curve.len() } else { 0 };
        let all_right = std::iter::repeat_n(self.passes.cards.len(), carried);
        for (correct, pass) in self.curve.iter().copied().chain(all_right).zip(1..) {
            scores.push((format!("correct_pass_{pass:02}"), correct as f64));
        }
        Step::Done(Outcome { verdict, scores })
    }
}

/// Not asked at all, or lost: a figure would be made up.
fn without_scores(verdict: Verdict) -> Step {
    Step::Done(Outcome { verdict, scores: Vec::new() })
}

#[cfg(test)]
mod tests;
