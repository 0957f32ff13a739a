//! A prediction put to the test: a worker is loaded, its cache and its largest batch are filled, and its peak is read.

use std::time::Duration;

use datasets::{Params, Picture, Task};
use models::{Generate, Job, LoadSpec, Request, Sampling, Score, Segment};
use serde::Serialize;

use super::prediction::{Kind, Prediction};
use super::{Ground, Guard, Peaks, Rung, fitted};
use crate::levels::Program;
use crate::plan::PlannedModel;
use crate::supervisor::{Interrupt, Link, LinkError, Need};

/// What was predicted and what came.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// How the model was loaded.
    pub spec: LoadSpec,
    /// What it was to take.
    pub prediction: Prediction,
    /// What it took, where that was tried.
    pub measured: Option<Peaks>,
}

impl Trial {
    /// By how much of the measured peak the prediction is above it.
    pub fn error(&self) -> Option<f64> {
        let measured = self.measured.as_ref()?.high_water_bytes as f64;
        (measured > 0.0).then(|| (self.prediction.resident_bytes() as f64 - measured) / measured)
    }

    /// Predicted memory of a kind.
    pub fn predicted(&self, kind: Kind) -> u64 {
        self.prediction.of(kind)
    }
}

/// Time without progress after which a worker is given up.
const DEADLINE: Duration = Duration::from_secs(600);

/// Predicts, and where `measure` says so loads the model and fills it to the brim.
pub async fn trial(
    program: &Program,
    model: &PlannedModel,
    spec: &LoadSpec,
    measure: bool,
) -> Result<Trial, LinkError> {
    let mut link = Link::start(program, DEADLINE, Interrupt::never())?;
    let facts = link.open(LoadSpec { vocab_only: true, ..spec.clone() }).await?;
    let ground = Ground::of(&link, &facts);
    let pictures = pictures(spec);
    let mut need = Need::default();
    if let Some(picture) = pictures.first() {
        let jobs = vec![showing(picture)];
        link.show(&jobs, [picture]).await?;
        need.add(&link.measure(jobs).await?, false);
        need.see([picture].into_iter());
    }
    let outcome = fitted(&mut link, model, &ground, &Rung::wanted(spec), &need, None, None).await?;
    let prediction = outcome.map(|fitted| fitted.prediction).unwrap_or_else(|refusal| refusal.prediction);
    drop(link);
    let measured = match measure {
        true => Some(fill(program, spec, &pictures).await?),
        false => None,
    };
    Ok(Trial { spec: spec.clone(), prediction, measured })
}

/// Words that are one token each in common vocabularies.
const WORDS: [&str; 8] = [" the", " of", " and", " to", " in", " is", " for", " on"];

/// A picture for a model that takes some.
fn pictures(spec: &LoadSpec) -> Vec<Picture> {
    if spec.mmproj.is_none() {
        return Vec::new();
    }
    let items =
        Task::named("glasses").and_then(|task| (task.items)(&Params::default(), 1).ok()).unwrap_or_default();
    items.first().and_then(|item| item.pictures().next().cloned()).into_iter().collect()
}

/// A prompt that shows it.
fn showing(picture: &Picture) -> Job {
    let mut job = long(0, 8);
    job.prompt.insert(0, Segment::picture(picture.address()));
    job
}

async fn fill(program: &Program, spec: &LoadSpec, pictures: &[Picture]) -> Result<Peaks, LinkError> {
    let guard = Guard { watched: true, ..Guard::default() };
    let mut link = Link::guarded(program, DEADLINE, Interrupt::never(), &guard)?;
    link.open(spec.clone()).await?;
    // As many prompts as fill the cache, each as long as a sequence may be, none with a beginning in common.
    let prompts = (spec.cells.max(spec.context_tokens) / spec.context_tokens.max(1)).max(1);
    let probe = link.measure(vec![long(0, 64)]).await?;
    let per_word = f64::from(probe.first().map_or(64, |size| size.prompt_tokens.max(1))) / 64.0;
    let words = (f64::from(spec.context_tokens.saturating_sub(8)) / per_word) as usize;
    let jobs = (0..prompts.min(spec.sequences.max(1))).map(|number| long(number, words)).collect();
    link.round(jobs, &mut |_| ()).await?;
    link.end_group().await?;
    // As many replies as are written side by side, behind a prompt of half the length: their cache is filled, too.
    let jobs = (0..spec.parallel).map(|number| Job { request: reply(), ..long(number, words / 2) }).collect();
    link.round(jobs, &mut |_| ()).await?;
    link.end_group().await?;
    for picture in pictures {
        let jobs = vec![showing(picture)];
        link.show(&jobs, [picture]).await?;
        link.round(jobs, &mut |_| ()).await?;
        link.end_group().await?;
    }
    // As many rows of logits as one call may have: every token of every label but the last.
    let sequences = spec.sequences.max(2);
    let repeats = (spec.batch_tokens / (WORDS.len() as u32 * sequences)).max(1) as usize;
    let labels = (0..sequences).map(|number| label(number, repeats)).collect();
    let request = Request::Score(Score { continuations: labels, top: 1, ..Score::default() });
    link.round(vec![Job { request, ..long(0, 8) }], &mut |_| ()).await?;
    link.end_group().await?;
    link.memory().ok_or_else(|| LinkError::Start("the worker is not watched".into()))
}

fn long(number: u32, words: usize) -> Job {
    let mut text = String::from(WORDS[number as usize % WORDS.len()]);
    // A number in words of its own keeps the beginnings apart.
    for place in 0..6 {
        text.push_str(WORDS[(number as usize >> (3 * place)) % WORDS.len()]);
    }
    for place in 0..words.saturating_sub(7) {
        text.push_str(WORDS[(place * 5 + place / 7 + number as usize) % WORDS.len()]);
    }
    let request =
        Request::Score(Score { continuations: vec![" a".into(), " b".into()], top: 1, ..Score::default() });
    Job { id: number, prompt: vec![Segment::text(text, false)], add_bos: true, request, follow_up: false }
}

fn reply() -> Request {
    let sampling = Sampling::Greedy;
    Request::Generate(Generate {
        max_tokens: 4,
        stop: Vec::new(),
        sampling,
        loop_guard: None,
        thinking: None,
    })
}

fn label(number: u32, repeats: usize) -> String {
    let place = |shift: u32| WORDS[(number >> shift) as usize % WORDS.len()];
    let ends: String = (0..3).map(|digit| place(digit * 3)).collect();
    format!("{ends}{}", WORDS.concat().repeat(repeats))
}
