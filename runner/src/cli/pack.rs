//! `edge-eval pack`.

use std::path::PathBuf;

use clap::Args;
use models::gguf::sha256_file;

use super::run::listen;
use super::{Choice, print, talk};
use crate::bundle::{self, Gathered, Wanted, gather};
use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::memory::in_words;
use crate::parcel::{self, LEVELS, Material, Member};

/// Help beside the arguments.
pub(super) const HELP: &str = "The file that is written runs by itself: it shows what it will do, runs, goes on where it was \
    interrupted, and leaves NAME.eval and NAME.html beside itself. Models given with --model are inside; without, the file \
    takes those of the configuration from its own folder, or every GGUF file there when there are none.

Examples:
  edge-eval pack configs/quickstart.toml --model my.gguf -o field-test
  edge-eval pack configs/quickstart.toml --model my.gguf --target aarch64 -o field-test-arm
  edge-eval pack configs/papers.toml --any-model -o bring-your-own";

/// Arguments of `pack`.
#[derive(Debug, Args)]
pub(super) struct Pack {
    #[command(flatten)]
    choice: Choice,
    /// The bundle to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Processor of the boards: aarch64 or x86_64; this one when absent
    #[arg(long, value_name = "ARCH")]
    target: Option<String>,
    /// The edge-eval executable to begin with, instead of this program or the released one beside it
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Forget the configuration's models: the bundle takes every GGUF file that lies beside it
    #[arg(long, conflicts_with_all = ["models", "mmproj"])]
    any_model: bool,
}

impl Pack {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let (name, text) = self.choice.text()?;
        let (base, notes) = bundle::base(self.target.as_deref(), self.base.as_deref())?;
        let wanted = Wanted {
            name,
            text,
            overrides: self.choice.overrides(),
            any_model: self.any_model,
            out: self.out.clone(),
            base: base.path().to_owned(),
        };
        bundle::check_level(&base, &level(&wanted)?)?;
        notes.iter().for_each(|note| talk(&format!("note: {note}")));
        let gathered = gather(&wanted, &mut talk)?;
        gathered.plan.notes.iter().for_each(|note| talk(note));
        let mut members = Vec::new();
        if let Some(parcel) = base.parcel() {
            let levels = parcel.members().iter().filter(|member| member.name.starts_with(LEVELS));
            members.extend(levels.map(|member| Material::carried(parcel, member)));
        }
        let head = self.head(&gathered);
        members.extend(gathered.members);
        let interrupt = listen()?;
        let written = parcel::write_unless(&base, members, &self.out, &mut |_| (), &|| interrupt.is_asked());
        if written.is_err() && interrupt.is_asked() {
            talk("stopped: no bundle is written");
            return Ok(Exit::Interrupted);
        }
        let written = written.map_err(bundle::refused)?;
        let whole = std::fs::metadata(&self.out)
            .map_err(|error| Failure::disk(format!("{}: {error}", self.out.display())))?
            .len();
        let sha256 = sha256_file(&self.out, &mut |_| ()).map_err(|error| Failure::disk(error.to_string()))?;
        let mut shown = head;
        shown.push_str(&format!(
            "  {:<52} {:>12}  {}\n",
            "program",
            in_words(base.executable().end_bytes),
            base.executable().machine
        ));
        written.iter().for_each(|member| shown.push_str(&line(member)));
        shown.push_str(&format!("  {:<52} {:>12}\n", "in all", in_words(whole)));
        shown.push_str(&format!("  the whole file: {whole} bytes, sha256 {sha256}\n"));
        print(&shown)
    }

    fn head(&self, gathered: &Gathered) -> String {
        let mut text = format!("{}: bundle of {}\n", self.out.display(), gathered.manifest.config);
        for task in &gathered.plan.tasks {
            text.push_str(&format!(
                "  task {}: {} items, asked through {}\n",
                task.record.name,
                task.record.items,
                task.record.interfaces.join(", ")
            ));
        }
        for model in &gathered.manifest.models {
            let name = model.choice.name.as_deref().unwrap_or("fake");
            let first = model.files.first();
            let place = match first {
                None => "the engine without a model".to_owned(),
                Some(file) if file.member.is_some() => "inside".to_owned(),
                Some(file) => format!(
                    "not inside: put {} beside the bundle{}",
                    file.name,
                    if file.sha256.is_some() { ", this very file" } else { "" }
                ),
            };
            text.push_str(&format!("  model {name}: {place}\n"));
        }
        if gathered.manifest.models.is_empty() {
            text.push_str("  models: every GGUF file beside the bundle\n");
        }
        text
    }
}

/// The CPU level that the configuration comes to.
fn level(wanted: &Wanted) -> Result<String, Failure> {
    let usage = |error: crate::config::ConfigError| Failure::usage(error.to_string());
    let mut config = Config::parse(&wanted.text, &wanted.name).map_err(usage)?;
    wanted.overrides.apply(&mut config).map_err(usage)?;
    Ok(config.engine.cpu_level)
}

fn line(member: &Member) -> String {
    let name = member.name.strip_prefix("bundle/").unwrap_or(&member.name);
    let hash = models::gguf::hex(&member.sha256[..6]);
    let size = in_words(member.kept_bytes);
    match member.kept_bytes == member.bytes {
        true => format!("  {name:<52} {size:>12}  sha256 {hash}...\n"),
        false => format!("  {name:<52} {size:>12}  sha256 {hash}..., {} unpacked\n", in_words(member.bytes)),
    }
}
