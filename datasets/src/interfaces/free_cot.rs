//! `free-cot`: the model reasons freely, and the answer is read out of what it wrote.

use models::{Finish, Generate, Prompt, Reply, Request, Sampling};

use super::{Endings, Exchange, Interface, Move, Settings, label_scores, prompt};
use crate::item::Question;
use crate::reading::{self, Found, How};
use crate::verdict::{Loss, NoAnswer, Said, Skip};

/// The interface.
pub(super) static FREE_COT: Interface = Interface {
    name: "free-cot",
    summary: "lets the model reason freely, up to a cap, and reads its answer out of the reply",
    generates: true,
    scores_labels: false,
    scores_texts: false,
    asks_on: false,
    cued: true,
    capped: true,
    endings: Endings::Written,
    fits: |question| !question.ask.reason.is_empty(),
    open,
};

fn open(question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    Box::new(FreeCot { question: question.clone(), settings: settings.clone(), state: State::Start })
}

struct FreeCot {
    question: Question,
    settings: Settings,
    state: State,
}

enum State {
    Start,
    Reasoning(Prompt),
    /// The chain gave no answer; its labels are being scored.
    Rescue {
        reply: String,
        found: Box<Found>,
    },
    Over,
}

impl Exchange for FreeCot {
    fn step(&mut self, replies: &[Reply]) -> Move {
        match (std::mem::replace(&mut self.state, State::Over), replies) {
            (State::Start, _) => {
                let prompt = prompt::to_write(&self.question, &self.settings);
                let generate = Generate {
                    max_tokens: self.settings.max_tokens,
                    stop: self.settings.stop.clone(),
                    sampling: Sampling::Greedy,
                    loop_guard: self.settings.loop_guard(),
                    thinking: self.settings.thinking_cap(),
                };
                self.state = State::Reasoning(prompt.clone());
                Move::Ask(vec![(prompt, Request::Generate(generate))])
            }
            (State::Reasoning(prompt), [Reply::Generated(generated)]) => {
                self.read(prompt, &generated.text(), generated.finish)
            }
            (State::Reasoning(_), [Reply::TooLong { .. }]) => Move::Skipped(Skip::TooLong),
            (State::Rescue { reply, found }, replies) => self.rescued(reply, found, replies),
            (State::Reasoning(_) | State::Over, _) => Move::Lost(Loss::EngineError),
        }
    }
}

impl FreeCot {
    fn read(&mut self, prompt: Prompt, reply: &str, finish: Finish) -> Move {
        let reply = reading::until_stop(reply, &self.settings.stop);
        let how = How {
            reading: self.question.reading,
            labels: &self.question.labels,
            options: &self.question.options,
            reasoned: true,
        };
        let found = reading::read(&how, reply, finish, self.settings.opens_in_reasoning);
        let unfinished = matches!(
            found.said,
            Said::Nothing(
                NoAnswer::Truncated | NoAnswer::Loop | NoAnswer::OpenReasoning | NoAnswer::Unparsed
            )
        );
        let (reply, found) = (reply.to_owned(), Box::new(found));
        if !(self.settings.rescue && unfinished && self.question.labels.len() >= 2) {
            return Move::Said { said: found.said.clone(), reply, found: Some(found), rescued: false };
        }
        let lead = self.rescue_lead(&reply, &found);
        let ask = label_scores::request(
            Prompt { turns: prompt.turns, lead, ..Prompt::default() },
            &self.question.labels,
            &self.settings,
        );
        self.state = State::Rescue { reply, found };
        Move::Ask(vec![ask])
    }

    /// The chain as it was written, its reasoning block closed, and the question's own lead to a label.
    fn rescue_lead(&self, reply: &str, found: &Found) -> String {
        let mut lead = reply.trim_end().to_owned();
        if let Some(closing) = &found.open_block {
            lead.push('\n');
            lead.push_str(closing);
        }
        lead.push_str("\n\n");
        match self.question.ask.direct_lead.as_str() {
            "" => lead.push_str("Answer:"),
            own => lead.push_str(own),
        }
        lead
    }

    fn rescued(&self, reply: String, found: Box<Found>, replies: &[Reply]) -> Move {
        let labels = &self.question.labels;
        let said = match replies {
            [Reply::Scored(scored)] if scored.labels.len() == labels.len() => {
                label_scores::choose(scored, labels, self.settings.normalisation)
            }
            _ => found.said.clone(),
        };
        // A rescue that fails leaves the chain what it was: without an answer, and not lost.
        match said {
            Said::Choice(_) => Move::Said { said, reply, found: Some(found), rescued: true },
            _ => Move::Said { said: found.said.clone(), reply, found: Some(found), rescued: false },
        }
    }
}
