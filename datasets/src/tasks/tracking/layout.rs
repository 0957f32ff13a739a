//! Puts a state-tracking prompt together: instruction, solved example, instance.
//!
//! The paper prints the prompts without most of their line breaks and with stray spaces before commas. Here each
//! statement has its own line, blocks are set apart by an empty line, and lists read `left, right`.

use super::Query;
use crate::item::{Ask, Cue, Gold, Part, Question};
use crate::reading::Reading;

/// The fixed texts of a task. Both forms of the prompt are made from them.
pub(in crate::tasks) struct Layout {
    /// The instruction where the answer is wanted at once.
    pub(in crate::tasks) direct: String,
    /// The instruction where reasoning is wanted.
    pub(in crate::tasks) reasoning: String,
    /// The solved example.
    pub(in crate::tasks) example: Example,
    /// The possible answers in the order shown.
    pub(in crate::tasks) options: &'static [&'static str],
}

/// The solved example that every prompt shows.
pub(in crate::tasks) struct Example {
    /// Lines of the initial state.
    pub(in crate::tasks) state: Vec<String>,
    /// Lines of the updates.
    pub(in crate::tasks) updates: Vec<String>,
    /// The question.
    pub(in crate::tasks) query: String,
    /// The reasoning, shown in the reasoning form alone.
    pub(in crate::tasks) reasoning: String,
    /// The answer.
    pub(in crate::tasks) answer: &'static str,
}

impl Layout {
    /// Builds what all prompts of the task begin with.
    pub(in crate::tasks) fn ready(&self) -> Ready {
        let options = self.options.join(", ");
        let example = &self.example;
        let shown = instance(&example.state, &example.updates, &example.query, &options);
        let (reasoning, answer) = (&example.reasoning, example.answer);
        let head = |instruction: &str, reasoning: String| {
            format!(
                "{instruction} Here is an example:\n\n{shown}{reasoning}\nAnswer: [[{answer}]]\n\nNow your turn:\n"
            )
        };
        Ready {
            direct: head(&self.direct, String::new()),
            reasoning: head(&self.reasoning, format!("\nReasoning: {reasoning}")),
            options: self.options,
            options_line: options,
        }
    }
}

/// What all prompts of a task begin with.
pub(in crate::tasks) struct Ready {
    direct: String,
    reasoning: String,
    options: &'static [&'static str],
    options_line: String,
}

impl Ready {
    /// The possible answers.
    pub(in crate::tasks) fn options(&self) -> &'static [&'static str] {
        self.options
    }

    /// The question about an instance, in both forms.
    pub(in crate::tasks) fn question(&self, state: &[String], updates: &[String], query: &Query) -> Question {
        let shown = instance(state, updates, &query.text, &self.options_line);
        Question {
            history: Vec::new(),
            stem: vec![Part::from(format!("{}{shown}", self.direct))],
            ask: Ask {
                direct: String::new(),
                direct_lead: "Answer: [[".to_owned(),
                reason: vec![Cue {
                    name: "reasoning".to_owned(),
                    stem: Some(vec![Part::from(format!("{}{shown}", self.reasoning))]),
                    text: "\nReasoning:".to_owned(),
                }],
            },
            labels: self.options.iter().map(|&option| option.to_owned()).collect(),
            options: Vec::new(),
            reading: Reading::Bracketed,
            gold: Gold::Label(query.gold),
        }
    }
}

/// State, updates (none at depth 0) and question.
fn instance(state: &[String], updates: &[String], query: &str, options: &str) -> String {
    let mut text = state.join("\n");
    text.push_str("\n\n");
    for update in updates {
        text.push_str(update);
        text.push('\n');
    }
    if !updates.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("Query: {query}\nOptions: {options}"));
    text
}
