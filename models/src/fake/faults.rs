//! Faults on request: the process dies, hangs, grows or talks out of turn at a job that was named.

use std::time::Duration;

/// What goes wrong, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Faults {
    pub(super) delay_us: u64,
    pub(super) die_after: Option<u64>,
    pub(super) die_on: Option<String>,
    pub(super) die_measuring: Option<u64>,
    pub(super) hang_after: Option<u64>,
    pub(super) hang_on: Option<String>,
    pub(super) fail_on: Option<String>,
    pub(super) babble: bool,
    pub(super) allocate_mib: usize,
    pub(super) grow_mib: usize,
    pub(super) strike: Option<Strike>,
    pub(super) strike_after: u64,
    pub(super) once: Option<String>,
}

/// What befalls a worker on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strike {
    Signal(rustix::process::Signal),
    Hang,
    /// Noise on the pipe of the frames.
    Garbage,
    /// An answer to a job that nobody asked.
    Surplus,
}

impl Strike {
    /// The one of this name.
    pub(super) fn named(word: &str) -> Option<Strike> {
        use rustix::process::Signal;
        Some(match word {
            "abort" => Strike::Signal(Signal::ABORT),
            "ill" => Strike::Signal(Signal::ILL),
            "bus" => Strike::Signal(Signal::BUS),
            "kill" => Strike::Signal(Signal::KILL),
            "hang" => Strike::Hang,
            "garbage" => Strike::Garbage,
            "surplus" => Strike::Surplus,
            _ => return None,
        })
    }
}

/// The faults of a process, and how far it is on the way to them.
pub(super) struct Fate {
    faults: Faults,
    jobs_done: u64,
    prompts_measured: u64,
    /// Memory held on request.
    ballast: Vec<u8>,
    /// The next round has one answer too many.
    surplus: bool,
}

impl Fate {
    /// Nothing has been done and nothing is held yet.
    pub(super) fn of(faults: Faults) -> Self {
        Fate { faults, jobs_done: 0, prompts_measured: 0, ballast: Vec::new(), surplus: false }
    }

    /// Takes the memory that is held from the start.
    pub(super) fn allocate(&mut self) {
        self.hold(self.faults.allocate_mib);
    }

    /// Memory held from the start.
    pub(super) fn allocated_bytes(&self) -> u64 {
        (self.faults.allocate_mib as u64) << 20
    }

    fn hold(&mut self, more_mib: usize) {
        let before = self.ballast.len();
        self.ballast.resize(before + (more_mib << 20), 0);
        // Untouched pages are not memory yet.
        self.ballast[before..].iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    }

    /// Counts prompts that are measured.
    pub(super) fn measure(&mut self, prompts: usize) {
        self.prompts_measured += prompts as u64;
        if self.faults.die_measuring.is_some_and(|most| self.prompts_measured > most) {
            std::process::abort();
        }
    }

    /// Whether the job with this prompt is to fail.
    pub(super) fn fails(&self, text: &str) -> bool {
        is_in(&self.faults.fail_on, text)
    }

    /// Whether this round has one answer too many.
    pub(super) fn take_surplus(&mut self) -> bool {
        std::mem::take(&mut self.surplus)
    }

    /// What happens before the job with this prompt is answered.
    pub(super) fn befall(&mut self, text: &str) {
        if self.faults.babble {
            // On purpose: a library that prints to the standard output must not disturb the frames.
            #[allow(clippy::print_stdout)]
            {
                println!("fake engine babbles: {} \u{0} job {}", self.ballast.len(), self.jobs_done);
            }
        }
        if is_in(&self.faults.die_on, text) || self.faults.die_after == Some(self.jobs_done) {
            std::process::abort();
        }
        if is_in(&self.faults.hang_on, text) || self.faults.hang_after == Some(self.jobs_done) {
            loop {
                std::thread::sleep(Duration::from_secs(3600));
            }
        }
        if let Some(strike) = self.is_struck() {
            self.suffer(strike);
        }
        self.hold(self.faults.grow_mib);
        std::thread::sleep(Duration::from_micros(self.faults.delay_us));
        self.jobs_done += 1;
    }

    /// Whether it is time for the fault that was asked for; with `once`, one process of all has it.
    fn is_struck(&self) -> Option<Strike> {
        let strike = self.faults.strike.filter(|_| self.jobs_done == self.faults.strike_after)?;
        let mine = |path: &String| std::fs::File::create_new(path).is_ok();
        self.faults.once.as_ref().is_none_or(mine).then_some(strike)
    }

    fn suffer(&mut self, strike: Strike) {
        match strike {
            Strike::Signal(signal) => {
                // Twice: the language's own handler takes a first bus error for a look at the stack's guard.
                for _ in 0..2 {
                    let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
                }
            }
            Strike::Hang => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            // The worker has its frames on the first free descriptor (Linux names it so).
            Strike::Garbage => {
                use std::io::Write;
                if let Ok(mut pipe) = std::fs::OpenOptions::new().write(true).open("/proc/self/fd/3") {
                    let _ = pipe.write_all(b"what is this?\0\x01\x02\0\0garbage\0");
                }
            }
            Strike::Surplus => self.surplus = true,
        }
    }
}

fn is_in(pattern: &Option<String>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| text.contains(pattern.as_str()))
}
