//! Jobs in tokens, checked against the context.

use super::scoring::Scoring;
use super::vision::{Seen, Vision};
use super::vocabulary::{Impossible, Vocabulary};
use super::writing::Writing;
use crate::{Finish, Job, Reply, Request, Usage};

/// A job that can be done.
pub(super) struct Task<'a> {
    pub(super) usage: Usage,
    pub(super) doing: Doing<'a>,
}

impl Task<'_> {
    /// The reply to a job that is over.
    pub(super) fn reply(self, outcome: Result<Finish, String>) -> Reply {
        match (self.doing, outcome) {
            (Doing::Score(scoring), Ok(_)) => Reply::Scored(scoring.finish(self.usage)),
            (Doing::Write(_, writing), Ok(finish)) => Reply::Generated(writing.finish(finish, self.usage)),
            (_, Err(reason)) => Reply::Failed { reason, usage: self.usage },
        }
    }
}

/// What is done.
pub(super) enum Doing<'a> {
    /// Score labels.
    Score(Scoring),
    /// Write a reply to a prompt.
    Write(Vec<i32>, Box<Writing<'a>>),
}

impl Usage {
    /// Adds the pictures that were encoded between two looks at the counters.
    pub(super) fn count_pictures(&mut self, before: Seen, after: Seen) {
        self.pictures_encoded += after.pictures - before.pictures;
        self.encode_us += after.encode_us - before.encode_us;
    }
}

/// Tokenises a job; `Err` has its reply when it cannot be done.
pub(super) fn task<'a>(
    vocabulary: &Vocabulary,
    vision: Option<&Vision>,
    job: &'a Job,
    context_tokens: u32,
) -> Result<Task<'a>, Box<Reply>> {
    let work = vocabulary.prepare(job, vision).map_err(|Impossible { prompt_tokens, reason }| {
        Box::new(Reply::Failed { reason, usage: Usage { prompt_tokens, ..Usage::default() } })
    })?;
    let size = work.size(job);
    // A chain may be cut short by the context, but must be able to begin.
    let needed = match job.request {
        Request::Score(_) => size.prompt_tokens + size.extra_tokens,
        Request::Generate(_) => size.prompt_tokens + 1,
    };
    if needed > context_tokens {
        return Err(Box::new(Reply::TooLong { needed, context: context_tokens }));
    }
    let (prompt_tokens, picture_tokens) = (size.prompt_tokens, size.picture_tokens);
    let usage = Usage { prompt_tokens, picture_tokens, ..Usage::default() };
    let doing = match (&job.request, work.labels) {
        (Request::Score(score), Some(labels)) => {
            let watch = vocabulary.spelt(&score.watch);
            Doing::Score(Scoring::new(labels, score.top, watch, score.states))
        }
        (Request::Generate(generate), _) => {
            Doing::Write(work.prompt, Box::new(Writing::new(generate, context_tokens - size.prompt_tokens)))
        }
        (Request::Score(_), None) => {
            let reason = "a score request without labels".into();
            return Err(Box::new(Reply::Failed { reason, usage }));
        }
    };
    Ok(Task { usage, doing })
}
