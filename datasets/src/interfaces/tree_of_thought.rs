//! `tree-of-thought`: several drawn lines of thought, several drawn votes on them, and the answer of the one that wins.
//!
//! One level of the method of Yao and others, as the paper on chain of thought and people used it: five thoughts, five votes. The
//! wording is ours.

use models::{Prompt, Reply, Request};

use super::sampled::{draw, read, voted};
use super::{Endings, Exchange, Interface, Move, Settings, prompt};
use crate::item::Question;
use crate::reading::Found;
use crate::verdict::{Loss, NoAnswer, Said, Skip};

/// The interface.
pub(super) static TREE_OF_THOUGHT: Interface = Interface {
    name: "tree-of-thought",
    summary: "draws several lines of thought, lets the model vote on them, and takes the answer of the winner",
    generates: true,
    scores_labels: false,
    scores_texts: false,
    asks_on: true,
    cued: true,
    capped: false,
    endings: Endings::None,
    fits: |question| !question.ask.reason.is_empty(),
    open,
};

/// Stands before the lines of thought in the prompt of a vote.
const LINES: &str = "\n\nSeveral lines of thought about this question:";

/// Whether a prompt asks for a vote.
pub fn is_vote(prompt: &Prompt) -> bool {
    prompt.turns.last().is_some_and(|turn| turn.text.contains(LINES))
}

fn open(question: &Question, settings: &Settings) -> Box<dyn Exchange + Send> {
    Box::new(TreeOfThought { question: question.clone(), settings: settings.clone(), state: State::Start })
}

struct TreeOfThought {
    question: Question,
    settings: Settings,
    state: State,
}

enum State {
    Start,
    Thinking,
    Voting(Vec<(String, Found)>),
    Over,
}

impl Exchange for TreeOfThought {
    fn step(&mut self, replies: &[Reply]) -> Move {
        let settings = &self.settings;
        match std::mem::replace(&mut self.state, State::Over) {
            State::Start => {
                let prompt = prompt::to_write(&self.question, settings);
                let one = |number| draw(&prompt, settings, settings.thought_tokens, "thought", number);
                self.state = State::Thinking;
                Move::Ask((0..settings.thoughts).map(one).collect())
            }
            State::Thinking => {
                let mut thoughts = Vec::new();
                for reply in replies {
                    match reply {
                        Reply::Generated(generated) => {
                            thoughts.push(read(&self.question, settings, generated))
                        }
                        Reply::TooLong { .. } => return Move::Skipped(Skip::TooLong),
                        Reply::Scored(_) | Reply::Failed { .. } => return Move::Lost(Loss::EngineError),
                    }
                }
                if thoughts.len() != usize::from(settings.thoughts) {
                    return Move::Lost(Loss::EngineError);
                }
                let asks = self.votes(&thoughts);
                self.state = State::Voting(thoughts);
                Move::Ask(asks)
            }
            State::Voting(thoughts) => self.counted(thoughts, replies),
            State::Over => Move::Lost(Loss::EngineError),
        }
    }
}

impl TreeOfThought {
    /// The votes: all after one prompt that shows the question and every thought.
    fn votes(&self, thoughts: &[(String, Found)]) -> Vec<(Prompt, Request)> {
        let mut text = LINES.to_owned();
        for (number, (thought, _)) in (1..).zip(thoughts) {
            text.push_str(&format!("\n\nLine {number}:\n{}", thought.trim()));
        }
        let count = thoughts.len();
        text.push_str(&format!(
            "\n\nDecide which line of thought is the most convincing. End with one line \"Answer: N\", where N is its \
             number, from 1 to {count}."
        ));
        let turns = prompt::turns(&self.question, &self.question.stem, &text);
        let prompt = Prompt { turns, ..Prompt::default() };
        let settings = &self.settings;
        let one = |number| draw(&prompt, settings, settings.vote_tokens, "vote", number);
        (0..settings.votes).map(one).collect()
    }

    /// The thought with most votes, and of several the first. Votes that name none do not count; without any that does, there
    /// is no answer.
    fn counted(&self, mut thoughts: Vec<(String, Found)>, replies: &[Reply]) -> Move {
        let mut votes = vec![0u16; thoughts.len()];
        if replies.len() != usize::from(self.settings.votes) {
            return Move::Lost(Loss::EngineError);
        }
        for reply in replies {
            match reply {
                Reply::Generated(vote) => {
                    let opens = self.settings.opens_in_reasoning;
                    let place = voted(&vote.text(), vote.finish, thoughts.len(), opens);
                    if let Some(count) = place.and_then(|place| votes.get_mut(place)) {
                        *count += 1;
                    }
                }
                Reply::TooLong { .. } => return Move::Skipped(Skip::TooLong),
                Reply::Scored(_) | Reply::Failed { .. } => return Move::Lost(Loss::EngineError),
            }
        }
        let most = votes.iter().copied().max().unwrap_or(0);
        let winner = votes.iter().position(|count| *count == most).unwrap_or(0);
        let (reply, found) = thoughts.swap_remove(winner);
        let said = if most > 0 { found.said.clone() } else { Said::Nothing(NoAnswer::Unparsed) };
        Move::Said { said, reply, found: Some(Box::new(found)), rescued: false }
    }
}
