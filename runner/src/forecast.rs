//! What a run will take in time and energy: a short trial of each model on the plan's own items, carried over to all.
//!
//! A trial asks the first items of each task through all their interfaces, twice as many each time, as long as its share
//! of the time lasts. The last, largest batch counts: what items share is spread over more of them. A whole group shares
//! still more, so that the forecast is rather too long than too short.

use std::fmt;
use std::time::{Duration, Instant};

use models::LoadSpec;
use serde::Serialize;

use crate::estimate::Estimate;
use crate::exit::{Exit, Failure};
use crate::levels::Program;
use crate::memory::{System, in_words};
use crate::plan::{Group, Plan};
use crate::supervisor::group::{Account, GroupError, GroupSpec, converse};
use crate::supervisor::{Interrupt, Link, LinkError};
use crate::telemetry::energy::Energy;
use crate::telemetry::measuring::Measuring;
use crate::telemetry::missing::Missing;
use crate::telemetry::record::{Stretch, Window};

/// Items of the first batch.
const FIRST: usize = 1;

/// What one model will take.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Forecast {
    /// Name of the model.
    pub model: String,
    /// Why there is none, or not for all tasks.
    pub failure: Option<String>,
    /// Seconds to load it.
    pub load_s: f64,
    /// Task by task.
    pub rows: Vec<Row>,
    /// Seconds of idle power that are measured around it.
    pub idle_s: f64,
    /// Seconds of all of it; `None` where a task has no figure.
    pub total_s: Option<f64>,
    /// Mean power at work, in watts.
    pub mean_w: Option<f64>,
    /// Half the width of what sampling leaves of it.
    pub mean_w_doubt: Option<f64>,
    /// Joules of all tasks.
    pub energy_j: Option<f64>,
    /// Why there is no energy.
    pub missing: Option<Missing>,
    /// Private memory of the worker at its peak.
    pub private_bytes: Option<u64>,
    /// Its resident memory at its peak.
    pub resident_bytes: Option<u64>,
}

/// What a task will take.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the task.
    pub task: String,
    /// Items of the run.
    pub items: u64,
    /// Items of the batch that counts.
    pub tried: u64,
    /// Seconds that it took, through all interfaces.
    pub tried_s: f64,
    /// Seconds of all items; `None` where not even the first batch ended in its time.
    pub seconds: Option<f64>,
}

/// Tries every model; `probe` is the time for all of them. `estimates` are those of the same plan.
pub fn forecast(
    plan: &Plan,
    estimates: &[Estimate],
    program: Program,
    measuring: Measuring,
    probe: Duration,
) -> Result<Vec<Forecast>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the runtime: {error}")))?;
    Ok(runtime.block_on(trials(plan, estimates, &program, measuring, probe)))
}

/// The same for a caller that has a runtime; dropped, it ends its worker.
pub(crate) async fn trials(
    plan: &Plan,
    estimates: &[Estimate],
    program: &Program,
    mut measuring: Measuring,
    probe: Duration,
) -> Vec<Forecast> {
    let headline = measuring.began().and_then(|began| began.headline).map(usize::from);
    let unmeasured = match measuring.began() {
        None => Some(Missing::Off),
        Some(began) => began.missing,
    };
    let each = probe / plan.models.len().max(1) as u32;
    let mut forecasts = Vec::new();
    for (model, estimate) in estimates.iter().enumerate() {
        let mut forecast = Forecast { model: estimate.model.clone(), ..Forecast::default() };
        let stretch = measuring.begin(Stretch::Group, model as u16, None);
        let tried = Trial { plan, model, estimate, program, until: Instant::now() + each };
        if let Err(reason) = tried.run(&mut forecast, &mut measuring).await {
            forecast.failure = Some(reason);
        }
        measuring.end(stretch);
        forecast.conclude(plan, model, &measuring);
        forecasts.push(forecast);
    }
    let windows: Vec<Window> = measuring
        .stop()
        .into_iter()
        .filter_map(
            |entry| if let crate::entry::Entry::Window(window) = entry { Some(*window) } else { None },
        )
        .collect();
    for (model, forecast) in forecasts.iter_mut().enumerate() {
        let window = windows.iter().find(|window| usize::from(window.model) == model);
        forecast.add_energy(window, headline, unmeasured);
    }
    forecasts
}

struct Trial<'a> {
    plan: &'a Plan,
    model: usize,
    estimate: &'a Estimate,
    program: &'a Program,
    until: Instant,
}

