//! Processor levels: the same worker, built for what processors of a kind can do.
//!
//! llama.cpp's kernels are compiled for one set of instructions. A program that is handed out carries its worker built
//! for several (`cross/build.sh`), and starts the best that the processor can run. A development build carries none
//! and is its own worker.

mod choice;
mod image;
mod processor;
mod program;
#[cfg(test)]
mod tests;

pub use choice::{AUTO, choose};
pub(crate) use image::Image;
pub use processor::has;
pub use program::{Carried, OWN_BUILD, Program};

/// A level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its name, as in `cross/levels/`.
    pub name: &'static str,
    /// What the processor must have, by the names that [`has`] knows.
    pub needs: &'static [&'static str],
}

/// The levels of this architecture, lowest first. What each needs is what `cross/levels/NAME.cmake` compiles for, with
/// what the compiler takes along.
#[cfg(target_arch = "x86_64")]
pub const ALL: &[Level] = &[
    Level { name: "x86-64", needs: &[] },
    Level { name: "x86-64-v3", needs: &["sse4.2", "popcnt", "avx", "avx2", "fma", "f16c", "bmi2"] },
    Level {
        name: "x86-64-v4-vnni",
        needs: &[
            "sse4.2",
            "popcnt",
            "avx",
            "avx2",
            "fma",
            "f16c",
            "bmi2",
            "avx512f",
            "avx512cd",
            "avx512vl",
            "avx512dq",
            "avx512bw",
            "avx512vnni",
        ],
    },
];

/// The levels of this architecture, lowest first.
#[cfg(target_arch = "aarch64")]
pub const ALL: &[Level] = &[
    Level { name: "armv8-a", needs: &[] },
    Level { name: "armv8.2-a-dotprod-fp16", needs: &["lse", "rdm", "crc", "dotprod", "fp16"] },
    Level { name: "armv8.2-a-i8mm", needs: &["lse", "rdm", "crc", "dotprod", "fp16", "i8mm"] },
];

/// No levels are built for this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub const ALL: &[Level] = &[];

impl Level {
    /// The level of a name.
    pub fn named(name: &str) -> Option<&'static Level> {
        ALL.iter().find(|level| level.name == name)
    }

    /// What of its needs is not there.
    pub fn lacking(&self, has: &dyn Fn(&str) -> bool) -> Vec<&'static str> {
        self.needs.iter().copied().filter(|need| !has(need)).collect()
    }
}

/// What to do about a worker of this level that met an instruction that the processor lacks.
pub(crate) fn advice(level: &str) -> String {
    let below = ALL.iter().position(|known| known.name == level).and_then(|at| ALL[..at].last());
    match below {
        Some(below) => format!(
            "CPU level {level} does not run here, though the processor claims what it needs (an emulator or a virtual \
             machine?): take --cpu-level {}",
            below.name
        ),
        None if level == OWN_BUILD => {
            "this program was built for another processor: take a build that carries CPU levels, or build it here".into()
        }
        None => format!("CPU level {level} is the lowest: this processor is older than what the program is built for"),
    }
}
