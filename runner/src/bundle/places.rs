//! Where a bundle may write: beside itself, or, on a medium that cannot be written to, where the user's other files go.

use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// Name of the folder for unpacked weights; bundles with the same weights share it.
const WEIGHTS: &str = "edge-eval-models";

/// The folders of a started bundle.
#[derive(Clone, Debug)]
pub struct Places {
    /// Where the bundle lies.
    pub home: PathBuf,
    /// Where results go.
    pub results: PathBuf,
    /// Folders for unpacked weights, the best first.
    pub weights: Vec<PathBuf>,
}

impl Places {
    /// Looks for folders that can be written to. `cache` is the user's folder for what can be made again.
    pub fn find(bundle: &Path, current: &Path, cache: Option<PathBuf>) -> Result<Places, Failure> {
        let home = bundle.parent().filter(|home| !home.as_os_str().is_empty()).unwrap_or(current).to_owned();
        let results = match (unwritable(&home), unwritable(current)) {
            (None, _) => home.clone(),
            (Some(_), None) => current.to_owned(),
            (Some(there), Some(here)) => {
                return Err(Failure::disk(format!(
                    "results can be written neither beside the bundle ({}: {there}) nor in the current folder ({}: {here}): \
                     start it from a folder that can be written to",
                    home.display(),
                    current.display()
                )));
            }
        };
        let mut weights = vec![home.join(WEIGHTS)];
        weights.extend(cache.map(|cache| cache.join("edge-eval")));
        weights.push(current.join(WEIGHTS));
        weights.dedup();
        Ok(Places { home, results, weights })
    }

    /// The user's folder for what can be made again: `$XDG_CACHE_HOME`, or `.cache` at home.
    pub fn cache() -> Option<PathBuf> {
        let of = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")))
    }
}

/// Why nothing can be written into a folder; `None` where it can.
pub(super) fn unwritable(folder: &Path) -> Option<std::io::Error> {
    let probe = folder.join(format!(".edge-eval-{}", std::process::id()));
    match std::fs::File::create(&probe) {
        Ok(_) => {
            let _ = std::fs::remove_file(&probe);
            None
        }
        Err(error) => Some(error),
    }
}
