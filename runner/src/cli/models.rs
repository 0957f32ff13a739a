//! `edge-eval models`.

use std::path::PathBuf;

use clap::Subcommand;
use models::gguf::{Header, sha256_file};

use super::print;
use crate::exit::{Exit, Failure};

/// What can be done with model files.
#[derive(Debug, Subcommand)]
pub(super) enum Models {
    /// Show what a GGUF file holds: architecture, quantisation, sizes, template, tokenizer, SHA-256
    Inspect {
        /// The file, or a name of `list models`
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Models {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let Models::Inspect { file, json } = self;
        let input = |error: models::gguf::GgufError| Failure::input(error.to_string());
        let header =
            Header::open(&if file.exists() { file } else { crate::plan::resolve(&file)? }).map_err(input)?;
        let hashes: Vec<String> = header
            .files()
            .iter()
            .map(|part| sha256_file(part, &mut |_| ()))
            .collect::<Result<_, _>>()
            .map_err(input)?;
        let inspection = header.inspect();
        if json {
            let mut value = serde_json::to_value(&inspection)
                .map_err(|error| Failure::new(Exit::Failed, format!("JSON: {error}")))?;
            value["sha256"] = serde_json::json!(hashes);
            return print(&format!("{value:#}\n"));
        }
        let mut text = inspection.to_string();
        for hash in hashes {
            text.push_str(&format!("sha256: {hash}\n"));
        }
        if let Some(template) = header.chat_template() {
            text.push_str(&format!("\nchat template:\n{}\n", template.trim_end()));
        }
        print(&text)
    }
}
