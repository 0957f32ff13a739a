//! Memory as a condition of an experiment: what a run may take, what it will take, what it takes, and how it ends when
//! that does not fit. `docs/memory.md` says the same for people.

mod budget;
mod cgroup;
mod choice;
mod death;
mod fit;
mod ground;
mod group;
mod guard;
mod pictures;
mod prediction;
mod refusal;
mod repack;
mod scope;
mod system;
mod trial;
mod watch;

pub use budget::{Budget, Counts, Limit};
pub use cgroup::Cgroup;
pub use death::{Ending, Evidence, classify};
pub use fit::{Allow, Effect, Fitted, Rung, Step, choose, ladder};
pub use ground::{Ground, fitted};
pub use group::OwnGroup;
pub use guard::{Enforce, Guard, Guarding};
pub use prediction::{Kind, Line, Prediction, predict};
pub use refusal::Refusal;
pub(crate) use refusal::table;
pub use scope::enter as enter_scope;
pub use system::System;
pub use trial::{Trial, trial};
pub use watch::{Breach, Peaks, Reading, Watch};

#[cfg(test)]
mod tests;

/// Bytes for people: `1.50 GiB`, `312.4 MiB`, `17 KiB`.
pub fn in_words(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let bytes = bytes as f64;
    match bytes {
        b if b >= KIB * KIB * KIB => format!("{:.2} GiB", b / (KIB * KIB * KIB)),
        b if b >= KIB * KIB => format!("{:.1} MiB", b / (KIB * KIB)),
        b => format!("{:.0} KiB", b / KIB),
    }
}
