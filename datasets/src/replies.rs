//! Replies as an engine would give them, for the tests of this crate: what is said and scored stands in the test, the rest here.

use models::{Finish, Generated, LabelScore, Reply, Scored, Usage};

/// A text that ended as it says.
pub(crate) fn generated(text: &str, finish: Finish) -> Reply {
    Reply::Generated(Generated {
        bytes: text.into(),
        tokens: vec![1],
        finish,
        thinking_cut: false,
        usage: Usage::default(),
    })
}

/// A text that ended of itself.
pub(crate) fn text(text: &str) -> Reply {
    generated(text, Finish::Stop)
}

/// Labels with the log-probabilities of their tokens.
pub(crate) fn scored(labels: &[&[f32]]) -> Reply {
    let label = |logprobs: &&[f32]| LabelScore {
        tokens: vec![7; logprobs.len()],
        logprobs: logprobs.to_vec(),
        rank: 1,
    };
    let labels = labels.iter().map(label).collect();
    Reply::Scored(Scored { labels, mass: Some(0.5), ..Scored::default() })
}

/// Labels of one token each.
pub(crate) fn scores(logprobs: impl Iterator<Item = f32>) -> Reply {
    let labels: Vec<f32> = logprobs.collect();
    scored(&labels.chunks(1).collect::<Vec<_>>())
}
