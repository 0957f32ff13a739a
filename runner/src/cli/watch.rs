//! `edge-eval watch`.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use clap::Args;

use super::measure::Measure;
use super::print;
use crate::config::TelemetryChoice;
use crate::exit::{Exit, Failure};
use crate::telemetry::record::Began;
use crate::telemetry::sample::{Sample, known};
use crate::telemetry::throttle;

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub(super) struct Watch {
    #[command(flatten)]
    measure: Measure,
    /// End after so many seconds; at Ctrl-C when absent
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// Seconds between two pictures
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    every: f64,
}

impl Watch {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        if !(0.05..=3600.0).contains(&self.every) {
            return Err(Failure::usage("--every: give 0.05 to 3600 seconds"));
        }
        let mut choice = TelemetryChoice { timeline_s: 0.0, ..TelemetryChoice::default() };
        self.measure.apply(&mut choice)?;
        let mut measuring = self.measure.start(&choice)?;
        let Some(began) = measuring.began().cloned() else {
            return Err(Failure::usage("with --power off there is nothing to watch"));
        };
        let terminal = std::io::stdout().is_terminal();
        let started = Instant::now();
        loop {
            std::thread::sleep(Duration::from_secs_f64(self.every));
            let Some(sample) = measuring.latest() else { continue };
            let picture = match terminal {
                // Home, picture, clear what is left of the one before.
                true => format!("\x1b[H\x1b[2J{}", picture(&began, &sample).join("\n") + "\n"),
                false => format!("{}\n", picture(&began, &sample).join("; ")),
            };
            print(&picture)?;
            if self.seconds.is_some_and(|seconds| started.elapsed() >= Duration::from_secs(seconds)) {
                measuring.stop();
                return Ok(Exit::Done);
            }
        }
    }
}

/// The readings, one line each.
fn picture(began: &Began, sample: &Sample) -> Vec<String> {
    let mut lines = Vec::new();
    let mut index = 0;
    for source in &began.sources {
        for channel in &source.channels {
            let value = known(sample.power_uw[index])
                .map_or("-".to_owned(), |uw| format!("{:.3} W", uw as f64 / 1e6));
            let quoted = if began.headline == u16::try_from(index).ok() { " *" } else { "" };
            lines.push(format!(
                "{} {} ({}): {value}{quoted}",
                source.id,
                channel.name,
                channel.domain.word()
            ));
            index += 1;
        }
    }
    if let Some(reason) = began.missing {
        lines.push(format!("power: {reason}"));
    }
    let state = &sample.state;
    for (name, mc) in began.temperatures.iter().zip(state.temperature_mc) {
        lines.extend(known(mc).map(|mc| format!("{name}: {:.1} C", mc as f64 / 1e3)));
    }
    for (name, khz) in began.clocks.iter().zip(state.clock_khz) {
        lines.extend(known(khz).map(|khz| format!("{name}: {} MHz", khz / 1000)));
    }
    let mut number = |name: &str, value: i64, unit: f64, suffix: &str| {
        lines.extend(known(value).map(|value| format!("{name}: {:.1}{suffix}", value as f64 / unit)));
    };
    number("available memory", state.available_bytes, (1u64 << 20) as f64, " MiB");
    number("load", state.others_permille, 10.0, " %");
    number("throttle events since boot", state.events, 1.0, "");
    number("battery", state.battery_percent, 1.0, " %");
    if let Some(word) = known(state.pi_flags).and_then(|word| u32::try_from(word).ok()) {
        let now = throttle::now(word);
        lines.push(format!("throttling: {}", if now.is_empty() { "no".to_owned() } else { now.join(", ") }));
    }
    lines
}
