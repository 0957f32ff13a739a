//! What a bundle says of itself.

use serde::{Deserialize, Serialize};

use super::{MANIFEST, refused};
use crate::config::{Config, ModelChoice, Overrides};
use crate::exit::Failure;
use crate::memory::Budget;
use crate::parcel::Parcel;

/// Largest manifest.
const MAX_BYTES: u64 = 64 << 20;

/// What a bundle holds, and what is made of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// File name of the configuration.
    pub config: String,
    /// Program and version that packed it.
    pub program: String,
    /// What the packing command line changed in the configuration; models stand below.
    pub overrides: Overrides,
    /// The models, in order; none where every GGUF file beside the bundle is taken.
    pub models: Vec<BundledModel>,
    /// Data files.
    pub files: Vec<DataFile>,
    /// Folders whose names were read.
    pub folders: Vec<Folder>,
}

/// A model of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundledModel {
    /// How it is prompted. Its path is the name of its first file, the same on every machine.
    pub choice: ModelChoice,
    /// Its own memory budget.
    pub memory_budget: Option<Budget>,
    /// Its files; none for the fake engine.
    pub files: Vec<WeightFile>,
    /// Its picture projector.
    pub mmproj: Option<WeightFile>,
}

/// A file with weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightFile {
    /// Its name.
    pub name: String,
    /// The member that holds it; absent where it is to lie beside the bundle.
    pub member: Option<String>,
    /// Its length, where it is known.
    pub bytes: Option<u64>,
    /// Its SHA-256 in hexadecimal, where it is known.
    pub sha256: Option<String>,
}

/// A data file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// As configuration and tables call it.
    pub path: String,
    /// The member that holds it.
    pub member: String,
}

/// What lay in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// As the configuration calls it.
    pub path: String,
    /// Names, sorted.
    pub names: Vec<String>,
}

impl Manifest {
    /// The manifest of a parcel.
    pub fn read(parcel: &Parcel) -> Result<Manifest, Failure> {
        let bytes = parcel.bytes(MANIFEST, MAX_BYTES).map_err(refused)?;
        let wrong = |reason: String| {
            Failure::input(format!("{}: its manifest cannot be used: {reason}", parcel.path().display()))
        };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        for name in manifest.models.iter().flat_map(BundledModel::all_files).map(|file| &file.name) {
            // These become names of files.
            if name.contains('/') || crate::parcel::check_name(name).is_err() {
                return Err(wrong(format!("{name:?} is no file name")));
            }
        }
        Ok(manifest)
    }

    /// The configuration that a text gives, with what packing changed, and without models.
    pub fn configured(&self, text: &str) -> Result<Config, Failure> {
        let usage = |error: crate::config::ConfigError| Failure::usage(error.to_string());
        let mut config = Config::parse(text, &self.config).map_err(usage)?;
        self.overrides.apply(&mut config).map_err(usage)?;
        config.models.clear();
        Ok(config)
    }
}

impl BundledModel {
    /// The choice with its budget.
    pub fn choice(&self) -> ModelChoice {
        ModelChoice { memory_budget: self.memory_budget, ..self.choice.clone() }
    }

    /// Its files and its picture projector.
    pub fn all_files(&self) -> impl Iterator<Item = &WeightFile> {
        self.files.iter().chain(&self.mmproj)
    }

    /// Hashes of its files, as a log has them; absent where one is not known.
    pub fn sha256(&self) -> Option<String> {
        let hashes: Option<Vec<&str>> = self.files.iter().map(|file| file.sha256.as_deref()).collect();
        hashes.map(|hashes| hashes.join("+"))
    }

    /// Bytes of its files, as far as they are known.
    pub fn bytes(&self) -> u64 {
        self.all_files().filter_map(|file| file.bytes).sum()
    }
}
