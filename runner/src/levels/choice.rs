//! Which level is started.

use super::{ALL, Level};

/// The choice that leaves it to the processor.
pub const AUTO: &str = "auto";

/// Chooses among the levels that a program carries; `wanted` is a name or [`AUTO`]. The error is one line for people.
pub fn choose(
    wanted: &str,
    carried: &[String],
    has: &dyn Fn(&str) -> bool,
) -> Result<&'static Level, String> {
    let there: Vec<&'static Level> =
        ALL.iter().filter(|level| carried.iter().any(|name| name == level.name)).collect();
    let runs = |level: &&&'static Level| level.lacking(has).is_empty();
    let best = there.iter().rev().find(runs).copied();
    let names = |levels: &[&'static Level]| -> String {
        let names: Vec<&str> = levels.iter().map(|level| level.name).collect();
        names.join(", ")
    };
    if wanted == AUTO {
        return best.ok_or_else(|| match there.first() {
            Some(lowest) => format!(
                "this processor lacks {}, which even CPU level {}, the lowest in this program, needs: take a program \
                 that carries a lower one",
                lowest.lacking(has).join(" "),
                lowest.name
            ),
            None => "this program carries no CPU level of this architecture: take one that was built for it".into(),
        });
    }
    let Some(level) = Level::named(wanted) else {
        let all: Vec<&'static Level> = ALL.iter().collect();
        return Err(format!("unknown CPU level {wanted:?}: there are {AUTO}, {}", names(&all)));
    };
    if !there.contains(&level) {
        return Err(match there.is_empty() {
            true => format!(
                "CPU level {wanted}: this program carries no levels, it is a build for one machine: leave it out, or \
                 take a program made by cross/build.sh"
            ),
            false => format!("CPU level {wanted}: this program carries only {}", names(&there)),
        });
    }
    let lacking = level.lacking(has);
    match (lacking.is_empty(), best) {
        (true, _) => Ok(level),
        (false, Some(best)) => Err(format!(
            "CPU level {wanted}: this processor lacks {}; the best that it can run is {}",
            lacking.join(" "),
            best.name
        )),
        (false, None) => Err(format!("CPU level {wanted}: this processor lacks {}", lacking.join(" "))),
    }
}