impl Trial<'_> {
    async fn run(&self, forecast: &mut Forecast, measuring: &mut Measuring) -> Result<(), String> {
        let Some(load) = &self.estimate.memory.load else {
            let refusal = self.estimate.memory.refusal.as_ref().map(|refusal| refusal.line());
            return Err(refusal.unwrap_or_else(|| "it does not fit the memory".to_owned()));
        };
        // A run that leaves the number to a probe has its own time for that.
        let parallel = if load.parallel == 0 { 16 } else { load.parallel };
        let load = LoadSpec { parallel, ..load.clone() };
        let words = |doing: &'static str| move |error: LinkError| error.in_words(doing);
        let started = Instant::now();
        let mut link = self.open(&load).await.map_err(words("while loading"))?;
        measuring.set_worker(link.pid());
        forecast.load_s = started.elapsed().as_secs_f64();
        let planned = &self.plan.models[self.model];
        let settings = self.plan.settings(planned);
        let groups: Vec<Group> = self.plan.own_groups(self.model).collect();
        for (task, asked) in self.plan.tasks.iter().enumerate() {
            let own: Vec<&Group> = groups.iter().filter(|group| usize::from(group.at.task) == task).collect();
            let Some(first) = own.first() else { continue };
            let items: usize = own.iter().map(|group| self.plan.items(**group).len()).sum();
            let left = self.until.saturating_duration_since(Instant::now());
            let share = left / (self.plan.tasks.len() - task) as u32;
            let all = self.plan.items(**first);
            let (mut size, mut spent, mut counts) = (FIRST.min(all.len()), Duration::ZERO, None);
            loop {
                let spec = GroupSpec {
                    at: first.at,
                    items: &all[..size],
                    conditions: &asked.conditions,
                    settings: &settings[task],
                    renderer: &planned.renderer,
                };
                let begun = Instant::now();
                let mut tracks = spec.tracks();
                let mut account = Account::default();
                let mut hear = |_| measuring.drain();
                let answers = converse(&mut link, spec.renderer, &mut tracks, &mut account, &mut hear);
                match tokio::time::timeout(share.saturating_sub(spent), answers).await {
                    Err(_) if counts.is_none() => {
                        forecast.rows.push(row(&asked.record.name, items, size, share, None));
                        return Err(format!(
                            "{}: its first item did not end in {:.0} s: give a longer --probe",
                            asked.record.name,
                            share.as_secs_f64()
                        ));
                    }
                    // The worker is still at it: another one goes on.
                    Err(_) => {
                        link = self.open(&load).await.map_err(words("while loading"))?;
                        break;
                    }
                    Ok(Err(GroupError::Link(error))) => return Err(words("at work")(error)),
                    Ok(Err(GroupError::Template(error))) => return Err(error.to_string()),
                    Ok(Ok(())) => {}
                }
                let took = begun.elapsed();
                spent += took;
                counts = Some((size, took));
                link.end_group().await.map_err(words("at work"))?;
                // Twice as many take about twice as long.
                if size == all.len() || spent + 2 * took > share {
                    break;
                }
                size = (2 * size).min(all.len());
            }
            if let Some((tried, took)) = counts {
                let seconds = took.as_secs_f64() / tried as f64 * items as f64;
                forecast.rows.push(row(&asked.record.name, items, tried, took, Some(seconds)));
            }
        }
        let peaks = link.memory();
        forecast.private_bytes = peaks.map(|peaks| peaks.private_bytes);
        forecast.resident_bytes = peaks.map(|peaks| peaks.high_water_bytes);
        Ok(())
    }

    async fn open(&self, load: &LoadSpec) -> Result<Link, LinkError> {
        let choice = &self.plan.config.memory;
        let guard = choice.guard(self.estimate.memory.limit.clone(), &System::default());
        let deadline = Duration::from_secs(self.plan.config.engine.deadline_s);
        let mut link = Link::guarded(self.program, deadline, Interrupt::never(), &guard)?;
        link.open(load.clone()).await?;
        Ok(link)
    }
}

fn row(task: &str, items: usize, tried: usize, took: Duration, seconds: Option<f64>) -> Row {
    Row {
        task: task.to_owned(),
        items: items as u64,
        tried: tried as u64,
        tried_s: took.as_secs_f64(),
        seconds,
    }
}

impl Forecast {
    fn conclude(&mut self, plan: &Plan, model: usize, measuring: &Measuring) {
        let turns = plan.visits().iter().filter(|visit| visit.model == model).count() as f64;
        // Before loading, after it, and at the end of each turn.
        let idle = if measuring.has_power() { 3.0 * plan.config.telemetry.idle_s as f64 } else { 0.0 };
        self.idle_s = idle * turns;
        let tasks: Option<f64> = self.rows.iter().map(|row| row.seconds).sum();
        let whole = self.failure.is_none() && !self.rows.is_empty();
        self.total_s = tasks.filter(|_| whole).map(|seconds| seconds + self.load_s * turns + self.idle_s);
    }

