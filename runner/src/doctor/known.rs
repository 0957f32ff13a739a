//! Known answers: tiny models with weights of several kinds, and what they must say.
//!
//! Compilers have broken kernels silently before, for one model on one processor. So every build, on the very
//! processor, is held against numbers that no kernel of it has had a part in: `tests/fixtures/known-answers/make.py`
//! computes them in NumPy from the stored weights.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use models::{Job, LoadSpec, Reply, Request, Score, Segment};
use serde::Deserialize;

use super::Check;
use crate::levels::{Image, Program};
use crate::supervisor::{Interrupt, Link, LinkError};

/// Models by the kind of their weights.
const MODELS: [(&str, &[u8]); 3] = [
    ("F16", include_bytes!("../../../tests/fixtures/tiny-vlm.gguf")),
    ("Q8_0", include_bytes!("../../../tests/fixtures/known-answers/q8_0.gguf")),
    ("Q4_0", include_bytes!("../../../tests/fixtures/known-answers/q4_0.gguf")),
];
const ANSWERS: &str = include_str!("../../../tests/fixtures/known-answers/answers.json");

/// Tokens handed to the library at once: many take other kernels than one.
const BATCHES: [u32; 2] = [512, 1];

const DEADLINE: Duration = Duration::from_secs(600);

/// What a model must say.
#[derive(Debug, Deserialize)]
struct Known {
    weights: String,
    /// Largest difference of a log-probability that rounding explains.
    tolerance: f64,
    prompts: Vec<Prompt>,
}

#[derive(Debug, Deserialize)]
struct Prompt {
    question: String,
    tokens: u32,
    /// Ids and log-probabilities of the most probable next tokens.
    top: Vec<(i32, f64)>,
}

/// Asks all models through a worker of this program.
pub(super) async fn check(program: &Program) -> Check {
    let name = format!("known answers, {}", program.level());
    const REMEDY: &str = "this build computes wrongly on this processor, and no result of it can be trusted: take another \
                          --cpu-level or another build, and report processor, level and this line";
    let known: Vec<Known> = match serde_json::from_str(ANSWERS) {
        Ok(known) => known,
        Err(error) => return Check::fail(&name, format!("the answers cannot be read: {error}"), REMEDY),
    };
    let mut said = Vec::new();
    let mut wrong = Vec::new();
    for known in &known {
        match largest(program, known).await {
            Ok(difference) => {
                said.push(format!("{} {difference:.3} (of {})", known.weights, known.tolerance));
                // What is no number is not within the tolerance.
                if difference <= known.tolerance { continue } else { wrong.push(known.weights.clone()) }
            }
            Err(Trouble::NoEngine(reason)) => return Check::skip(&name, reason),
            Err(Trouble::Wrong(reason)) => {
                return Check::fail(&name, format!("{}: {reason}", known.weights), REMEDY);
            }
        }
    }
    let finding = format!(
        "{} prompts each, one token and many at a time: largest difference of a log-probability {}",
        known.first().map_or(0, |known| known.prompts.len()),
        said.join(", ")
    );
    match wrong.is_empty() {
        true => Check::ok(&name, finding),
        false => Check::fail(&name, format!("{finding}: wrong with {} weights", wrong.join(" and ")), REMEDY),
    }
}

enum Trouble {
    /// There is nothing to examine.
    NoEngine(String),
    Wrong(String),
}

impl From<LinkError> for Trouble {
    fn from(error: LinkError) -> Self {
        Trouble::Wrong(error.in_words("while known answers were asked for"))
    }
}

/// The largest difference between what a model says and what it must.
async fn largest(program: &Program, known: &Known) -> Result<f64, Trouble> {
    let bytes = MODELS.iter().find(|(weights, _)| *weights == known.weights);
    let (_, bytes) = bytes.ok_or_else(|| Trouble::Wrong("there is no such model".into()))?;
    let image = Image::new(bytes).map_err(|error| Trouble::Wrong(error.to_string()))?;
    let mut largest: f64 = 0.0;
    for batch_tokens in BATCHES {
        let mut link = Link::start(program, DEADLINE, Interrupt::never())?;
        match link.open(spec(image.path(), batch_tokens)).await {
            Ok(_) => {}
            Err(LinkError::Engine(error)) if error.0.contains("no llama.cpp") => {
                return Err(Trouble::NoEngine("this build has no llama.cpp".into()));
            }
            Err(error) => return Err(error.into()),
        }
        let jobs: Vec<Job> =
            (0..).zip(&known.prompts).map(|(id, prompt)| job(id, &prompt.question)).collect();
        let reply = link.round(jobs, &mut |_| ()).await?;
        for (prompt, reply) in known.prompts.iter().zip(&reply.replies) {
            largest = largest.max(difference(prompt, reply).map_err(Trouble::Wrong)?);
        }
    }
    Ok(largest)
}

