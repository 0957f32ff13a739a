//! The program around models and datasets: configuration, plan, supervisor, worker, log, reports, command line.

pub mod bayes;
pub mod bench;
pub mod bundle;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod config;
mod count;
pub mod device;
pub mod disk;
pub mod doctor;
pub mod entry;
pub mod estimate;
pub mod exit;
pub mod export;
pub mod forecast;
pub mod gallery;
pub mod itself;
pub mod levels;
pub mod log;
pub mod material;
pub mod memory;
pub mod merge;
pub mod parcel;
pub mod plan;
pub mod probes;
pub mod prompting;
pub mod regrade;
pub mod report;
pub mod session;
pub mod show;
pub mod states;
pub mod statistics;
pub mod supervisor;
pub mod telemetry;
pub mod threads;
pub mod track;
pub mod verify;

/// The worker, which is a crate of its own: it is also built without all that is here.
pub use ::worker;
pub use ::worker::frame;
