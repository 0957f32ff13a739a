//! A model file, opened far enough to know what it is and how it is prompted.

use std::path::{Path, PathBuf};

use datasets::Files;
use models::catalog::{Catalog, CatalogError};
use models::gguf::{Header, sha256_file};
use models::template::{Renderer, TemplateError, Tokens};

use super::mmproj::Mmproj;
use crate::config::ModelChoice;
use crate::disk::Disk;
use crate::entry::ModelRecord;
use crate::exit::Failure;
use crate::memory::Budget;

/// A model of a plan.
pub struct PlannedModel {
    /// What the log says of it. The hash is filled in by [`PlannedModel::hash`].
    pub record: ModelRecord,
    /// What the engine loads.
    pub path: PathBuf,
    /// The header; `None` for the fake engine.
    pub header: Option<Header>,
    /// Gives prompts their form.
    pub renderer: Renderer,
    /// Its own memory budget.
    pub memory_budget: Option<Budget>,
    /// Why its files cannot be mapped into memory, where they cannot.
    pub unmappable: Option<String>,
    /// What turns pictures into what it reads.
    pub mmproj: Option<Mmproj>,
}

/// Bytes that a token takes in a KV cache of 16-bit values.
fn cell_bytes(header: &Header) -> Option<u64> {
    let heads: u64 = header.kv_heads().iter().sum::<u64>();
    let layers = header.layers()?;
    // One number stands for all layers.
    let heads = if header.kv_heads().len() == 1 { heads * layers } else { heads };
    Some(2 * heads * (header.key_width()? + header.value_width()?))
}

/// The template of the fake engine.
const FAKE_TEMPLATE: &str =
    "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}\n{% endfor %}<|assistant|>\n";

impl PlannedModel {
    /// Reads the header, finds the template and tries it.
    pub fn open(choice: &ModelChoice) -> Result<Self, Failure> {
        if models::fake::is_fake(&choice.path) {
            return open_fake(choice);
        }
        let path = resolve(&choice.path)?;
        let header = Header::open(&path).map_err(|error| Failure::input(error.to_string()))?;
        if header.projector() {
            return Err(Failure::input(format!(
                "{}: is a picture projector and no model: give it with --mmproj or `mmproj = \"FILE\"`, beside the model that it \
                 goes with",
                path.display()
            )));
        }
        if header.pre_tokenizer_missing() && !choice.guess_pre_tokenizer {
            return Err(Failure::input(format!(
                "{}: the header has no `tokenizer.ggml.pre`, so its texts would become other tokens than in training: \
                 convert the model again, or set `guess-pre-tokenizer = true` for it",
                path.display()
            )));
        }
        let (template_source, renderer) = renderer(choice, &header)?;
        let mmproj = choice.mmproj.as_deref().map(|path| Mmproj::open(path, &header)).transpose()?;
        let facts = renderer.facts();
        let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let record = ModelRecord {
            name: choice.name.clone().unwrap_or(stem),
            path: choice.path.display().to_string(),
            file_bytes: header.file_bytes,
            sha256: String::new(),
            architecture: header.architecture().unwrap_or_default().to_owned(),
            quantisation: header.quantisation(),
            parameters: header.parameters(),
            template_source,
            template: facts.text.clone(),
            template_sha256: facts.sha256.clone(),
            mmproj: mmproj.as_ref().map(|(_, record)| record.clone()),
        };
        Ok(PlannedModel {
            record,
            path: header.path.clone(),
            unmappable: header.files().iter().find_map(|file| models::mapping::refusal(file)),
            header: Some(header),
            renderer,
            memory_budget: choice.memory_budget,
            mmproj: mmproj.map(|(mmproj, _)| mmproj),
        })
    }

    /// Whether pictures can be put into its prompts.
    pub fn shows_pictures(&self) -> bool {
        self.mmproj.is_some()
    }

