//! The arguments that choose how power is measured; shared by `run`, `doctor power` and `watch`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::clock::SystemClock;
use crate::config::TelemetryChoice;
use crate::exit::{Exit, Failure};
use crate::telemetry::measuring::Measuring;
use crate::telemetry::root::Folder;

/// How power is measured.
#[derive(Debug, Default, Args)]
pub(super) struct Measure {
    /// Power source: auto, none, off, meter, jetson, pi-pmic, rapl, battery, nvidia-smi, or hwmon:NAME[:LABEL]
    #[arg(long, value_name = "SOURCE")]
    power: Option<String>,
    /// Command of an external meter: prints {"w": 6.42} or a bare number of watts for each sample
    #[arg(long, value_name = "COMMAND")]
    meter: Option<String>,
    /// What that meter covers: wall, dc-input-board, ...
    #[arg(long, value_name = "DOMAIN")]
    meter_domain: Option<String>,
    /// Samples per second; 0 for what suits the board
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Read sensors below this folder instead of `/`: a captured or made-up system
    #[arg(long, value_name = "DIR", hide = true)]
    root: Option<PathBuf>,
}

impl Measure {
    /// Changes what a configuration chose. What makes no sense is refused here, before a run folder is made, by its flag.
    pub(super) fn apply(&self, choice: &mut TelemetryChoice) -> Result<(), Failure> {
        let set = |place: &mut String, value: &Option<String>| {
            if let Some(value) = value {
                place.clone_from(value);
            }
        };
        set(&mut choice.power, &self.power);
        set(&mut choice.meter, &self.meter);
        set(&mut choice.meter_domain, &self.meter_domain);
        choice.rate_hz = self.rate.unwrap_or(choice.rate_hz);
        choice.options().map(drop).map_err(|(key, message)| {
            let flag = match key {
                "power" if self.power.is_some() => "--power: ",
                "rate-hz" if self.rate.is_some() => "--rate: ",
                "meter-domain" if self.meter_domain.is_some() => "--meter-domain: ",
                _ => "",
            };
            Failure::usage(format!("{flag}{message}"))
        })
    }

    /// Begins to measure.
    pub(super) fn start(&self, choice: &TelemetryChoice) -> Result<Measuring, Failure> {
        let root = Arc::new(Folder::at(self.root.as_deref().unwrap_or(Path::new("/"))));
        let clock = Arc::new(SystemClock::new());
        let options = choice.options().map_err(|(_, message)| Failure::usage(message))?;
        match options {
            None => Ok(Measuring::off(root, clock)),
            Some(options) => Measuring::start(root, clock, &options)
                .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the sampler: {error}"))),
        }
    }
}
