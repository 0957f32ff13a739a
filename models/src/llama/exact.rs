//! Exact mode: each job alone, from an empty cache, in batches whose shapes depend on the job alone.

use std::time::Instant;

use rand::Rng;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::decoder::{Decoder, FORK, MAIN, Wanted};
use super::vocabulary::{Impossible, Vocabulary, Work};
use crate::labels::LabelTokens;
use crate::logits::Row;
use crate::stopping::{StopTexts, loops};
use crate::{
    Finish, Generate, Generated, Job, LabelScore, Reply, Request, Sampling, Score, Scored, TokenProb, Usage,
};

/// Answers one job.
pub(super) fn answer(
    decoder: &mut Decoder,
    vocabulary: &Vocabulary,
    job: &Job,
    work: Result<Work, Impossible>,
) -> Reply {
    let work = match work {
        Ok(work) => work,
        Err(Impossible { prompt_tokens, reason }) => {
            return Reply::Failed { reason, usage: Usage { prompt_tokens, ..Usage::default() } };
        }
    };
    let size = work.size(job);
    // A chain may be cut short by the context, but must be able to begin.
    let needed = match job.request {
        Request::Score(_) => size.prompt_tokens + size.extra_tokens,
        Request::Generate(_) => size.prompt_tokens + 1,
    };
    if needed > decoder.context_tokens() {
        return Reply::TooLong { needed, context: decoder.context_tokens() };
    }
    let mut usage = Usage { prompt_tokens: size.prompt_tokens, ..Usage::default() };
    decoder.clear();
    let answered = match (&job.request, &work.labels) {
        (Request::Score(score), Some(labels)) => {
            scored(decoder, vocabulary, score, labels, &mut usage).map(Reply::Scored)
        }
        (Request::Generate(generate), _) => {
            generated(decoder, vocabulary, generate, &work.prompt, &mut usage).map(Reply::Generated)
        }
        (Request::Score(_), None) => Err("a score request without labels".into()),
    };
    answered.unwrap_or_else(|reason| Reply::Failed { reason, usage })
}

fn scored(
    decoder: &mut Decoder,
    vocabulary: &Vocabulary,
    score: &Score,
    labels: &LabelTokens,
    usage: &mut Usage,
) -> Result<Scored, String> {
    let started = Instant::now();
    let mut scores: Vec<LabelScore> = Vec::with_capacity(labels.tails.len());
    let mut top: Vec<TokenProb> = Vec::new();
    let mut finite = true;
    decoder.evaluate(MAIN, 0, &labels.stem, Wanted::Last, |_, row| {
        finite &= row.is_finite();
        for tail in &labels.tails {
            let first = tail[0];
            let logprobs = vec![row.logprob(first)];
            scores.push(LabelScore { tokens: tail.clone(), logprobs, rank: row.rank(first) });
        }
        top = row.top(usize::from(score.top), |token| shown(vocabulary, token));
    })?;
    usage.evaluated_tokens += labels.stem.len() as u32;
    for (tail, scored) in labels.tails.iter().zip(&mut scores) {
        let Some((_, before_last)) = tail.split_last() else { continue };
        if before_last.is_empty() {
            continue;
        }
        decoder.fork()?;
        decoder.evaluate(FORK, labels.stem.len(), before_last, Wanted::All, |index, row| {
            finite &= row.is_finite();
            scored.logprobs.push(row.logprob(tail[index + 1]));
        })?;
        usage.evaluated_tokens += before_last.len() as u32;
    }
    usage.prefill_us = started.elapsed().as_micros() as u64;
    let mass = finite.then(|| mass(&scores));
    Ok(Scored { labels: scores, mass, top, usage: *usage })
}

/// Total probability of the distinct label token sequences.
fn mass(scores: &[LabelScore]) -> f64 {
    let is_first =
        |index: usize| !scores[..index].iter().any(|earlier| earlier.tokens == scores[index].tokens);
    (0..scores.len()).filter(|&index| is_first(index)).map(|index| scores[index].sum().exp()).sum()
}

fn shown(vocabulary: &Vocabulary, token: i32) -> String {
    String::from_utf8_lossy(&vocabulary.piece(token, true)).into_owned()
}

fn generated(
    decoder: &mut Decoder,
    vocabulary: &Vocabulary,
    generate: &Generate,
    prompt: &[i32],
    usage: &mut Usage,
) -> Result<Generated, String> {
    let room = decoder.context_tokens() - usage.prompt_tokens;
    let mut chooser = Chooser::new(generate.sampling);
    let mut stop = StopTexts::new(&generate.stop);
    let mut bytes: Vec<u8> = Vec::new();
    let mut tokens: Vec<i32> = Vec::new();
    let started = Instant::now();
    let mut next = None;
    decoder.evaluate(MAIN, 0, prompt, Wanted::Last, |_, row| next = chooser.choose(row))?;
    usage.evaluated_tokens += prompt.len() as u32;
    usage.prefill_us = started.elapsed().as_micros() as u64;
    let decoding = Instant::now();
    let finish = loop {
        let token = next.ok_or("the model's logits are not finite: no token can be chosen")?;
        if vocabulary.ends_generation(token) {
            break Finish::Stop;
        }
        if tokens.len() as u32 >= generate.max_tokens {
            break Finish::Length;
        }
        tokens.push(token);
        bytes.extend(vocabulary.piece(token, false));
        if let Some(end) = stop.find(&bytes) {
            bytes.truncate(end);
            break Finish::StopText;
        }
        if generate.loop_guard.is_some_and(|guard| loops(&tokens, guard)) {
            break Finish::Loop;
        }
        if tokens.len() as u32 >= room {
            break Finish::ContextFull;
        }
        let position = prompt.len() + tokens.len() - 1;
        next = None;
        decoder.evaluate(MAIN, position, &[token], Wanted::Last, |_, row| next = chooser.choose(row))?;
    };
    usage.output_tokens = tokens.len() as u32;
    usage.decode_us = decoding.elapsed().as_micros() as u64;
    Ok(Generated { bytes, tokens, finish, usage: *usage })
}

/// Chooses the next token.
struct Chooser {
    sampling: Sampling,
    stream: ChaCha20Rng,
}

impl Chooser {
    fn new(sampling: Sampling) -> Self {
        let seed = match sampling {
            Sampling::Greedy => 0,
            Sampling::Temperature { seed, .. } => seed,
        };
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Chooser { sampling, stream: ChaCha20Rng::from_seed(key) }
    }

    fn choose(&mut self, row: Row<'_>) -> Option<i32> {
        if !row.is_finite() {
            return None;
        }
        match self.sampling {
            Sampling::Greedy => row.best(),
            Sampling::Temperature { temperature, .. } => {
                let unit = (self.stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                row.draw(temperature, unit)
            }
        }
    }
}
