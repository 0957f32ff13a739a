//! What workers are started from.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::image::Image;
use super::{AUTO, Level, choose, has};
use crate::exit::{Exit, Failure};
use crate::parcel::{LEVELS, Parcel, ParcelError};

/// What takes the place of a level's name where a program is its own worker.
pub const OWN_BUILD: &str = "own-build";

/// Through what workers are started: a command and its arguments, by spaces. For programs of another architecture on a
/// machine that emulates them, where the kernel does not know how.
const EMULATOR: &str = "EDGE_EVAL_EMULATOR";

/// Largest worker that is unpacked.
const MOST_BYTES: u64 = 256 << 20;

/// What workers are started from: this program, or a build for a level that it carries.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    level: &'static str,
    /// Keeps what `path` names.
    image: Option<Arc<Image>>,
    emulator: Vec<OsString>,
}

impl Program {
    /// Finds the worker for a level; [`AUTO`] for the best that runs here.
    pub fn find(wanted: &str) -> Result<Program, Failure> {
        let own = own_path()?;
        match Carried::by(&own).map_err(damaged)? {
            Some(carried) => Program::carried(&carried, wanted),
            None if wanted == AUTO => Ok(Program::at(own)),
            None => Err(Failure::usage(choose(wanted, &[], &has).err().unwrap_or_default())),
        }
    }

    /// The worker of a level that a program carries.
    pub fn carried(carried: &Carried, wanted: &str) -> Result<Program, Failure> {
        let level = choose(wanted, &carried.names(), &has).map_err(Failure::usage)?;
        let bytes = carried.worker(level).map_err(damaged)?;
        let image = Image::new(&bytes).map_err(|error| {
            Failure::new(
                Exit::Failed,
                format!("the worker of CPU level {} cannot be started: {error}", level.name),
            )
        })?;
        Ok(Program { level: level.name, image: Some(Arc::new(image)), ..Program::at(PathBuf::new()) })
    }

    /// A program file that is its own worker.
    pub fn at(path: PathBuf) -> Program {
        let emulator = std::env::var_os(EMULATOR).unwrap_or_default();
        let emulator = emulator.to_string_lossy().split_whitespace().map(OsString::from).collect();
        Program { path, level: OWN_BUILD, image: None, emulator }
    }

    /// Name of the level, or [`OWN_BUILD`].
    pub fn level(&self) -> &'static str {
        self.level
    }

    /// Where it lies, for people.
    pub fn place(&self) -> String {
        match &self.image {
            Some(image) => format!("CPU level {}, from {}", self.level, image.place),
            None => self.path.display().to_string(),
        }
    }

    /// The command that starts a worker.
    pub(crate) fn command(&self) -> tokio::process::Command {
        let path = self.image.as_ref().map_or_else(|| self.path.clone(), |image| image.path());
        let mut words = self.emulator.iter().cloned().chain([path.into_os_string()]);
        let mut command = tokio::process::Command::new(words.next().unwrap_or_default());
        command.args(words).arg(crate::cli::WORKER);
        command
    }
}

/// The workers that a program carries.
#[derive(Debug)]
pub struct Carried(Parcel);

impl Carried {
    /// Looks into a program; `None` where it carries no worker.
    pub fn by(program: &Path) -> Result<Option<Carried>, ParcelError> {
        Ok(Parcel::of(program)?.filter(|parcel| parcel.has(LEVELS)).map(Carried))
    }

    /// Looks into this program.
    pub fn here() -> Result<Option<Carried>, Failure> {
        Carried::by(&own_path()?).map_err(damaged)
    }

    /// Names of their levels.
    pub fn names(&self) -> Vec<String> {
        let members = self.0.members().iter();
        members.filter_map(|member| member.name.strip_prefix(LEVELS)).map(str::to_owned).collect()
    }

    fn worker(&self, level: &Level) -> Result<Vec<u8>, ParcelError> {
        self.0.bytes(&format!("{LEVELS}{}", level.name), MOST_BYTES)
    }
}

fn damaged(error: ParcelError) -> Failure {
    Failure::input(error.to_string())
}

/// This program.
fn own_path() -> Result<PathBuf, Failure> {
    crate::itself::program().ok_or_else(|| {
        Failure::new(Exit::Failed, "cannot find this program to start workers: start it by its path")
    })
}
