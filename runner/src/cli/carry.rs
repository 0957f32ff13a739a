//! `edge-eval __carry`: the last step of `cross/build.sh`. Hidden, because it is of no use to those who have the result.

use std::path::PathBuf;

use clap::Args;

use super::print;
use crate::exit::{Exit, Failure};
use crate::parcel::{self, Base, LEVELS, Material, ParcelError};

/// Arguments of `__carry`.
#[derive(Debug, Args)]
pub(super) struct Carry {
    /// The program without workers
    program: PathBuf,
    /// The file to make
    out: PathBuf,
    /// A worker by the name of its level
    #[arg(required = true, value_name = "LEVEL=FILE")]
    workers: Vec<String>,
}

impl Carry {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let failed = |error: ParcelError| Failure::disk(error.to_string());
        let base = Base::of(&self.program).map_err(failed)?;
        let mut members = Vec::new();
        for worker in &self.workers {
            let (level, file) = worker
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("{worker}: give a worker as LEVEL=FILE")))?;
            members.push(Material::file(format!("{LEVELS}{level}"), file));
        }
        let written = parcel::write(&base, members, &self.out, &mut |_| ()).map_err(failed)?;
        for member in written {
            print(&format!("{}: {} bytes, {} kept\n", member.name, member.bytes, member.kept_bytes))?;
        }
        Ok(Exit::Done)
    }
}
