//! The exit codes, in one table.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All was done.
    Done = 0,
    /// Something failed that is no fault of the input.
    Failed = 1,
    /// Command line or configuration cannot be used.
    Usage = 2,
    /// A model file, template or data file cannot be used.
    Input = 3,
    /// A log or result cannot be written or read.
    Disk = 4,
    /// The folder holds another run.
    Mismatch = 5,
    /// A log is damaged.
    Damaged = 6,
    /// The run is complete, but items were lost.
    Lost = 7,
    /// A model does not fit the memory budget.
    Budget = 8,
    /// Stopped on request; the same command resumes.
    Interrupted = 130,
}

impl Exit {
    /// Every code with its meaning, for `--help`, the man page and the README.
    pub const TABLE: [(Exit, &'static str); 10] = [
        (Exit::Done, "all was done"),
        (Exit::Failed, "something failed that is no fault of the input"),
        (Exit::Usage, "the command line or the configuration cannot be used"),
        (Exit::Input, "a model file, a template or a data file cannot be used"),
        (Exit::Disk, "a log or a result cannot be written or read"),
        (Exit::Mismatch, "the folder holds another run; the message names what differs"),
        (Exit::Damaged, "a log is damaged"),
        (Exit::Lost, "the run is complete, but items were lost to failures of the engine"),
        (Exit::Budget, "a model does not fit the memory budget; the message shows what is short"),
        (Exit::Interrupted, "stopped on request; the same command resumes"),
    ];
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(exit as u8)
    }
}

/// Why a command failed: one line for people, and the exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What, where, what to do.
    pub message: String,
    /// The code to exit with.
    pub exit: Exit,
}

impl Failure {
    /// A failure with its code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Failure { message: message.into(), exit }
    }

    /// Command line or configuration cannot be used.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::new(Exit::Usage, message)
    }

    /// A model, template or data file cannot be used.
    pub fn input(message: impl Into<String>) -> Self {
        Failure::new(Exit::Input, message)
    }

    /// A log or result cannot be written or read.
    pub fn disk(message: impl Into<String>) -> Self {
        Failure::new(Exit::Disk, message)
    }
}
