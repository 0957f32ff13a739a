//! The program around models and datasets: configuration, plan, supervisor, worker, log, reports, command line.

pub mod cli;
pub mod clock;
pub mod compare;
pub mod config;
pub mod device;
pub mod doctor;
pub mod entry;
pub mod estimate;
pub mod exit;
pub mod export;
pub mod frame;
pub mod log;
pub mod material;
pub mod merge;
pub mod plan;
pub mod prompting;
pub mod regrade;
pub mod report;
pub mod session;
pub mod show;
pub mod statistics;
pub mod supervisor;
pub mod threads;
pub mod track;
pub mod verify;
pub mod worker;
