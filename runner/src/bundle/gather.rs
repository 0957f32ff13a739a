//! What a configuration needs to run elsewhere: found by planning it and keeping account of what is read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use datasets::{Files, Picture};
use models::States;
use models::catalog::Catalog;
use models::gguf::{Header, sha256_file};

use super::{BundledModel, CONFIG, DataFile, Folder, MANIFEST, Manifest, WeightFile};
use crate::config::{Config, ModelChoice, Overrides};
use crate::disk::Disk;
use crate::exit::{Exit, Failure};
use crate::parcel::{Kind, Material, Origin};
use crate::plan::{Plan, resolve};

/// What shall be packed.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The configuration as it was named.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What the command line changes. Models named here are packed.
    pub overrides: Overrides,
    /// Forget the configuration's models: the bundle takes what lies beside it.
    pub any_model: bool,
    /// The file to be written: none that is read.
    pub out: PathBuf,
    /// The program that the bundle begins with.
    pub base: PathBuf,
}

/// Everything for a bundle.
pub struct Gathered {
    /// The members, the manifest first.
    pub members: Vec<Material<'static>>,
    /// What they are.
    pub manifest: Manifest,
    /// The plan that they were found by. Where weights are not here the fake engine stands in for them.
    pub plan: Plan,
}

/// Plans a configuration and gathers what it reads. `say` hears what takes long.
pub fn gather(wanted: &Wanted, say: &mut dyn FnMut(&str)) -> Result<Gathered, Failure> {
    let usage = |error: crate::config::ConfigError| Failure::usage(error.to_string());
    let mut config = Config::parse(&wanted.text, &wanted.name).map_err(usage)?;
    wanted.overrides.apply(&mut config).map_err(usage)?;
    if wanted.any_model {
        config.models.clear();
    }
    let inside = !wanted.overrides.models.is_empty();
    let mut models = Vec::new();
    let mut sources = Vec::new();
    for choice in &mut config.models {
        let found = model(choice, inside)?;
        *choice = found.stand_in;
        sources.push(found.sources);
        models.push(found.model);
    }
    if config.asking.hidden_states != States::None {
        return Err(Failure::usage(format!(
            "{}: asking.hidden-states: a bundle hands over one log and one page, and hidden states are a third file: leave it out \
             here, and use `edge-eval run` for them",
            wanted.name
        )));
    }
    let any = config.models.is_empty();
    if any {
        config.models.push(ModelChoice { template: None, ..ModelChoice::of(PathBuf::from("fake")) });
    }
    let mut recorder = Recorder::default();
    let plan = Plan::make_from(config, &wanted.name, &wanted.text, &mut recorder)?;
    let named = models.iter().filter_map(|model: &BundledModel| model.choice.template.as_deref());
    for template in named
        .chain(wanted.overrides.template.as_deref().filter(|_| any))
        .filter(|name| !matches!(*name, "gguf" | "raw"))
    {
        recorder.text(template).map_err(|error| Failure::input(format!("template file {error}")))?;
    }
    let pictures = plan.tasks.iter().flat_map(|task| &task.items).flat_map(datasets::Item::pictures);
    for picture in pictures {
        if let Picture::File(file) = picture {
            recorder.saw(&file.path, file.place.is_some());
        }
    }
    let read = recorder.files.keys().map(PathBuf::from).chain(sources.iter().flatten().cloned());
    let given = [Some(PathBuf::from(&wanted.name)), Some(wanted.base.clone()), crate::itself::path()];
    refuse_overwriting(&wanted.out, read.chain(given.into_iter().flatten()))?;
    // Last, because it takes long: all else is known to be right.
    let mut weights: Vec<(PathBuf, WeightFile)> = Vec::new();
    for (model, sources) in models.iter_mut().zip(sources) {
        for (file, source) in model.files.iter_mut().chain(&mut model.mmproj).zip(sources) {
            hash(file, &source, inside, say)?;
            weights.push((source, file.clone()));
        }
    }
    let mut overrides = wanted.overrides.clone();
    (overrides.models, overrides.mmproj) = (Vec::new(), None);
    let (data, files) = data(&recorder)?;
    let manifest = Manifest {
        config: Path::new(&wanted.name).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        program: format!("edge-eval {}", env!("CARGO_PKG_VERSION")),
        overrides,
        models,
        files,
        folders: recorder.folders.into_iter().map(|(path, names)| Folder { path, names }).collect(),
    };
    let json = serde_json::to_vec(&manifest)
        .map_err(|error| Failure::new(Exit::Failed, format!("the manifest cannot be written: {error}")))?;
    let mut members = vec![Material::bytes(MANIFEST, json), Material::bytes(CONFIG, wanted.text.clone())];
    members.extend(data);
    let mut inside = BTreeSet::new();
    for (source, file) in weights {
        if let (Some(name), Some(hash)) = (file.member, file.sha256.as_deref().and_then(bytes_of)) {
            // Models may share a file; its hash is part of the name.
            if !inside.insert((name.clone(), hash)) {
                continue;
            }
            members.push(Material { name, kind: Kind::Stored, from: Origin::File(source, Some(hash)) });
        }
    }
    Ok(Gathered { members, manifest, plan })
}

