//! The models of a started bundle: inside, beside it, or none.

use std::path::{Path, PathBuf};

use models::gguf::{Header, sha256_file};

use crate::bundle::{Bundle, BundledModel, Places, beside, unpack};
use crate::cli::talk;
use crate::config::ModelChoice;
use crate::entry::ModelRecord;
use crate::exit::Failure;
use crate::report::RunLog;

/// A model, and where it comes from.
pub(super) struct Source {
    /// What is the same on every machine.
    pub(super) choice: ModelChoice,
    /// SHA-256 of its weights.
    sha256: String,
    /// SHA-256 of its picture projector.
    mmproj_sha256: Option<String>,
    from: Origin,
}

enum Origin {
    /// No file: the fake engine.
    Nothing,
    /// The bundle: the place in its manifest.
    Inside(usize),
    /// The folder of the bundle.
    Beside,
}

impl Source {
    /// Makes the weights ready; gives the choice with the files to load.
    pub(super) fn ready(&self, bundle: &Bundle, places: &Places) -> Result<ModelChoice, Failure> {
        let folder = match self.from {
            Origin::Nothing => return Ok(self.choice.clone()),
            Origin::Inside(at) => {
                unpack(&bundle.parcel, &bundle.manifest.models[at], &places.weights, &mut talk)?
            }
            Origin::Beside => places.home.clone(),
        };
        let mmproj = self.choice.mmproj.as_ref().map(|name| folder.join(name));
        Ok(ModelChoice { path: folder.join(&self.choice.path), mmproj, ..self.choice.clone() })
    }

    /// Gives a record the paths and hashes that are the same on every machine, so that logs of boards can be joined.
    pub(super) fn settle(&self, record: &mut ModelRecord) {
        record.path = self.choice.path.display().to_string();
        record.sha256.clone_from(&self.sha256);
        if let (Some(mmproj), Some(name)) = (&mut record.mmproj, &self.choice.mmproj) {
            mmproj.path = name.display().to_string();
            mmproj.sha256 = self.mmproj_sha256.clone().unwrap_or_default();
        }
    }
}

/// The models, in order. Those beside the bundle are hashed here. One that is gone is taken as the complete run `done` has it.
pub(super) fn sources(
    bundle: &Bundle,
    places: &Places,
    done: Option<&RunLog>,
) -> Result<Vec<Source>, Failure> {
    let models = &bundle.manifest.models;
    if !models.is_empty() {
        return models
            .iter()
            .enumerate()
            .map(|(at, model)| source(bundle, places, at, model, done))
            .collect();
    }
    let (found, notes) = beside(&places.home, bundle.manifest.overrides.template.as_deref())?;
    notes.iter().for_each(|note| talk(note));
    let lies = |path: &Path| found.iter().any(|choice| choice.path.file_name() == path.file_name());
    let gone = done.map(logged).unwrap_or_default().into_iter().filter(|gone| !lies(&gone.choice.path));
    let mut sources: Vec<Source> = gone.collect();
    if found.is_empty() && sources.is_empty() {
        return Err(Failure::usage(format!(
            "{} carries no model and no GGUF file that can be asked lies beside it: put one into {}",
            bundle.name(),
            places.home.display()
        )));
    }
    for choice in found {
        sources.push(lying(choice.clone(), &choice.path)?);
    }
    sources.sort_by(|a, b| a.choice.path.cmp(&b.choice.path));
    Ok(sources)
}

/// The models of a run, as its log has them.
fn logged(run: &RunLog) -> Vec<Source> {
    let config: serde_json::Value = serde_json::from_str(&run.header.config_json).unwrap_or_default();
    let choices: Vec<ModelChoice> = serde_json::from_value(config["model"].clone()).unwrap_or_default();
    let of = |(choice, record): (ModelChoice, &ModelRecord)| Source {
        choice,
        sha256: record.sha256.clone(),
        mmproj_sha256: record.mmproj.as_ref().map(|mmproj| mmproj.sha256.clone()),
        from: Origin::Beside,
    };
    choices.into_iter().zip(&run.header.models).map(of).collect()
}

fn source(
    bundle: &Bundle,
    places: &Places,
    at: usize,
    model: &BundledModel,
    done: Option<&RunLog>,
) -> Result<Source, Failure> {
    let Some(first) = model.files.first() else {
        return Ok(Source {
            choice: model.choice(),
            sha256: String::new(),
            mmproj_sha256: None,
            from: Origin::Nothing,
        });
    };
    if first.member.is_some() {
        return Ok(Source {
            choice: model.choice(),
            sha256: model.sha256().unwrap_or_default(),
            mmproj_sha256: model.mmproj.as_ref().and_then(|file| file.sha256.clone()),
            from: Origin::Inside(at),
        });
    }
    if let Some(missing) = model.all_files().find(|file| !places.home.join(&file.name).is_file()) {
        let choice = model.choice();
        let is_same =
            |source: &Source| (&source.choice.path, &source.choice.name) == (&choice.path, &choice.name);
        return match done.map(logged).unwrap_or_default().into_iter().find(is_same) {
            Some(source) => Ok(source),
            None => Err(Failure::usage(format!(
                "the model file {} does not lie beside {}: put it into {}",
                missing.name,
                bundle.name(),
                places.home.display()
            ))),
        };
    }
    let mut source = lying(model.choice(), &places.home.join(&first.name))?;
    as_expected(&places.home.join(&first.name), &source.sha256, model.sha256())?;
    if let Some(file) = &model.mmproj {
        let path = places.home.join(&file.name);
        let sha256 = sha256_file(&path, &mut |_| ()).map_err(|error| Failure::input(error.to_string()))?;
        as_expected(&path, &sha256, file.sha256.clone())?;
        source.mmproj_sha256 = Some(sha256);
    }
    Ok(source)
}

fn as_expected(path: &Path, sha256: &str, expected: Option<String>) -> Result<(), Failure> {
    match expected {
        Some(expected) if expected != sha256 => Err(Failure::input(format!(
            "{}: not the file that the bundle was made for (SHA-256 {}..., wanted {}...): get that one",
            path.display(),
            sha256.get(..12).unwrap_or_default(),
            expected.get(..12).unwrap_or_default()
        ))),
        _ => Ok(()),
    }
}

fn lying(choice: ModelChoice, path: &Path) -> Result<Source, Failure> {
    talk(&format!("hashing {}", path.display()));
    let header = Header::open(path).map_err(|error| Failure::input(error.to_string()))?;
    let mut hashes = Vec::new();
    for file in header.files() {
        hashes.push(sha256_file(file, &mut |_| ()).map_err(|error| Failure::input(error.to_string()))?);
    }
    let file = PathBuf::from(path.file_name().unwrap_or_default());
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = choice.name.clone().or(Some(stem));
    let choice = ModelChoice { path: file, name, ..choice };
    Ok(Source { choice, sha256: hashes.join("+"), mmproj_sha256: None, from: Origin::Beside })
}
