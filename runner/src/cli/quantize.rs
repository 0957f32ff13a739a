//! `edge-eval quantize`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use models::gguf::{Header, sha256_file};
use serde::Serialize;

use super::{print, talk};
use crate::exit::{Exit, Failure};
use crate::supervisor::{Interrupt, Link};
use crate::threads;

/// Help beside the arguments.
pub(super) const HELP: &str =
    "Beside the files it writes quantize.json: what they were made of, by what, and all hashes.

Examples:
  edge-eval quantize my.F16.gguf --types Q8_0,Q4_K_M,Q4_0,Q2_K -o ladder";

/// Arguments of `quantize`.
#[derive(Debug, Args)]
pub(super) struct Quantize {
    /// The source: a GGUF file of 16 or 32 bits
    source: PathBuf,
    /// What to make: F16, Q8_0, Q6_K, Q5_K_M, Q4_K_M, Q4_0, Q3_K_M, Q2_K ...
    #[arg(long, value_name = "TYPE,...", value_delimiter = ',', required = true)]
    types: Vec<String>,
    /// Folder for the files
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Accept a source that is quantised already; what it lost stays lost
    #[arg(long)]
    requantize: bool,
    /// Threads; 0 for the physical cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: u32,
}

#[derive(Debug, Serialize)]
struct Manifest {
    program: String,
    library: String,
    source: File,
    requantized: bool,
    files: Vec<File>,
}

#[derive(Debug, Serialize)]
struct File {
    name: String,
    quantisation: String,
    bytes: u64,
    sha256: String,
}

/// What can be made; a test holds it against the library's list.
const TYPES: [&str; 19] = [
    "F32", "F16", "BF16", "Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q5_1", "Q5_0", "Q4_K_M", "Q4_K_S", "Q4_1",
    "Q4_0", "IQ4_NL", "IQ4_XS", "Q3_K_L", "Q3_K_M", "Q3_K_S", "Q2_K",
];

/// Quantisations that are none.
const WHOLE: [&str; 3] = ["F32", "F16", "BF16"];

impl Quantize {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        known(&self.types)?;
        let source = crate::plan::resolve(&self.source)?;
        let header = Header::open(&source).map_err(|error| Failure::input(error.to_string()))?;
        let found = header.quantisation();
        let requantized = !WHOLE.contains(&found.as_str());
        if requantized && !self.requantize {
            return Err(Failure::input(format!(
                "{}: is quantised already ({found}): what it lost stays lost, and the result is no true {}: take a file of \
                 16 bits, or say --requantize",
                source.display(),
                self.types.join(", ")
            )));
        }
        let targets: Vec<PathBuf> = self
            .types
            .iter()
            .map(|kind| self.out.join(format!("{}.{kind}.gguf", stem(&source, &found))))
            .collect();
        let manifest_path = self.out.join("quantize.json");
        if let Some(there) = targets.iter().chain([&manifest_path]).find(|path| path.exists()) {
            return Err(Failure::usage(format!(
                "{}: is there already: choose another folder",
                there.display()
            )));
        }
        let disk = |path: &Path, error: std::io::Error| Failure::disk(format!("{}: {error}", path.display()));
        std::fs::create_dir_all(&self.out).map_err(|error| disk(&self.out, error))?;
        let mut files = Vec::new();
        for (kind, target) in self.types.iter().zip(&targets) {
            talk(&format!("{kind}: {}", target.display()));
            self.make(&source, target, kind)?;
            files.push(file(target)?);
        }
        let manifest = Manifest {
            program: format!("edge-eval {}", env!("CARGO_PKG_VERSION")),
            library: format!("llama.cpp by llama-cpp-2 {}", models::LLAMA_CPP_2_VERSION),
            source: file(&source)?,
            requantized,
            files,
        };
        let text = format!("{:#}\n", serde_json::json!(manifest));
        std::fs::write(&manifest_path, text).map_err(|error| disk(&manifest_path, error))?;
        for file in &manifest.files {
            print(&format!("{}  {}  {} bytes\n", file.sha256, file.name, file.bytes))?;
        }
        Ok(Exit::Done)
    }

    /// In a worker: the library aborts on what it holds for impossible. A half-written file is removed.
    fn make(&self, source: &Path, target: &Path, kind: &str) -> Result<(), Failure> {
        /// Large models take long, and nothing is told on the way.
        const DEADLINE: Duration = Duration::from_secs(24 * 3600);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(Exit::Failed, format!("cannot start the runtime: {error}")))?;
        let outcome = runtime.block_on(async {
            let mut link = Link::start(
                &crate::levels::Program::find(crate::levels::AUTO)?,
                DEADLINE,
                Interrupt::never(),
            )
            .map_err(|error| Failure::new(Exit::Failed, error.in_words("while it started")))?;
            let threads = threads::chosen(self.threads);
            link.quantise(source, target, kind, threads, self.requantize).await.map_err(|error| {
                Failure::input(format!("{kind}: {}", error.in_words("while it wrote the file")))
            })
        });
        if outcome.is_err() {
            let _ = std::fs::remove_file(target);
        }
        outcome
    }
}

/// Refuses what cannot be made, or would be made twice, before anything is.
fn known(types: &[String]) -> Result<(), Failure> {
    if let Some(unknown) =
        types.iter().find(|kind| !TYPES.iter().any(|known| known.eq_ignore_ascii_case(kind)))
    {
        return Err(Failure::usage(format!(
            "--types: unknown type `{unknown}`; known: {}",
            TYPES.join(", ")
        )));
    }
    match types
        .iter()
        .enumerate()
        .find(|(at, kind)| types[..*at].iter().any(|it| it.eq_ignore_ascii_case(kind)))
    {
        Some((_, twice)) => Err(Failure::usage(format!("--types: `{twice}` is named twice"))),
        None => Ok(()),
    }
}

/// The source's name without its ending and its quantisation.
fn stem(source: &Path, quantisation: &str) -> String {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let cut = |mark: char| stem.strip_suffix(quantisation).and_then(|rest| rest.strip_suffix(mark));
    cut('.').or_else(|| cut('-')).map_or(stem.clone(), str::to_owned)
}

fn file(path: &Path) -> Result<File, Failure> {
    let wrong = |error: String| Failure::input(error);
    let header = Header::open(path).map_err(|error| wrong(error.to_string()))?;
    Ok(File {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        quantisation: header.quantisation(),
        bytes: header.file_bytes,
        sha256: sha256_file(path, &mut |_| ()).map_err(|error| wrong(error.to_string()))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_are_checked_before_anything_is_made() {
        let refused = |types: &[&str]| {
            let types: Vec<String> = types.iter().map(|&kind| kind.to_owned()).collect();
            known(&types).err().map(|failure| (failure.exit, failure.message))
        };
        assert_eq!(refused(&["Q8_0", "q4_k_m"]), None);
        let (exit, line) = refused(&["Q8_0", "XX"]).unwrap();
        assert!(exit == Exit::Usage && line.contains("unknown type `XX`; known: F32, F16"), "{line}");
        assert!(refused(&["Q8_0", "q8_0"]).is_some());
    }

    #[cfg(feature = "llama")]
    #[test]
    fn the_types_are_those_of_the_library() {
        let library: Vec<&str> = models::llama::file_types().iter().map(|kind| kind.name).collect();
        assert_eq!(library, TYPES);
    }
}