/// Refuses to replace a file that is read, under whatever name.
fn refuse_overwriting(out: &Path, read: impl Iterator<Item = PathBuf>) -> Result<(), Failure> {
    let place = |path: &Path| std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()));
    let Some(there) = place(out) else { return Ok(()) };
    match { read }.find(|path| place(path) == Some(there)) {
        None => Ok(()),
        Some(same) => Err(Failure::usage(format!(
            "-o {}: this is {}, which goes into the bundle: give another name",
            out.display(),
            same.display()
        ))),
    }
}

struct Found {
    model: BundledModel,
    /// Its files here, the picture projector last; none where the model is not here.
    sources: Vec<PathBuf>,
    /// What to plan with.
    stand_in: ModelChoice,
}

fn model(choice: &ModelChoice, inside: bool) -> Result<Found, Failure> {
    let bundled = |choice: ModelChoice, files: Vec<WeightFile>, mmproj: Option<WeightFile>| BundledModel {
        memory_budget: choice.memory_budget,
        choice: ModelChoice { memory_budget: None, ..choice },
        files,
        mmproj,
    };
    let unknown = |name: String| WeightFile { name, member: None, bytes: None, sha256: None };
    if models::fake::is_fake(&choice.path) {
        let model = bundled(choice.clone(), Vec::new(), None);
        return Ok(Found { model, sources: Vec::new(), stand_in: choice.clone() });
    }
    let path = match resolve(&choice.path) {
        Ok(path) => Some(path),
        Err(error) if inside => return Err(error),
        Err(_) => None,
    };
    let mmproj = choice.mmproj.as_deref().map(file_name).transpose()?;
    let called_mmproj = mmproj.clone().map(PathBuf::from);
    let mmproj = mmproj.map(unknown);
    let stem = |name: &str| Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let Some(path) = path else {
        let (name, bytes, sha256) = expected(&choice.path)?;
        let called = Some(choice.name.clone().unwrap_or_else(|| stem(&name)));
        let stable = ModelChoice {
            path: PathBuf::from(&name),
            name: called.clone(),
            mmproj: called_mmproj,
            ..choice.clone()
        };
        let files = vec![WeightFile { name, member: None, bytes, sha256 }];
        // Its own template cannot be read where it is not.
        let shown = mmproj.is_some().then(|| PathBuf::from("fake"));
        let path = PathBuf::from("fake");
        let stand_in = ModelChoice { path, name: called, mmproj: shown, ..choice.clone() };
        return Ok(Found { model: bundled(stable, files, mmproj), sources: Vec::new(), stand_in });
    };
    let header = Header::open(&path).map_err(|error| Failure::input(error.to_string()))?;
    let mut sources: Vec<PathBuf> = header.files().iter().map(|file| (*file).to_owned()).collect();
    let files: Vec<WeightFile> =
        sources.iter().map(|file| file_name(file).map(unknown)).collect::<Result<_, _>>()?;
    sources.extend(choice.mmproj.clone());
    let first = files.first().map(|file| file.name.clone()).unwrap_or_default();
    let called = Some(choice.name.clone().unwrap_or_else(|| stem(&first)));
    let stable = ModelChoice {
        path: PathBuf::from(&first),
        name: called.clone(),
        mmproj: called_mmproj,
        ..choice.clone()
    };
    let stand_in = ModelChoice { path, name: called, ..choice.clone() };
    if let Some(same) = mmproj.as_ref().filter(|mmproj| files.iter().any(|file| file.name == mmproj.name)) {
        return Err(Failure::usage(format!("{}: model and projector have the same file name", same.name)));
    }
    Ok(Found { model: bundled(stable, files, mmproj), sources, stand_in })
}

