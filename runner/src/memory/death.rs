//! How a worker died, told from its status and from what the system knows.

use crate::entry::DeathCause;

use super::Breach;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// What else is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Why the watch killed it.
    pub breach: Option<Breach>,
    /// Kills for want of memory that its groups count since it began.
    pub group_kills: u64,
    /// The same for the whole system.
    pub system_kills: u64,
    /// Its last lines.
    pub last_words: Vec<String>,
}

impl Evidence {
    /// The last `count` lines; a line above them that tells of memory stands before them.
    pub fn telling(&self, count: usize) -> Vec<String> {
        let (above, last) = self.last_words.split_at(self.last_words.len().saturating_sub(count));
        let told = above.iter().rev().find(|line| is_about_allocation(line));
        told.into_iter().chain(last).cloned().collect()
    }
}

/// Names a death.
pub fn classify(ending: Ending, evidence: &Evidence) -> DeathCause {
    match (evidence.breach, ending) {
        (Some(Breach::Budget { observed_bytes, budget_bytes }), _) => {
            DeathCause::OverBudget { observed_bytes, budget_bytes }
        }
        (Some(Breach::Floor { available_bytes }), _) => DeathCause::SystemLow { available_bytes },
        (None, Ending::Signal(9)) if evidence.group_kills > 0 => DeathCause::OutOfMemoryInGroup,
        (None, Ending::Signal(9)) if evidence.system_kills > 0 => DeathCause::OutOfMemoryBySystem,
        (None, Ending::Signal(9 | 15)) => DeathCause::KilledFromOutside,
        (None, Ending::Signal(4)) => DeathCause::IllegalInstruction,
        (None, Ending::Signal(7)) => DeathCause::StorageFault,
        (None, _) if evidence.last_words.iter().any(|line| is_about_allocation(line)) => {
            DeathCause::AllocationFailed
        }
        (None, Ending::Signal(signal)) => DeathCause::Signal(signal),
        (None, Ending::Code(code)) => DeathCause::Exited(code),
    }
}

/// Whether a line tells of memory that could not be had: what ggml, llama.cpp, C++ and Rust print.
fn is_about_allocation(line: &str) -> bool {
    const SIGNS: [&str; 7] = [
        "failed to allocate",
        "unable to allocate",
        "bad_alloc",
        "memory allocation of",
        "out of memory",
        "Cannot allocate memory",
        "NvMapMemAlloc",
    ];
    SIGNS.iter().any(|sign| line.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_tells_of_memory_is_kept_above_a_long_backtrace() {
        let lines = ["a", "bad_alloc", "b", "c", "d"].map(str::to_owned).to_vec();
        let evidence = Evidence { last_words: lines, ..Evidence::default() };
        assert_eq!(evidence.telling(2), ["bad_alloc", "c", "d"]);
        assert_eq!(evidence.telling(9), ["a", "bad_alloc", "b", "c", "d"]);
    }

    #[test]
    fn every_row_of_the_classification() {
        let none = Evidence::default();
        let said = |line: &str| Evidence { last_words: vec!["hello".into(), line.into()], ..none.clone() };
        let budget = Breach::Budget { observed_bytes: 2, budget_bytes: 1 };
        let breach = |breach| Evidence { breach: Some(breach), group_kills: 1, ..none.clone() };
        for (ending, evidence, cause) in [
            (
                Ending::Signal(9),
                breach(budget),
                DeathCause::OverBudget { observed_bytes: 2, budget_bytes: 1 },
            ),
            (
                Ending::Signal(9),
                breach(Breach::Floor { available_bytes: 5 }),
                DeathCause::SystemLow { available_bytes: 5 },
            ),
            (
                Ending::Signal(9),
                Evidence { group_kills: 1, system_kills: 1, ..none.clone() },
                DeathCause::OutOfMemoryInGroup,
            ),
            (
                Ending::Signal(9),
                Evidence { system_kills: 1, ..none.clone() },
                DeathCause::OutOfMemoryBySystem,
            ),
            (Ending::Signal(9), none.clone(), DeathCause::KilledFromOutside),
            (Ending::Signal(4), none.clone(), DeathCause::IllegalInstruction),
            (Ending::Signal(7), none.clone(), DeathCause::StorageFault),
            (Ending::Signal(6), none.clone(), DeathCause::Signal(6)),
            (Ending::Signal(6), said("memory allocation of 99 bytes failed"), DeathCause::AllocationFailed),
            (
                Ending::Code(1),
                said("ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 9"),
                DeathCause::AllocationFailed,
            ),
            (Ending::Signal(6), said("GGML_ASSERT(n > 0) failed"), DeathCause::Signal(6)),
            (Ending::Code(1), none.clone(), DeathCause::Exited(1)),
        ] {
            assert_eq!(classify(ending, &evidence), cause, "{ending:?} {evidence:?}");
        }
    }
}
