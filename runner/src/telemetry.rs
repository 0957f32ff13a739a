//! Power, energy and the state of the machine, measured honestly: every figure with its source, what it covers and what it
//! is worth; what was not measured is absent with a reason.

pub mod conditions;
pub mod counter;
pub mod energy;
pub mod integrate;
pub mod latency;
pub mod measuring;
pub mod missing;
pub mod overhead;
pub mod phases;
pub mod probe;
pub mod record;
pub mod root;
pub mod sample;
pub mod sampler;
pub mod settle;
pub mod source;
pub mod sources;
pub mod state;
pub mod throttle;

#[cfg(test)]
pub(crate) mod made_up;
#[cfg(test)]
mod tests;
