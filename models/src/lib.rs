//! What a language model is and what may be asked of it.
//!
//! Everything that crosses from an evaluation to a model is one of the plain values here: a [`Prompt`] is
//! rendered to [`Segment`]s, a [`Job`] carries them with a [`Request`], an [`Engine`] answers with a
//! [`Reply`]. This crate knows no task, no log and no power meter.

pub mod catalog;
pub mod engine;
pub mod fake;
pub mod gguf;
pub mod half;
pub mod hidden;
pub mod labels;
#[cfg(feature = "llama")]
pub mod llama;
pub mod logits;
pub mod mapping;
pub mod picture;
pub mod probe;
pub mod reply;
pub mod request;
pub mod span;
pub mod stopping;
pub mod template;
pub mod tree;

pub use engine::{
    Advance, Buffers, Call, Engine, EngineError, EngineFacts, KvType, LoadSpec, Mode, PromptSize, RoundReply,
    Token, Tokenised,
};
pub use hidden::{FinalNorm, HiddenStates, OutputRow, Readout, States};
pub use picture::{Encoded, Shown};
pub use probe::{Probe, ProbeReply, ProbeWork};
pub use reply::{Finish, Generated, LabelScore, Phase, PhaseKind, Reply, Scored, TokenProb, Usage};
pub use request::{
    Generate, Job, LoopGuard, PictureAt, Prompt, Request, Role, Sampling, Score, Segment, ThinkingCap, Turn,
    pictures,
};
pub use span::{Span, Spans};

/// The version of the llama.cpp binding that the `llama` feature builds.
pub const LLAMA_CPP_2_VERSION: &str = "0.1.160";

/// Processor level that this process was built for, where `cross/build.sh` built it; empty otherwise.
pub const CPU_LEVEL: &str = match option_env!("EDGE_EVAL_CPU_LEVEL") {
    Some(level) => level,
    None => "",
};

#[cfg(test)]
mod tests {
    #[test]
    fn the_binding_version_is_the_pinned_one() {
        let manifest = include_str!("../../Cargo.toml");
        let pin = format!("llama-cpp-2 = {{ version = \"={}\"", super::LLAMA_CPP_2_VERSION);
        assert!(manifest.contains(&pin), "{pin} is not in Cargo.toml");
    }
}
