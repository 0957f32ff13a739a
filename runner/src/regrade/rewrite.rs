//! Writes what was read again as a run folder of its own; the one it comes from is never touched.

use std::path::{Path, PathBuf};

use super::Regrader;
use crate::entry::{Entry, FORMAT, Header};
use crate::exit::{Exit, Failure};
use crate::log::{Fsync, Log, LogError, Reader, file_of};

/// What stands in the identity of a run that was regraded.
const REGRADED: &str = "-regraded-";

/// Whether a run was made by regrading another one.
pub fn is_regraded(header: &Header) -> bool {
    header.run_id.contains(REGRADED)
}

/// The folder beside a run's own: `runs/x-regraded` for `runs/x`.
pub fn beside(dir: &Path) -> Result<PathBuf, Failure> {
    let whole = match dir.file_name() {
        Some(_) => dir.to_owned(),
        None => dir.canonicalize().map_err(|error| Failure::disk(format!("{}: {error}", dir.display())))?,
    };
    let name = whole.file_name().ok_or_else(|| Failure::usage(format!("{}: has no name", dir.display())))?;
    let mut regraded = name.to_owned();
    regraded.push("-regraded");
    Ok(whole.with_file_name(regraded))
}

/// Writes the log of a run again, entry by entry, with every item read anew and a header that says so. A folder that
/// is already there is refused.
pub fn rewrite(dir: &Path, header: &Header, regrader: &Regrader) -> Result<PathBuf, Failure> {
    let target = beside(dir)?;
    if target.exists() {
        return Err(Failure::new(
            Exit::Mismatch,
            format!("{}: is there already: move it away to regrade again", target.display()),
        ));
    }
    let header = Entry::Header(Box::new(Header {
        run_id: format!("{}{REGRADED}{}", header.run_id, datasets::reading::VERSION),
        program: format!("edge-eval {}", env!("CARGO_PKG_VERSION")),
        format: FORMAT,
        reading_version: datasets::reading::VERSION,
        ..header.clone()
    }));
    let mut log = Log::create(&target, &header, Fsync::EveryGroup).map_err(disk)?;
    log.append(&header).map_err(disk)?;
    for record in Reader::<Entry>::open(&file_of(dir)).map_err(disk)? {
        // What is damaged there is missing here: both logs have the same groups.
        let Ok(record) = record else { continue };
        let entry = match record.entry {
            Entry::Header(_) => continue,
            Entry::Item(item) => {
                let read = regrader.record(&item);
                let (item, _) = read.map_err(|message| Failure::new(Exit::Mismatch, message))?;
                Entry::Item(Box::new(item))
            }
            other => other,
        };
        log.append(&entry).map_err(disk)?;
    }
    log.close().map_err(disk)?;
    Ok(target)
}

fn disk(error: LogError) -> Failure {
    Failure::disk(error.to_string())
}
