//! A picture projector beside its model: opened far enough to know that the two belong together.

use std::path::{Path, PathBuf};

use models::gguf::{Header, Value};

use crate::entry::ProjectorRecord;
use crate::exit::Failure;

/// A picture projector.
pub struct Mmproj {
    /// The file.
    pub path: PathBuf,
    /// Its header; `None` for the fake engine.
    pub header: Option<Header>,
}

impl Mmproj {
    /// Reads the header and holds it against that of the model.
    pub(crate) fn open(path: &Path, model: &Header) -> Result<(Self, ProjectorRecord), Failure> {
        let name = path.display();
        if !path.exists() {
            return Err(Failure::input(format!(
                "{name}: there is no such file: give the picture projector (mmproj) of {}",
                model.path.display()
            )));
        }
        let header = Header::open(path).map_err(|error| Failure::input(error.to_string()))?;
        if !header.projector() {
            let found = header.architecture().unwrap_or("unknown");
            return Err(Failure::input(format!(
                "{name}: it is no picture projector but a file of architecture {found}: give the mmproj file that goes with the \
                 model"
            )));
        }
        let sees = header.values.get("clip.has_vision_encoder").and_then(Value::bool);
        if sees == Some(false) {
            return Err(Failure::input(format!("{name}: it is a projector without an encoder for pictures")));
        }
        let given = header.values.get("clip.vision.projection_dim").and_then(Value::count);
        // Some models take the vectors of several layers of the encoder at once.
        let layers = model.of_architecture("n_deepstack_layers").unwrap_or(0);
        if let (Some(given), Some(taken)) = (given, model.width())
            && given != taken
            && given != taken * (1 + layers)
        {
            return Err(Failure::input(format!(
                "{name}: it is the picture projector of another model: it gives vectors of {given} numbers, and {} takes {taken}",
                model.path.display()
            )));
        }
        let kind = ["clip.projector_type", "clip.vision.projector_type"];
        let kind = kind.iter().find_map(|key| header.text(key)).unwrap_or_default();
        let record = ProjectorRecord {
            path: name.to_string(),
            file_bytes: header.file_bytes,
            sha256: String::new(),
            kind: kind.to_owned(),
            quantisation: header.quantisation(),
            parameters: header.parameters(),
        };
        Ok((Mmproj { path: header.path.clone(), header: Some(header) }, record))
    }

    /// The projector of the fake engine.
    pub(super) fn fake(path: &Path) -> Result<ProjectorRecord, Failure> {
        match models::fake::is_fake(path) {
            true => Ok(ProjectorRecord {
                path: path.display().to_string(),
                kind: "fake".into(),
                ..Default::default()
            }),
            false => Err(Failure::input(format!(
                "{}: the fake model takes no picture projector but `mmproj = \"fake\"`",
                path.display()
            ))),
        }
    }
}
