//! What a bundle leaves: `NAME.eval`, the log as one file, and `NAME.html`, the page. `NAME.run` is the run at work.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::entry::Entry;
use crate::exit::{Exit, Failure};
use crate::log::{LOCK_FILE, LOG_FILE, Lock, LogError, beside, set_aside, sync_dir, verify};
use crate::plan::Plan;
use crate::report::{ItemChoice, RunLog, html};

/// Names of a bundle's results.
#[derive(Clone, Debug)]
pub struct Results {
    /// The log as one file.
    pub log: PathBuf,
    /// The page.
    pub page: PathBuf,
    /// The run folder; gone when the run is complete.
    pub work: PathBuf,
}

impl Results {
    /// The results of the bundle `name`, in a folder. The whole name is kept: two bundles never share results.
    pub fn of(folder: &Path, name: &str) -> Results {
        let named = |ending: &str| folder.join(format!("{name}.{ending}"));
        Results { log: named("eval"), page: named("html"), work: named("run") }
    }

    /// What an earlier start left as one file, where no run is at work. A page without a log is not of this bundle, and a log in
    /// which nothing is recorded is kept aside. `say` hears of that.
    pub fn earlier(&self, say: &mut dyn FnMut(&str)) -> Result<Option<RunLog>, Failure> {
        let work = self.work.join(LOG_FILE);
        let has_entries = |log: &Path| log.exists() && !is_empty(log);
        if has_entries(&work) {
            return Ok(None);
        }
        if !has_entries(&self.log) && self.page.symlink_metadata().is_ok() {
            return Err(Failure::new(
                Exit::Mismatch,
                format!(
                    "{} is there, and no result that it belongs to: move it away, then start again",
                    self.page.display()
                ),
            ));
        }
        for log in [&work, &self.log].into_iter().filter(|log| log.exists() && is_empty(log)) {
            let kept_in = set_aside(log).map_err(|error| Failure::disk(error.to_string()))?;
            say(&format!(
                "{}: nothing is recorded in it; it is kept as {}",
                log.display(),
                kept_in.display()
            ));
        }
        self.log.exists().then(|| RunLog::read(&self.log)).transpose()
    }

    /// Makes an incomplete earlier result the run at work again: the log appears there whole or not at all.
    pub fn go_on(&self) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.work).map_err(|error| disk(&self.work, error))?;
        let _lock = Lock::acquire(&self.work).map_err(|error| Failure::disk(error.to_string()))?;
        let log = self.work.join(LOG_FILE);
        // Another start may have been faster.
        if log.exists() { Ok(()) } else { put(&log, &mut |new| copy(&self.log, new)) }
    }

    /// Hands over what there is as one file. A complete run's folder goes.
    pub fn hand_over(&self) -> Result<RunLog, Failure> {
        let log = self.work.join(LOG_FILE);
        let run = RunLog::read(&log)?;
        if run.complete.is_some() {
            std::fs::rename(&log, &self.log).map_err(|error| disk(&self.log, error))?;
            let _ = std::fs::remove_file(self.work.join(LOCK_FILE));
            // What recovery kept aside stays, and the folder with it.
            let _ = std::fs::remove_dir(&self.work);
        } else {
            put(&self.log, &mut |new| copy(&log, new))?;
        }
        Ok(run)
    }

    /// Writes the page of a run.
    pub fn write_page(&self, run: &RunLog, mass_floor: f64) -> Result<(), Failure> {
        let page = html(run, mass_floor, ItemChoice { per_place: 3, named: Vec::new() }, None, &[])?;
        put(&self.page, &mut |new| new.write_all(page.as_bytes()))
    }

    /// The failure of a complete result whose log is damaged all the same; `None` where it is whole.
    pub fn damage(&self, run: &RunLog) -> Option<Failure> {
        let summary = &run.summary;
        (!summary.is_whole()).then(|| {
            Failure::new(
                Exit::Damaged,
                format!(
                    "{}: the log is damaged ({summary}); every group of questions is whole, so the page is right, but not all that \
                     was measured beside them is there: keep it, or move it and {} away and start again",
                    self.log.display(),
                    self.page.display()
                ),
            )
        })
    }

    /// The failure of a result that belongs to another run.
    pub fn other_run(&self, difference: &str) -> Failure {
        Failure::new(
            Exit::Mismatch,
            format!(
                "{} holds the results of another run ({difference}): move it and {} away, then start again",
                self.log.display(),
                self.page.display()
            ),
        )
    }
}

fn disk(path: &Path, error: io::Error) -> Failure {
    Failure::disk(format!("{}: {error}", path.display()))
}

/// Whether nothing is recorded in a log. One that cannot be read is not empty.
fn is_empty(log: &Path) -> bool {
    match verify::<Entry>(log) {
        Err(LogError::Headerless { .. }) => true,
        Ok(found) => found.is_empty(),
        Err(_) => false,
    }
}

/// Puts a file in its place whole, forced to the device, or leaves what was there.
fn put(path: &Path, fill: &mut dyn FnMut(&mut File) -> io::Result<()>) -> Result<(), Failure> {
    let new = beside(path, "new");
    let written = File::create(&new).and_then(|mut file| {
        fill(&mut file)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| std::fs::rename(&new, path)) {
        let _ = std::fs::remove_file(&new);
        return Err(disk(path, error));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    sync_dir(folder).map_err(|error| disk(folder, error))
}

fn copy(from: &Path, to: &mut File) -> io::Result<()> {
    io::copy(&mut File::open(from)?, to).map(drop)
}

/// How long the rest of a run will take, by the groups that are in its log: those of the same model and task where there
/// are some, else of the same model, else all. `None` before the first.
pub fn remaining_us(plan: &Plan, run: &RunLog) -> Option<u64> {
    let mean = |wanted: &dyn Fn(u16, u16) -> bool| {
        let found = run.groups.values().filter(|end| wanted(end.at.model, end.at.task));
        let (count, sum) =
            found.fold((0u64, 0u64), |(count, sum), end| (count + 1, sum.saturating_add(end.wall_us)));
        (count > 0).then(|| sum / count)
    };
    let left = (0..plan.models.len())
        .flat_map(|model| plan.own_groups(model))
        .filter(|group| !run.groups.contains_key(&group.at.group));
    left.map(|group| {
        mean(&|model, task| (model, task) == (group.at.model, group.at.task))
            .or_else(|| mean(&|model, _| model == group.at.model))
            .or_else(|| mean(&|_, _| true))
    })
    .try_fold(0u64, |sum, each| Some(sum.saturating_add(each?)))
}
