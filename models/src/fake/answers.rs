//! What the fake engine answers, and how large it says prompts are: made up, or planted in the prompt.

use std::collections::BTreeSet;

use super::{Fake, VOCABULARY, hash, made_up};
use crate::{
    Encoded, Finish, Generate, Generated, Job, PromptSize, Reply, Request, Sampling, Scored, Segment, Usage,
    pictures,
};

impl Fake {
    /// Answers a job, unless something befalls the process before.
    pub(super) fn answer(&mut self, job: &Job) -> Reply {
        if let Some(missing) = pictures(&job.prompt).find(|&address| !self.shown.contains_key(address)) {
            let reason = format!("fake engine: picture {missing} is not there");
            return Reply::Failed { reason, usage: Usage::default() };
        }
        let text: String = job.prompt.iter().map(words).collect();
        let size = self.size(job);
        let needed = size.prompt_tokens + size.extra_tokens.min(1);
        if needed > self.context_tokens {
            return Reply::TooLong { needed, context: self.context_tokens };
        }
        self.fate.befall(&text);
        let fresh = pictures(&job.prompt).filter(|&address| self.seen.insert(address.to_owned())).count();
        let usage = Usage {
            prompt_tokens: size.prompt_tokens,
            evaluated_tokens: size.prompt_tokens,
            picture_tokens: size.picture_tokens,
            pictures_encoded: fresh as u32,
            ..Usage::default()
        };
        if self.fate.fails(&text) {
            return Reply::Failed { reason: "fake engine: told to fail on this prompt".into(), usage };
        }
        match &job.request {
            Request::Score(score) => {
                let scored = match &self.options.truth {
                    Some(planted) => planted.scored(&text, score, usage),
                    None => made_up::scored(&text, score, usage),
                };
                Reply::Scored(Scored { states: self.options.held.states(&text, score), ..scored })
            }
            Request::Generate(generate) => Reply::Generated(self.generated(&text, generate, usage)),
        }
    }

    /// One token per word: good enough for plans, and the same everywhere.
    pub(super) fn size(&self, job: &Job) -> PromptSize {
        let words: usize = job.prompt.iter().map(|segment| segment.text.split_whitespace().count()).sum();
        let size = |address| self.shown.get(address).copied().unwrap_or_default();
        let picture_tokens = pictures(&job.prompt).map(|address| squares(size(address))).sum();
        let extra_tokens = match &job.request {
            Request::Score(_) => 1,
            Request::Generate(generate) => generate.max_tokens,
        };
        let prompt_tokens = words as u32 + picture_tokens + u32::from(job.add_bos);
        PromptSize { prompt_tokens, extra_tokens, picture_tokens }
    }

    /// What became of the pictures that the group sees for the first time.
    pub(super) fn encoded(&self, jobs: &[Job]) -> Vec<Encoded> {
        let fresh: BTreeSet<&str> = jobs
            .iter()
            .flat_map(|job| pictures(&job.prompt))
            .filter(|&address| self.shown.contains_key(address) && !self.seen.contains(address))
            .collect();
        let one = |address: &str| {
            let size = self.shown.get(address).copied().unwrap_or_default();
            let address = address.to_owned();
            Encoded { address, size, tiles: vec![size], tokens: squares(size), times: 1, encode_us: 1 }
        };
        fresh.into_iter().map(one).collect()
    }

    fn generated(&self, text: &str, generate: &Generate, mut usage: Usage) -> Generated {
        const WORDS: [&str; 12] =
            ["First", "we", "look", "at", "the", "rule", "so", "the", "answer", "is", "[[left]]", "Yes"];
        let room = (self.context_tokens - usage.prompt_tokens).min(generate.max_tokens) as usize;
        let planted = self.options.truth.as_ref().map(|planted| planted.says(text));
        let reply: String = match self.options.say.clone().or(planted) {
            Some(say) => say,
            None => {
                // Drawn replies differ by their seed; greedy ones by the prompt alone.
                let seed = match generate.sampling {
                    Sampling::Greedy => String::new(),
                    Sampling::Temperature { seed, .. } => seed.to_string(),
                };
                let salt = format!("{text}{seed}");
                let length = 4 + hash(&(salt.as_str(), "length")) as usize % 20;
                let word = |place: usize| WORDS[hash(&(salt.as_str(), place)) as usize % WORDS.len()];
                (0..length).map(word).collect::<Vec<_>>().join(" ")
            }
        };
        let words: Vec<&str> = reply.split_inclusive(' ').collect();
        let finish = if words.len() > room { Finish::Length } else { Finish::Stop };
        let kept = &words[..words.len().min(room)];
        usage.output_tokens = kept.len() as u32;
        let tokens = kept.iter().map(|word| (hash(word) % u64::from(VOCABULARY)) as i32).collect();
        Generated { bytes: kept.concat().into_bytes(), tokens, finish, thinking_cut: false, usage }
    }
}

/// What a stretch of a prompt says; of a picture, which one it is.
pub(super) fn words(segment: &Segment) -> &str {
    segment.picture.as_deref().unwrap_or(&segment.text)
}

/// A picture of the made-up engine takes a token for every square of 32 pixels.
fn squares((width, height): (u32, u32)) -> u32 {
    width.div_ceil(32).saturating_mul(height.div_ceil(32))
}