    fn add_energy(&mut self, window: Option<&Window>, headline: Option<usize>, unmeasured: Option<Missing>) {
        let energy: Option<&Energy> = window.zip(headline).and_then(|(window, at)| window.energy.get(at));
        let (Some(window), Some(energy)) = (window, energy) else {
            self.missing = Some(unmeasured.unwrap_or(Missing::NotLogged));
            return;
        };
        let span_s = window.end.since_us(window.begin) as f64 / 1e6;
        match energy.energy_uj {
            Some(uj) if span_s > 0.0 => {
                self.mean_w = Some(uj / 1e6 / span_s);
                self.mean_w_doubt = energy.doubt_uj.map(|doubt| doubt / 1e6 / span_s);
                let tasks: Option<f64> = self.rows.iter().map(|row| row.seconds).sum();
                self.energy_j = tasks
                    .filter(|_| self.failure.is_none())
                    .zip(self.mean_w)
                    .map(|(seconds, watts)| seconds * watts);
            }
            _ => self.missing = Some(energy.missing.unwrap_or(Missing::TooShort)),
        }
    }
}

/// Hours and minutes where seconds would not be read.
pub fn duration_in_words(seconds: f64) -> String {
    match seconds {
        _ if seconds < 120.0 => format!("{seconds:.0} s"),
        _ if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: from a trial (rather too long than too short)", self.model)?;
        for row in &self.rows {
            let all = row.seconds.map_or("unknown".to_owned(), duration_in_words);
            writeln!(
                f,
                "  {:<16} {:>7} items: {all}  ({} items took {:.1} s)",
                row.task, row.items, row.tried, row.tried_s
            )?;
        }
        if let Some(total) = self.total_s {
            let idle = if self.idle_s > 0.0 {
                format!(", {} of it for idle power", duration_in_words(self.idle_s))
            } else {
                String::new()
            };
            writeln!(f, "  time: {} (loading takes {:.1} s{idle})", duration_in_words(total), self.load_s)?;
        }
        match (self.energy_j, self.mean_w, self.missing) {
            (Some(joules), Some(watts), _) => writeln!(
                f,
                "  energy: {:.0} J ({:.2} Wh) at {watts:.2} W{}",
                joules,
                joules / 3600.0,
                self.mean_w_doubt.map_or(String::new(), |doubt| format!(" ± {doubt:.2}"))
            )?,
            (_, _, Some(missing)) => writeln!(f, "  energy: unknown: {missing}")?,
            _ => writeln!(f, "  energy: unknown: not all tasks have a time")?,
        }
        if let (Some(private), Some(resident)) = (self.private_bytes, self.resident_bytes) {
            writeln!(f, "  memory so far: {} private, {} resident", in_words(private), in_words(resident))?;
        }
        if let Some(failure) = &self.failure {
            writeln!(f, "  no forecast: {failure}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(seconds: &[Option<f64>]) -> Forecast {
        let rows =
            seconds.iter().map(|seconds| row("logic", 100, 4, Duration::from_secs(2), *seconds)).collect();
        Forecast { model: "m".into(), rows, load_s: 3.0, ..Forecast::default() }
    }

    #[test]
    fn energy_is_mean_power_times_the_time_of_all_items() {
        let moment = |seconds: u64| crate::clock::Moment { mono_us: seconds * 1_000_000, wall_us: 0 };
        let energy = Energy {
            energy_uj: Some(60e6),
            missing: None,
            doubt_uj: Some(1.2e6),
            ..Energy::none(Missing::TooShort)
        };
        let window = Window {
            stretch: Stretch::Group,
            model: 0,
            group: None,
            begin: moment(10),
            end: moment(22),
            energy: vec![energy],
            state: Default::default(),
            suspended: false,
            phases: Vec::new(),
        };
        let mut told = forecast(&[Some(50.0), Some(30.0)]);
        told.add_energy(Some(&window), Some(0), None);
        // 60 J in 12 s are 5 W; 80 s of it are 400 J.
        assert_eq!((told.mean_w, told.energy_j), (Some(5.0), Some(400.0)));
        assert!((told.mean_w_doubt.unwrap() - 0.1).abs() < 1e-12);
        assert!(told.to_string().contains("energy: 400 J (0.11 Wh) at 5.00 W ± 0.10"), "{told}");
        let mut half = forecast(&[Some(50.0), None]);
        half.add_energy(Some(&window), Some(0), None);
        assert_eq!((half.mean_w, half.energy_j), (Some(5.0), None), "a task without a time has no energy");
    }

    #[test]
    fn without_a_sensor_the_energy_has_a_reason() {
        let mut told = forecast(&[Some(50.0)]);
        told.add_energy(None, None, Some(Missing::NoSensor));
        assert_eq!((told.energy_j, told.missing), (None, Some(Missing::NoSensor)));
        assert!(told.to_string().contains("energy: unknown: no sensor"), "{told}");
    }

    #[test]
    fn durations_are_told_in_units_that_people_read() {
        assert_eq!([5.0, 119.6, 600.0, 9000.0].map(duration_in_words), ["5 s", "120 s", "10 min", "2.5 h"]);
    }
}
