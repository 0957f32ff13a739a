//! What a language model is and what may be asked of it.
//!
//! Everything that crosses from an evaluation to a model is one of the plain values here: a [`Prompt`] is
//! rendered to [`Segment`]s, a [`Job`] carries them with a [`Request`], an [`Engine`] answers with a
//! [`Reply`]. This crate knows no task, no log and no power meter.

pub mod catalog;
pub mod engine;
pub mod gguf;
pub mod reply;
pub mod request;
pub mod template;

pub use engine::{Engine, EngineError, EngineFacts, LoadSpec, PromptSize, RoundReply};
pub use reply::{Finish, Generated, LabelScore, Phase, PhaseKind, Reply, Scored, TokenProb, Usage};
pub use request::{Generate, Job, LoopGuard, Prompt, Request, Role, Sampling, Score, Segment, Turn};
