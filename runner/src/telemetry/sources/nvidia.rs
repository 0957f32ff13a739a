//! NVIDIA graphics boards, through one `nvidia-smi` that runs as long as the measurement: a static program cannot load the
//! driver's library. Never on a Jetson, where it counts a board and knows nothing of it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::telemetry::missing::Missing;
use crate::telemetry::root::{Root, text};
use crate::telemetry::source::{Channel, Domain, Kind, PowerSource, SourceInfo, Take, Value};

use super::Found;
use super::lines::Lines;

const ID: &str = "nvidia-smi";
/// Its counters change every 100 ms; the program itself is the slower part.
const EVERY_MS: u64 = 200;
/// Newer boards give the mean of a second.
const SHORTEST_US: u64 = 5_000_000;
/// Boards that are kept.
const BOARDS: usize = 4;
const FIRST: Duration = Duration::from_secs(10);

struct Boards {
    info: SourceInfo,
    lines: Lines<(u32, i64)>,
    told_end: bool,
}

/// Looks for it. `program` is its name or path.
pub fn find(root: &dyn Root, program: &str, clock: &Arc<dyn Clock>) -> Found {
    let tegra = text(root, "proc/device-tree/compatible").is_ok_and(|all| all.contains("nvidia,tegra"))
        || root.open("etc/nv_tegra_release").is_ok();
    if tegra {
        return Found::absent(ID, Missing::NotSupported, "a Jetson's graphics chip has no values here");
    }
    let Some(path) = in_path(program).filter(|_| root.is_own()) else {
        return Found::absent(ID, Missing::NoSensor, format!("{program} in the search path"));
    };
    // Old drivers do not know every field.
    let lines = ["power.draw.instant", "power.draw"].iter().find_map(|field| {
        let mut command = Command::new(&path);
        command.arg(format!("--query-gpu=index,{field}")).arg("--format=csv,noheader,nounits");
        command.arg("-lms").arg(EVERY_MS.to_string());
        let lines = Lines::start(command, Arc::clone(clock), parse).ok()?;
        lines.first(FIRST).map(|_| (lines, *field))
    });
    let Some((lines, field)) = lines else {
        return Found::absent(
            ID,
            Missing::NotSupported,
            format!("{}: no board gives its power", path.display()),
        );
    };
    let channel = |index: usize| {
        Channel::new(format!("gpu{index}"), Domain::GpuBoard, Kind::Measured, SHORTEST_US).noted(field)
    };
    // Boards give their lines one after the other; wait for one round.
    std::thread::sleep(Duration::from_millis(2 * EVERY_MS));
    let mut boards = 0;
    lines.take(&mut |_, (index, _)| boards = boards.max(index as usize + 1));
    let boards = boards.clamp(1, BOARDS);
    let info = SourceInfo {
        id: ID.to_owned(),
        place: path.display().to_string(),
        every_us: 1000 * EVERY_MS,
        channels: (0..boards).map(channel).collect(),
        total: (boards == 1).then_some(0),
        notes: vec!["the processor and the rest of the machine are outside".to_owned()],
    };
    Found::Source(Box::new(Boards { info, lines, told_end: false }))
}

/// The file of a program.
fn in_path(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// `0, 31.50`: index and microwatts. `[N/A]` and `[Not Supported]` are none.
pub fn parse(line: &str) -> Option<(u32, i64)> {
    let (index, watts) = line.split_once(',')?;
    let watts: f64 = watts.trim().parse().ok()?;
    (watts.is_finite() && (0.0..100_000.0).contains(&watts))
        .then_some((index.trim().parse().ok()?, (watts * 1e6) as i64))
}

impl PowerSource for Boards {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, now: &dyn Fn() -> u64, take: Take<'_>) {
        let boards = self.info.channels.len();
        self.lines.take(&mut |at, (index, uw)| {
            if (index as usize) < boards {
                take(index as usize, at, Ok(Value::Power(uw)));
            }
        });
        if self.lines.has_ended() && !self.told_end {
            self.told_end = true;
            (0..boards).for_each(|board| take(board, now(), Err(Missing::ReadError)));
        }
    }

    fn stop(&mut self) {
        self.lines.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_without_a_value_are_none_and_watts_become_microwatts() {
        assert_eq!(parse("0, 31.50"), Some((0, 31_500_000)));
        assert_eq!(parse("1, 7.00"), Some((1, 7_000_000)));
        for none in ["0, [N/A]", "0, [Not Supported]", "No devices were found", "", "0, nan", "0, -4"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
