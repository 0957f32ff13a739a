//! How workers die, and how that is said to people.

use serde::{Deserialize, Serialize};

use super::GroupRef;
use crate::memory::in_words;

/// A worker died or was given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Death {
    /// Where it was.
    pub at: GroupRef,
    /// Item and interface, when one job was tried alone.
    pub culprit: Option<(String, String)>,
    /// What happened.
    pub cause: DeathCause,
    /// The worker's last lines on its standard error.
    pub last_words: Vec<String>,
}

/// What happened to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeathCause {
    /// It ended with this code.
    Exited(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It made no progress in time and was killed.
    Deadline,
    /// It sent what is no frame.
    Garbled,
    /// It took more than its budget, and the watch killed it.
    OverBudget {
        /// What it took.
        observed_bytes: u64,
        /// What it might.
        budget_bytes: u64,
    },
    /// The system had hardly any memory left, and the watch killed the worker.
    SystemLow {
        /// What the system had.
        available_bytes: u64,
    },
    /// The kernel killed it, because its memory group had reached its limit.
    OutOfMemoryInGroup,
    /// The kernel killed it, because the system had no memory left.
    OutOfMemoryBySystem,
    /// An allocation failed.
    AllocationFailed,
    /// The processor lacks an instruction.
    IllegalInstruction,
    /// A mapped file could not be read: cut short, or its storage failed.
    StorageFault,
    /// Somebody killed it.
    KilledFromOutside,
}

impl DeathCause {
    /// For messages: "the worker {}".
    pub fn in_words(self) -> String {
        match self {
            DeathCause::Exited(code) => format!("ended with code {code}"),
            DeathCause::Signal(6) => "aborted (SIGABRT)".into(),
            DeathCause::Signal(11) => "crashed (SIGSEGV)".into(),
            DeathCause::Signal(signal) => format!("was ended by signal {signal}"),
            DeathCause::Deadline => "made no progress in time and was stopped".into(),
            DeathCause::Garbled => "sent what is no answer and was stopped".into(),
            DeathCause::OverBudget { observed_bytes, budget_bytes } => format!(
                "took {} of memory, more than its budget of {}, and was stopped",
                in_words(observed_bytes),
                in_words(budget_bytes)
            ),
            DeathCause::SystemLow { available_bytes } => format!(
                "was stopped because the system had only {} of memory left",
                in_words(available_bytes)
            ),
            DeathCause::OutOfMemoryInGroup => {
                "was killed by the kernel: its memory group had reached its limit".into()
            }
            DeathCause::OutOfMemoryBySystem => {
                "was killed by the kernel: the system had no memory left".into()
            }
            DeathCause::AllocationFailed => "could not allocate memory".into(),
            DeathCause::IllegalInstruction => "met an instruction that this CPU lacks (SIGILL)".into(),
            DeathCause::StorageFault => {
                "could not read a mapped file (SIGBUS: the file was cut short, or its storage failed)".into()
            }
            DeathCause::KilledFromOutside => "was killed from outside".into(),
        }
    }
}
