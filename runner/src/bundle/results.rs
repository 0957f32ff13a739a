//! What a bundle leaves: `NAME.eval`, the log as one file, and `NAME.html`, the page. `NAME.run` is the run at work.

use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};
use crate::log::{LOCK_FILE, LOG_FILE, write_manifest};
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

    /// What an earlier start left as one file, where no run is at work.
    pub fn earlier(&self) -> Result<Option<RunLog>, Failure> {
        if self.work.join(LOG_FILE).exists() || !self.log.exists() {
            return Ok(None);
        }
        RunLog::read(&self.log).map(Some)
    }

    /// Makes an incomplete earlier result the run at work again.
    pub fn go_on(&self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::disk(format!("{}: {error}", self.work.display()));
        std::fs::create_dir_all(&self.work).map_err(failed)?;
        std::fs::copy(&self.log, self.work.join(LOG_FILE)).map_err(failed)?;
        Ok(())
    }

    /// Writes what there is: the log as one file, and the page. A complete run's folder goes.
    pub fn write(&self, mass_floor: f64) -> Result<RunLog, Failure> {
        let log = self.work.join(LOG_FILE);
        let run = RunLog::read(&log)?;
        let failed = |error: std::io::Error| Failure::disk(format!("{}: {error}", self.log.display()));
        if run.complete.is_some() {
            std::fs::rename(&log, &self.log).map_err(failed)?;
            let _ = std::fs::remove_file(self.work.join(LOCK_FILE));
            // What recovery kept aside stays, and the folder with it.
            let _ = std::fs::remove_dir(&self.work);
        } else {
            let mut new = self.log.clone().into_os_string();
            new.push(".new");
            std::fs::copy(&log, &new).and_then(|_| std::fs::rename(&new, &self.log)).map_err(failed)?;
        }
        self.write_page(&run, mass_floor)?;
        Ok(run)
    }

    /// Writes the page of a run.
    pub fn write_page(&self, run: &RunLog, mass_floor: f64) -> Result<(), Failure> {
        let page = html(run, mass_floor, ItemChoice { per_place: 3, named: Vec::new() }, None, &[])?;
        write_manifest(&self.page, page.as_bytes()).map_err(|error| Failure::disk(error.to_string()))?;
        // An earlier page has nothing that this one lacks.
        let mut before = self.page.clone().into_os_string();
        before.push(".prev");
        let _ = std::fs::remove_file(before);
        Ok(())
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
