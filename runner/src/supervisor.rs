//! Runs a plan: starts workers, hands them groups, keeps the log, survives their deaths.

pub mod group;
mod interrupt;
mod link;
mod load;
mod parity;
mod run;
mod showing;
mod tail;
mod tuning;

pub use interrupt::Interrupt;
pub use link::{Link, LinkError};
pub use load::{Need, load_spec};
pub use run::{Progress, Report, TimedKey, run};
pub(crate) use showing::pixel_bytes;