fn difference(prompt: &Prompt, reply: &Reply) -> Result<f64, String> {
    let Reply::Scored(scored) = reply else {
        return Err(format!("{:?} gets no score: {reply:?}", prompt.question));
    };
    if scored.usage.prompt_tokens != prompt.tokens {
        let (found, wanted) = (scored.usage.prompt_tokens, prompt.tokens);
        return Err(format!("{:?} has {found} tokens where it must have {wanted}", prompt.question));
    }
    let found: BTreeMap<i32, f64> =
        scored.top.iter().map(|token| (token.token, f64::from(token.logprob))).collect();
    let mut largest: f64 = 0.0;
    for (id, logprob) in &prompt.top {
        let Some(found) = found.get(id) else {
            return Err(format!("{:?}: token {id} is not among the likely ones", prompt.question));
        };
        let difference = (found - logprob).abs();
        // `max` would pass over what is no number.
        if difference.is_nan() {
            return Err(format!("{:?}: a log-probability is not a number", prompt.question));
        }
        largest = largest.max(difference);
    }
    Ok(largest)
}

fn job(id: u32, question: &str) -> Job {
    let segment = Segment::text;
    let prompt = vec![
        segment("<|im_start|>", true),
        segment(&format!("user\n{question}"), false),
        segment("<|im_end|>", true),
        segment("\n", false),
        segment("<|im_start|>", true),
        segment("assistant\n", false),
    ];
    let request = Request::Score(Score { continuations: vec!["A".into()], top: 40, ..Score::default() });
    Job { id, prompt, add_bos: true, request, follow_up: false }
}

fn spec(model: PathBuf, batch_tokens: u32) -> LoadSpec {
    LoadSpec { batch_tokens, ..LoadSpec::plain(model) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::{LabelScore, Scored, TokenProb, Usage};

    fn reply(tokens: u32, top: &[(i32, f32)]) -> Reply {
        let top =
            top.iter().map(|&(id, logprob)| TokenProb { token: id, piece: String::new(), logprob }).collect();
        let usage = Usage { prompt_tokens: tokens, ..Usage::default() };
        Reply::Scored(Scored {
            labels: Vec::<LabelScore>::new(),
            mass: None,
            top,
            usage,
            ..Scored::default()
        })
    }

    #[test]
    fn the_largest_difference_counts_whatever_the_order() {
        let prompt = Prompt { question: "q".into(), tokens: 9, top: vec![(3, -0.5), (4, -2.0)] };
        let found = difference(&prompt, &reply(9, &[(7, -0.1), (4, -2.25), (3, -0.625)])).unwrap();
        assert!((found - 0.25).abs() < 1e-9, "{found}");
    }

    #[test]
    fn num_02_wrong_tokens_missing_tokens_and_what_is_no_number_are_no_pass() {
        let prompt = Prompt { question: "q".into(), tokens: 9, top: vec![(3, -0.5)] };
        assert!(difference(&prompt, &reply(8, &[(3, -0.5)])).unwrap_err().contains("8 tokens"));
        assert!(difference(&prompt, &reply(9, &[(4, -0.5)])).unwrap_err().contains("token 3"));
        assert!(difference(&prompt, &reply(9, &[(3, f32::NAN)])).unwrap_err().contains("not a number"));
        assert!(difference(&prompt, &Reply::TooLong { needed: 2, context: 1 }).is_err());
    }

    #[test]
    fn every_kind_of_weights_has_answers_and_a_model() {
        let known: Vec<Known> = serde_json::from_str(ANSWERS).unwrap();
        let kinds: Vec<&str> = known.iter().map(|known| known.weights.as_str()).collect();
        assert_eq!(kinds, MODELS.map(|(kind, _)| kind));
        for known in &known {
            assert!(known.tolerance > 0.0 && known.prompts.len() == 5);
            assert!(known.prompts.iter().all(|prompt| prompt.top.len() == 5));
        }
    }
}
