//! `edge-eval doctor power`.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::measure::Measure;
use super::{print, talk};
use crate::config::TelemetryChoice;
use crate::exit::{Exit, Failure};
use crate::telemetry::overhead::{self, Overhead};
use crate::telemetry::record::{Began, Stretch, Summary, Window};
use crate::threads;

/// Arguments of `doctor power`.
#[derive(Debug, Args)]
pub(super) struct Power {
    #[command(flatten)]
    measure: Measure,
    /// Seconds of the reading
    #[arg(long, value_name = "S", default_value_t = 10)]
    seconds: u64,
    /// Do not compare a load with and without the sampler
    #[arg(long)]
    no_load: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Power {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let mut choice = TelemetryChoice { timeline_s: 0.0, ..TelemetryChoice::default() };
        self.measure.apply(&mut choice)?;
        let slice = Duration::from_millis(if self.no_load { 0 } else { 1000 });
        let cores = threads::here().physical;
        let without = overhead::work(slice, 2, cores);
        let mut measuring = self.measure.start(&choice)?;
        let Some(began) = measuring.began().cloned() else {
            return Err(Failure::usage("with --power off there is nothing to examine"));
        };
        if !self.json {
            talk(&format!("reading for {} s", self.seconds));
        }
        // The first samples fill what a difference needs.
        std::thread::sleep(Duration::from_millis(300));
        let window = measuring.begin(Stretch::IdleUnloaded, 0, None);
        for _ in 0..self.seconds.saturating_mul(10) {
            std::thread::sleep(Duration::from_millis(100));
            measuring.drain();
        }
        measuring.end(window);
        let with = overhead::work(slice, 4, cores);
        let mut reading = None;
        let mut cost = None;
        for entry in measuring.stop() {
            match entry {
                crate::entry::Entry::Window(window) => reading = Some(*window),
                crate::entry::Entry::Ended(ended) => cost = Some(ended.cost),
                _ => {}
            }
        }
        let again = overhead::work(slice, 2, cores);
        let overhead = Overhead::of(&[without, again].concat(), &with, cost.unwrap_or_default());
        let reading = reading.ok_or_else(|| Failure::new(Exit::Failed, "the sampler gave no reading"))?;
        match self.json {
            true => print(&format!("{:#}\n", as_json(&began, &reading, &overhead))),
            false => print(&as_text(&began, &reading, &overhead)),
        }
    }
}

/// Mean power of a channel over the reading, and whether it was long enough to be quoted.
fn mean_w(window: &Window, index: usize) -> Option<(f64, bool)> {
    let energy = window.energy.get(index)?;
    let span = window.end.since_us(window.begin) as f64;
    let quoted = energy.energy_uj.is_some();
    energy.energy_uj.or(energy.short_uj).filter(|_| span > 0.0).map(|uj| (uj / span, quoted))
}

fn as_text(began: &Began, window: &Window, overhead: &Overhead) -> String {
    let mut lines = Vec::new();
    let mut index = 0;
    for source in &began.sources {
        lines.push(format!("found    {}  {}", source.id, source.place));
        for channel in &source.channels {
            let energy = window.energy.get(index);
            let value = match mean_w(window, index) {
                Some((watts, true)) => format!("{watts:.3} W"),
                Some((watts, false)) => format!("{watts:.3} W (too short to be quoted)"),
                None => {
                    energy.and_then(|energy| energy.missing).map_or("-".to_owned(), |why| why.to_string())
                }
            };
            let quoted = if began.headline == u16::try_from(index).ok() { "  <- quoted" } else { "" };
            let readings = energy.map_or(0, |energy| energy.readings);
            let note = if channel.note.is_empty() { String::new() } else { format!("  ({})", channel.note) };
            lines.push(format!(
                "         {:<18} {:<17} {:<9} {value}, {readings} readings{quoted}{note}",
                channel.name,
                channel.domain.word(),
                channel.kind.word()
            ));
            index += 1;
        }
        lines.extend(source.notes.iter().map(|note| format!("         note: {note}")));
    }
    for absent in &began.absent {
        lines.push(
            format!("missing  {}  {}  {}", absent.id, absent.reason, absent.looked_at).trim_end().to_owned(),
        );
        lines.extend(absent.remedy.iter().map(|remedy| format!("         remedy: {remedy}")));
    }
    match began.missing {
        None => {}
        Some(reason) => lines.push(format!("power is not measured here: {reason}")),
    }
    lines.extend(state_lines(began, &window.state));
    lines.extend(began.notes.iter().map(|note| format!("note     {note}")));
    lines.extend(overhead.lines().into_iter().map(|line| format!("sampler  {line}")));
    lines.join("\n") + "\n"
}

fn state_lines(began: &Began, state: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(board) = &began.conditions.board {
        lines.push(format!("machine  {board}"));
    }
    if let Some(mode) = &began.conditions.power_mode {
        lines.push(format!("mode     {mode}"));
    }
    for (name, mc) in began.temperatures.iter().zip(&state.hottest_mc) {
        if let Some(mc) = mc {
            lines.push(format!("heat     {name} {:.1} C", *mc as f64 / 1e3));
        }
    }
    for (name, khz) in began.clocks.iter().zip(&state.clock_khz) {
        if let Some(khz) = khz {
            lines.push(format!("clock    {name} {} MHz", khz / 1000));
        }
    }
    if state.hottest_mc.iter().flatten().next().is_none() {
        lines.push("heat     no thermometer can be read".to_owned());
    }
    if let Some(others) = state.others_permille {
        lines.push(format!("load     {:.1} % by other processes", others as f64 / 10.0));
    }
    lines
}

fn as_json(began: &Began, window: &Window, overhead: &Overhead) -> Value {
    let mut index = 0;
    let mut sources = Vec::new();
    for source in &began.sources {
        let mut channels = Vec::new();
        for channel in &source.channels {
            let mean = mean_w(window, index);
            channels.push(json!({
                "channel": channel,
                "quoted": began.headline == u16::try_from(index).ok(),
                "mean_w": mean.map(|mean| mean.0),
                "long_enough": mean.map(|mean| mean.1),
                "reading": window.energy.get(index),
            }));
            index += 1;
        }
        sources.push(
            json!({ "id": source.id, "place": source.place, "notes": source.notes, "channels": channels }),
        );
    }
    json!({
        "sources": sources,
        "absent": began.absent,
        "missing": began.missing,
        "conditions": began.conditions,
        "state": window.state,
        "notes": began.notes,
        "sampler": overhead,
    })
}
