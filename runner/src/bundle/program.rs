//! The executable that a bundle begins with: this program's own, or that of a build for another processor.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::refused;
use crate::exit::Failure;
use crate::levels::AUTO;
use crate::parcel::{Base, LEVELS, Machine};

/// Stands in every build, so that a build for another processor, which cannot be started here, tells its version.
static STAMP: &str = concat!("edge-eval/base version=", env!("CARGO_PKG_VERSION"), ";");

const VERSION_AT: usize = "edge-eval/base version=".len();

/// Looks for the base: `file`, or the build of `target`, or this program. Gives it with what people should know of it.
pub fn base(target: Option<&str>, file: Option<&Path>) -> Result<(Base, Vec<String>), Failure> {
    let own = crate::itself::path().ok_or_else(|| {
        Failure::usage("this program's own file cannot be found: name one with --base FILE")
    })?;
    let machine = match target {
        None => None,
        Some(name) => Some(target_of(name)?),
    };
    let wanted = machine.or(if file.is_some() { None } else { Machine::own() });
    let path = match (file, machine) {
        (Some(file), _) => file.to_owned(),
        (None, Some(machine)) if Some(machine) != Machine::own() => released(&own, machine)?,
        (None, _) => own.clone(),
    };
    let base = Base::of(&path).map_err(refused)?;
    if let Some(wanted) = wanted.filter(|wanted| *wanted != base.executable().machine) {
        return Err(Failure::usage(format!(
            "{}: built for {}, wanted is {wanted}: name the right build with --base",
            path.display(),
            base.executable().machine
        )));
    }
    if path != own {
        check_version(&base, &path)?;
    }
    let mut notes = Vec::new();
    if base.executable().is_dynamic {
        notes.push(format!(
            "{}: a development build: it needs shared libraries of the system that it runs on; pack with a release build for boards",
            path.display()
        ));
    }
    if !base.parcel().is_some_and(|parcel| parcel.has(LEVELS)) {
        if file.is_none() && machine.is_some() && machine != Machine::own() {
            return Err(Failure::usage(format!(
                "{}: carries no processor levels, so it is no released build: get the released one, or name this one with --base",
                path.display()
            )));
        }
        notes.push(format!("{}: carries no processor levels: it is its own worker", path.display()));
    }
    Ok((base, notes))
}

/// The processor of a name. There are programs for two, and for Linux alone.
fn target_of(name: &str) -> Result<Machine, Failure> {
    let found = Machine::named(name).filter(|machine| matches!(machine, Machine::Aarch64 | Machine::X86_64));
    found.ok_or_else(|| {
        Failure::usage(format!(
            "--target {name}: give aarch64 or x86_64; a build for another processor is named with --base FILE alone"
        ))
    })
}

/// Refuses a CPU level that workers of this base cannot be started at, on any board.
pub fn check_level(base: &Base, wanted: &str) -> Result<(), Failure> {
    let members = base.parcel().map(|parcel| parcel.members()).unwrap_or_default();
    let carried: Vec<&str> = members.iter().filter_map(|member| member.name.strip_prefix(LEVELS)).collect();
    if wanted == AUTO || carried.contains(&wanted) {
        return Ok(());
    }
    let path = base.path().display();
    Err(Failure::usage(match carried.is_empty() {
        true => format!(
            "CPU level {wanted}: {path} carries no levels: leave it out, or begin with a released build (--base FILE)"
        ),
        false => format!(
            "CPU level {wanted}: {path} carries {}: give one of them, or leave it out for the best that the board can run",
            carried.join(", ")
        ),
    }))
}

/// The build of another processor where a release puts it: beside this program, or in the folder of its archive.
fn released(own: &Path, machine: Machine) -> Result<PathBuf, Failure> {
    let folder = own.parent().unwrap_or(Path::new("."));
    let triples = [machine.to_string(), format!("{machine}-unknown-linux-gnu")];
    let version = env!("CARGO_PKG_VERSION");
    let mut tried = Vec::new();
    for triple in triples {
        for name in [format!("edge-eval-{triple}"), format!("edge-eval-{version}-{triple}")] {
            tried.push(folder.join(&name));
            tried.push(folder.join(&name).join("edge-eval"));
            tried.push(folder.join("..").join(&name).join("edge-eval"));
            tried.push(folder.join("..").join(&triple).join("edge-eval"));
        }
    }
    let found = tried.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| {
        Failure::usage(format!(
            "no build for {machine} beside this program ({} or the like): put it there, or name it with --base FILE",
            folder.join(format!("edge-eval-{machine}")).display()
        ))
    })
}

fn check_version(base: &Base, path: &Path) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    base.program()
        .map_err(refused)?
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    let own = &STAMP[VERSION_AT..];
    match stamped(&bytes) {
        Some(version) if version == own.trim_end_matches(';') => Ok(()),
        Some(version) => Err(Failure::usage(format!(
            "{}: edge-eval {version}, this program is {}: take the build of the same version",
            path.display(),
            own.trim_end_matches(';')
        ))),
        None => Err(Failure::usage(format!("{}: no edge-eval, or one from before bundles", path.display()))),
    }
}

/// The version that stands in an executable.
fn stamped(bytes: &[u8]) -> Option<String> {
    let mark = &STAMP.as_bytes()[..VERSION_AT];
    let starts = bytes.windows(mark.len()).enumerate().filter(|(_, window)| *window == mark);
    let mut versions = starts.filter_map(|(at, _)| {
        let rest = bytes.get(at + mark.len()..)?;
        let end = rest.iter().take(40).position(|&byte| byte == b';')?;
        let version = std::str::from_utf8(&rest[..end]).ok()?;
        version.bytes().next()?.is_ascii_digit().then(|| version.to_owned())
    });
    versions.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_where_it_stands_whole() {
        assert_eq!(stamped(STAMP.as_bytes()).as_deref(), Some(env!("CARGO_PKG_VERSION")));
        assert_eq!(
            stamped(b"xx edge-eval/base version= edge-eval/base version=9.8.7;yy").as_deref(),
            Some("9.8.7")
        );
        assert_eq!(stamped(b"edge-eval/base version=9.8.7"), None);
        assert_eq!(stamped(b""), None);
    }
}
