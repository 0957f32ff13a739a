//! What is measured beside answers. None of it changes an answer, so none of it makes another run.

use serde::{Deserialize, Serialize};

use crate::telemetry::measuring::Options;
use crate::telemetry::probe::{Choice, ORDER, Wanted};
use crate::telemetry::source::Domain;
use crate::telemetry::sources::hwmon::Named;
use crate::telemetry::sources::meter::Meter;

/// What is measured beside answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TelemetryChoice {
    /// `auto`, `none` (no power), `off` (nothing but durations), a source, or `hwmon:NAME[:LABEL]`.
    pub power: String,
    /// Samples per second; 0 for 10, or 5 on a Raspberry Pi.
    pub rate_hz: f64,
    /// Command of an external meter that prints a line for each sample.
    pub meter: String,
    /// What the meter covers: of `meter` and of `hwmon:NAME`.
    pub meter_domain: String,
    /// What the meter is, for results.
    pub meter_description: String,
    /// Milliseconds between two samples of the meter.
    pub meter_every_ms: u64,
    /// Milliseconds that a sample of the meter is on its way.
    pub meter_latency_ms: u64,
    /// Milliseconds by which the meter's clock is ahead of this machine's; its own time stamps are used only when given.
    pub meter_clock_ms: Option<i64>,
    /// Seconds of idle power measured before a model is loaded, after it, and at the end; only where there is a sensor.
    pub idle_s: u64,
    /// Longest wait in seconds for a machine that neither warms up nor cools down, before each model; 0 for none.
    pub settle_s: u64,
    /// Longest wait in seconds for the machine to cool down between models; 0 for none.
    pub cool_down_s: u64,
    /// Seconds between two rows of the time line; 0 for none.
    pub timeline_s: f64,
}

/// How many items are asked alone, from an empty cache, for their latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LatencyChoice {
    /// Items of each task, through each interface; 0 for none.
    pub items: usize,
    /// How often each is asked.
    pub repetitions: u16,
    /// Items asked before, whose times are logged and left out.
    pub warm_up: u16,
}

impl Default for TelemetryChoice {
    fn default() -> Self {
        TelemetryChoice {
            power: "auto".to_owned(),
            rate_hz: 0.0,
            meter: String::new(),
            meter_domain: "wall".to_owned(),
            meter_description: String::new(),
            meter_every_ms: 1000,
            meter_latency_ms: 0,
            meter_clock_ms: None,
            idle_s: 30,
            settle_s: 0,
            cool_down_s: 0,
            timeline_s: 1.0,
        }
    }
}

impl Default for LatencyChoice {
    fn default() -> Self {
        LatencyChoice { items: 0, repetitions: 1, warm_up: 1 }
    }
}

impl TelemetryChoice {
    /// What it means; `None` when nothing is to be measured. A fault names its key.
    pub fn options(&self) -> Result<Option<Options>, (&'static str, String)> {
        let domain = Domain::named(&self.meter_domain).ok_or_else(|| {
            let known = "wall, dc-input-board, module-total, battery-discharge, cpu-package, gpu-board, rail";
            ("meter-domain", format!("meter-domain is `{}`: give one of {known}", self.meter_domain))
        })?;
        let choice = match self.power.as_str() {
            "off" => return Ok(None),
            "auto" => Choice::Auto,
            "none" => Choice::None,
            "meter" if self.meter.is_empty() => {
                return Err(("power", "power is `meter`, but no `meter` command is given".to_owned()));
            }
            source if ORDER.contains(&source) => Choice::Only(source.to_owned()),
            other => match other.strip_prefix("hwmon:").filter(|name| !name.is_empty()) {
                Some(meter) => {
                    let (name, label) = match meter.split_once(':') {
                        Some((name, label)) => (name, Some(label.to_owned())),
                        None => (meter, None),
                    };
                    Choice::Hwmon(Named { name: name.to_owned(), label, domain })
                }
                None => {
                    let known = ORDER.join(", ");
                    return Err((
                        "power",
                        format!("power is `{other}`: give auto, none, off, hwmon:NAME or one of {known}"),
                    ));
                }
            },
        };
        if !(0.0..=100.0).contains(&self.rate_hz) {
            return Err(("rate-hz", format!("rate-hz is {}: give 0 to 100", self.rate_hz)));
        }
        if !(0.0..=3600.0).contains(&self.timeline_s) {
            return Err(("timeline-s", format!("timeline-s is {}: give 0 to 3600", self.timeline_s)));
        }
        let meter = (!self.meter.is_empty()).then(|| Meter {
            command: self.meter.clone(),
            domain,
            description: self.meter_description.clone(),
            every_us: 1000 * self.meter_every_ms.clamp(1, 3_600_000),
            latency_us: 1000 * self.meter_latency_ms.min(3_600_000),
            clock_offset_ns: self.meter_clock_ms.map(|ms| ms.saturating_mul(1_000_000)),
        });
        Ok(Some(Options {
            wanted: Wanted { choice, meter, ..Wanted::default() },
            period_us: (self.rate_hz > 0.0).then(|| (1e6 / self.rate_hz) as u64),
            timeline_us: (self.timeline_s * 1e6) as u64,
        }))
    }
}