    /// Fills in the hash of the model's files.
    pub fn hash(&mut self) -> Result<(), Failure> {
        let Some(header) = &self.header else { return Ok(()) };
        let mut hashes = Vec::new();
        for file in header.files() {
            hashes.push(sha256_file(file, &mut |_| ()).map_err(|error| Failure::input(error.to_string()))?);
        }
        self.record.sha256 = hashes.join("+");
        if let (Some(mmproj), Some(record)) = (&self.mmproj, &mut self.record.mmproj) {
            record.sha256 =
                sha256_file(&mmproj.path, &mut |_| ()).map_err(|error| Failure::input(error.to_string()))?;
        }
        Ok(())
    }

    /// Cells of a KV cache of modest size: 16-bit keys and values of all layers.
    pub fn modest_cells(&self) -> u32 {
        const MOST_BYTES: u64 = 256 << 20;
        const MOST_CELLS: u64 = 8192;
        let bytes = self.header.as_ref().and_then(cell_bytes).unwrap_or(1).max(1);
        (MOST_BYTES / bytes).clamp(512, MOST_CELLS) as u32
    }

    /// Context that the model was trained for, where its file tells.
    pub fn trained_context_tokens(&self) -> Option<u32> {
        let tokens = self.header.as_ref()?.context_tokens()?;
        Some(u32::try_from(tokens).unwrap_or(u32::MAX))
    }
}

fn open_fake(choice: &ModelChoice) -> Result<PlannedModel, Failure> {
    let template = |error: TemplateError| Failure::input(error.to_string());
    let tokens = Tokens::default();
    let renderer = match choice.template.as_deref() {
        None | Some("gguf") => {
            Renderer::of_text("fake", FAKE_TEMPLATE, tokens, choice.thinking).map_err(template)?
        }
        Some("raw") => Renderer::raw(tokens),
        Some(file) => Renderer::of_text(file, &read(file)?, tokens, choice.thinking).map_err(template)?,
    };
    let record = ModelRecord {
        name: choice.name.clone().unwrap_or_else(|| "fake".into()),
        path: choice.path.display().to_string(),
        template_source: "fake".into(),
        template: renderer.facts().text.clone(),
        template_sha256: renderer.facts().sha256.clone(),
        mmproj: choice.mmproj.as_deref().map(Mmproj::fake).transpose()?,
        ..ModelRecord::default()
    };
    Ok(PlannedModel {
        record,
        path: choice.path.clone(),
        header: None,
        renderer,
        memory_budget: choice.memory_budget,
        unmappable: models::fake::is_unmappable(&choice.path).then(|| "on request".into()),
        mmproj: choice.mmproj.clone().map(|path| Mmproj { path, header: None }),
    })
}

fn renderer(choice: &ModelChoice, header: &Header) -> Result<(String, Renderer), Failure> {
    let rendered =
        |result: Result<Renderer, TemplateError>| result.map_err(|error| Failure::input(error.to_string()));
    Ok(match choice.template.as_deref() {
        None | Some("gguf") => ("gguf".into(), rendered(Renderer::of_model(header, choice.thinking))?),
        Some("raw") => ("raw".into(), Renderer::raw(Tokens::of(header))),
        Some(file) => {
            let text = read(file)?;
            (file.to_owned(), rendered(Renderer::of_text(file, &text, Tokens::of(header), choice.thinking))?)
        }
    })
}

fn read(file: &str) -> Result<String, Failure> {
    Disk.text(file).map_err(|error| Failure::input(format!("template file {error}")))
}

/// A path as it is, or the file of a name of the catalogue.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, Failure> {
    let catalog = Catalog::embedded().map_err(|error| Failure::input(error.to_string()))?;
    catalog.resolve(&path.to_string_lossy(), Path::new("")).map_err(|error| {
        Failure::input(match error {
            CatalogError::NotFetched { .. } => format!("{error}; or give a file of yours with --model FILE"),
            error => error.to_string(),
        })
    })
}