fn hash(
    file: &mut WeightFile,
    source: &Path,
    inside: bool,
    say: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let about = std::fs::metadata(source)
        .map_err(|error| Failure::input(format!("{}: {error}", source.display())))?;
    say(&format!("hashing {} ({} MB)", source.display(), about.len().div_ceil(1_000_000)));
    let sha256 = sha256_file(source, &mut |_| ()).map_err(|error| Failure::input(error.to_string()))?;
    file.member = inside.then(|| format!("bundle/model/{}/{}", &sha256[..16], file.name));
    (file.bytes, file.sha256) = (Some(about.len()), Some(sha256));
    Ok(())
}

/// A file that is to lie beside the bundle: its name, and what is known of it.
fn expected(path: &Path) -> Result<(String, Option<u64>, Option<String>), Failure> {
    let catalog = Catalog::embedded().map_err(|error| Failure::input(error.to_string()))?;
    Ok(match catalog.named(&path.to_string_lossy()) {
        Some(entry) => (entry.file.clone(), Some(entry.size_bytes), Some(entry.sha256.clone())),
        None => (file_name(path)?, None, None),
    })
}

fn file_name(path: &Path) -> Result<String, Failure> {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str);
    let name = name.filter(|name| crate::parcel::check_name(name).is_ok());
    name.map(str::to_owned).ok_or_else(|| {
        Failure::usage(format!("{}: rename the file: its name cannot be packed", path.display()))
    })
}

fn bytes_of(hex: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

fn data(recorder: &Recorder) -> Result<(Vec<Material<'static>>, Vec<DataFile>), Failure> {
    let mut members = Vec::new();
    let mut files = Vec::new();
    for (number, (path, in_pieces)) in recorder.files.iter().enumerate() {
        let called =
            crate::log::sanitise(Path::new(path).file_name().unwrap_or_default().to_string_lossy().as_ref());
        let member = format!("bundle/data/{number:04}-{called}");
        // What is read in pieces must be found without unpacking what stands before.
        let kind = if *in_pieces { Kind::Stored } else { Kind::Zstd };
        members.push(Material { kind, ..Material::file(member.clone(), path) });
        files.push(DataFile { path: path.clone(), member });
    }
    Ok((members, files))
}

/// The disk, with an account of what was read.
#[derive(Debug, Default)]
struct Recorder {
    /// Path, and whether pieces of it are read.
    files: BTreeMap<String, bool>,
    folders: BTreeMap<String, Vec<String>>,
}

impl Recorder {
    fn saw(&mut self, path: &str, in_pieces: bool) {
        *self.files.entry(path.to_owned()).or_default() |= in_pieces;
    }
}

impl Files for Recorder {
    fn open(&mut self, path: &str) -> Result<Box<dyn Read + '_>, String> {
        // Opened through a disk that lives no longer than this call, so the handle must be the file's own.
        let file = crate::disk::opened(path)?;
        self.saw(path, false);
        Ok(Box::new(file))
    }

    fn stretch(&mut self, path: &str, offset: u64, bytes: u64) -> Result<Vec<u8>, String> {
        let found = Disk.stretch(path, offset, bytes)?;
        self.saw(path, true);
        Ok(found)
    }

    fn list(&mut self, folder: &str) -> Result<Vec<String>, String> {
        let names = Disk.list(folder)?;
        self.folders.insert(folder.to_owned(), names.clone());
        Ok(names)
    }
}
