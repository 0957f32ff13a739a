//! A field bundle: this program with a configuration, its data and, if wanted, weights in one file that runs by itself.
//!
//! Members of its parcel: `bundle/manifest.json`, `bundle/config.toml`, `bundle/data/...`, `bundle/model/...`.

mod carried;
mod gather;
mod manifest;
mod places;
mod program;
mod results;
#[cfg(test)]
mod tests;
mod weights;

pub use carried::{Carried, carried, carry};
pub use gather::{Gathered, Wanted, gather};
pub use manifest::{BundledModel, DataFile, Folder, Manifest, WeightFile};
pub use places::Places;
pub use program::{base, check_level};
pub use results::{Results, remaining_us};
pub use weights::{beside, for_testers, unpack};

use crate::exit::{Exit, Failure};
use crate::parcel::{BUNDLE, Parcel, ParcelError};

/// The configuration, byte for byte.
pub const CONFIG: &str = "bundle/config.toml";

/// What the bundle is.
pub const MANIFEST: &str = "bundle/manifest.json";

/// A bundle that was started.
#[derive(Debug)]
pub struct Bundle {
    /// The file.
    pub parcel: Parcel,
    /// What it says of itself.
    pub manifest: Manifest,
    /// The text of its configuration.
    pub config: String,
}

impl Bundle {
    /// This very program, if it is a bundle.
    pub fn own() -> Result<Option<Bundle>, Failure> {
        let Some(path) = crate::itself::path() else { return Ok(None) };
        match Parcel::of(&path).map_err(refused)? {
            Some(parcel) if parcel.has(BUNDLE) => Bundle::of(parcel).map(Some),
            _ => Ok(None),
        }
    }

    /// The bundle of a parcel. Everything but the weights is checked here, so that nothing runs on damaged parts.
    pub fn of(parcel: Parcel) -> Result<Bundle, Failure> {
        parcel.check_base().map_err(refused)?;
        let manifest = Manifest::read(&parcel)?;
        let weights = |name: &str| {
            manifest
                .models
                .iter()
                .flat_map(BundledModel::all_files)
                .any(|file| file.member.as_deref() == Some(name))
        };
        for member in parcel.members().iter().filter(|member| !weights(&member.name)) {
            parcel
                .copy(&member.name, &mut std::io::sink(), &mut |_| ())
                .map_err(refused)?
                .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        }
        let config = parcel.bytes(CONFIG, 16 << 20).map_err(refused)?;
        let config = String::from_utf8(config).map_err(|_| {
            Failure::input(format!("{}: its configuration is no text", parcel.path().display()))
        })?;
        Ok(Bundle { parcel, manifest, config })
    }

    /// The file's own name: results are called by it.
    pub fn name(&self) -> String {
        self.parcel.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A parcel's error as the end of a command.
pub fn refused(error: ParcelError) -> Failure {
    let exit = match &error {
        ParcelError::Io { .. } => Exit::Disk,
        ParcelError::Unwritable { .. } | ParcelError::NoExecutable { .. } => Exit::Usage,
        ParcelError::Damaged { .. } | ParcelError::Format { .. } | ParcelError::Absent { .. } => Exit::Input,
    };
    Failure::new(exit, error.to_string())
}
