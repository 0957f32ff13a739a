//! This program where it is a bundle: what happens when it is started without arguments.

use std::path::{Path, PathBuf};
use std::time::Duration;

use models::gguf::{Header, sha256_file};

use super::measure::Measure;
use super::run::{drive, ended, results};
use super::{print, talk};
use crate::bundle::{Bundle, BundledModel, Carried, Places, Results, beside, carry, remaining_us, unpack};
use crate::config::{Config, ModelChoice, TelemetryChoice};
use crate::entry::ModelRecord;
use crate::estimate::{Estimate, estimate};
use crate::exit::{Exit, Failure};
use crate::forecast::{duration_in_words, forecast};
use crate::levels::Program;
use crate::memory::in_words;
use crate::parcel::{BUNDLE, Parcel};
use crate::plan::{Plan, difference};
use crate::report::RunLog;
use crate::session::{Session, header};

/// How long the first questions are tried, all models together.
const TRIAL: Duration = Duration::from_secs(30);

/// Whether this program is a bundle, as far as that matters for what was typed.
pub(super) struct Own {
    bundle: Option<Bundle>,
    /// Name of the file, where people ask for help.
    helped: Option<String>,
}

impl Own {
    /// Looks. Damage ends a start without arguments; with arguments this is the normal program.
    pub(super) fn find(arguments: &[std::ffi::OsString]) -> Result<Own, Failure> {
        let mut own = Own { bundle: None, helped: None };
        match arguments {
            [_] => own.bundle = Bundle::own()?,
            [_, first] if first == "--help" || first == "-h" || first == "help" => {
                let path = crate::itself::path();
                let parcel = path.as_deref().and_then(|path| Parcel::of(path).ok().flatten());
                own.helped = parcel
                    .filter(|parcel| parcel.has(BUNDLE))
                    .and_then(|parcel| Some(parcel.path().file_name()?.to_string_lossy().into_owned()));
            }
            _ => {}
        }
        Ok(own)
    }

    /// The bundle that shall run.
    pub(super) fn started(&self) -> Option<&Bundle> {
        self.bundle.as_ref()
    }

    /// Says in the help that this is a bundle.
    pub(super) fn tell(&self, command: clap::Command) -> clap::Command {
        match &self.helped {
            None => command,
            Some(name) => command.before_help(format!(
                "{name} is a bundle: started without arguments it runs the evaluation that it carries and leaves {name}.eval and \
                 {name}.html. With arguments it is the program edge-eval:"
            )),
        }
    }
}

/// Runs a bundle.
pub(super) fn start(bundle: &Bundle) -> Result<Exit, Failure> {
    let name = bundle.name();
    let current = std::env::current_dir()
        .map_err(|error| Failure::disk(format!("the current folder cannot be found: {error}")))?;
    let places = Places::find(bundle.parcel.path(), &current, Places::cache())?;
    if places.results != places.home {
        talk(&format!(
            "{}: cannot be written to; results go to {}",
            places.home.display(),
            places.results.display()
        ));
    }
    let results = Results::of(&places.results, &name);
    let manifest = &bundle.manifest;
    talk(&format!("{name}: bundle of {} ({})", manifest.config, manifest.program));
    carry(Carried::of(reopened(bundle)?, manifest));
    let mut config = manifest.configured(&bundle.config)?;
    crate::memory::enter_scope(config.memory.enforce);
    let program = Program::find(&config.engine.cpu_level)?;
    let sources = sources(bundle, &places)?;
    if let Some(run) = results.earlier()?
        && let Some(done) = earlier(bundle, &config, program.level(), &sources, &results, &run)?
    {
        return Ok(done);
    }
    for source in &sources {
        config.models.push(source.ready(bundle, &places)?);
    }
    let mut plan = Plan::make(config, &manifest.config, &bundle.config)?;
    plan.level = program.level().to_owned();
    for (at, source) in sources.iter().enumerate() {
        source.settle(&mut plan.models[at].record);
        plan.config.models[at] = source.choice.clone();
    }
    plan.notes.iter().for_each(|note| talk(note));
    plan.order_in_words().iter().for_each(|order| talk(order));
    let mass_floor = plan.config.report.mass_floor;
    let mut session =
        Session::open(&plan, Some(&results.work), &name).map_err(|failure| match failure.exit {
            Exit::Mismatch => Failure::new(
                Exit::Mismatch,
                format!(
                    "{}: move {} away to begin anew",
                    failure.message.replace("; choose another folder with --out", ""),
                    results.work.display()
                ),
            ),
            _ => failure,
        })?;
    show(&plan, &session, &program, &results)?;
    let outcome = drive(&plan, &mut session, program, &Measure::default(), false);
    // Whatever happened, what was answered so far can be handed over.
    let written = results.write(mass_floor);
    let report = outcome?;
    tell(&written?, &results, mass_floor)?;
    if report.interrupted {
        talk(&format!("stopped; start {name} again to go on"));
    }
    ended(report)
}

fn reopened(bundle: &Bundle) -> Result<Parcel, Failure> {
    Parcel::of(bundle.parcel.path()).map_err(crate::bundle::refused)?.ok_or_else(|| {
        Failure::disk(format!("{}: it changed while it was read", bundle.parcel.path().display()))
    })
}

/// A model, and where it comes from.
struct Source {
    /// What is the same on every machine.
    choice: ModelChoice,
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
    fn ready(&self, bundle: &Bundle, places: &Places) -> Result<ModelChoice, Failure> {
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
    fn settle(&self, record: &mut ModelRecord) {
        record.path = self.choice.path.display().to_string();
        record.sha256.clone_from(&self.sha256);
        if let (Some(mmproj), Some(name)) = (&mut record.mmproj, &self.choice.mmproj) {
            mmproj.path = name.display().to_string();
            mmproj.sha256 = self.mmproj_sha256.clone().unwrap_or_default();
        }
    }
}

/// The models, in order. Those beside the bundle are hashed here.
fn sources(bundle: &Bundle, places: &Places) -> Result<Vec<Source>, Failure> {
    let models = &bundle.manifest.models;
    if models.is_empty() {
        let (found, notes) = beside(&places.home)?;
        notes.iter().for_each(|note| talk(note));
        if found.is_empty() {
            return Err(Failure::usage(format!(
                "{} carries no model and no GGUF file lies beside it: put one into {}",
                bundle.name(),
                places.home.display()
            )));
        }
        return found.into_iter().map(|choice| lying(choice.clone(), &choice.path)).collect();
    }
    models.iter().enumerate().map(|(at, model)| source(bundle, places, at, model)).collect()
}

fn source(bundle: &Bundle, places: &Places, at: usize, model: &BundledModel) -> Result<Source, Failure> {
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
    for file in model.all_files() {
        if !places.home.join(&file.name).is_file() {
            return Err(Failure::usage(format!(
                "the model file {} does not lie beside {}: put it into {}",
                file.name,
                bundle.name(),
                places.home.display()
            )));
        }
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

/// What to do with the results of an earlier start: nothing but the page when they are complete, go on when they are not.
fn earlier(
    bundle: &Bundle,
    config: &Config,
    level: &str,
    sources: &[Source],
    results: &Results,
    run: &RunLog,
) -> Result<Option<Exit>, Failure> {
    // The tasks are planned with the fake engine: weights need not be unpacked to see that nothing is left to do.
    let fake = || PathBuf::from("fake");
    let stand_in = ModelChoice { template: None, mmproj: Some(fake()), ..ModelChoice::of(fake()) };
    let config = Config { models: vec![stand_in], ..config.clone() };
    let mut plan = Plan::make(config, &bundle.manifest.config, &bundle.config)?;
    let chosen: Vec<ModelChoice> = sources.iter().map(|source| source.choice.clone()).collect();
    plan.config.models = chosen;
    plan.level = level.to_owned();
    let mut planned = header(&plan);
    planned.groups = run.header.groups;
    planned.models.clone_from(&run.header.models);
    planned.models.truncate(sources.len());
    for (model, source) in planned.models.iter_mut().zip(sources) {
        source.settle(model);
    }
    if let Some(difference) = difference(&run.header, &planned) {
        return Err(results.other_run(&difference));
    }
    if run.complete.is_none() {
        results.go_on()?;
        return Ok(None);
    }
    talk("everything is done; the page is written anew");
    results.write_page(run, plan.config.report.mass_floor)?;
    tell(run, results, plan.config.report.mass_floor)?;
    Ok(Some(Exit::Done))
}

/// Shows what will be done, and how long it will take.
fn show(plan: &Plan, session: &Session, program: &Program, results: &Results) -> Result<(), Failure> {
    session.notes().iter().for_each(|note| talk(note));
    if session.log.is_none() {
        return Ok(());
    }
    for task in &plan.tasks {
        talk(&format!(
            "  task {}: {} items, asked through {}",
            task.record.name,
            task.record.items,
            task.record.interfaces.join(", ")
        ));
    }
    let run = RunLog::read(&session.dir)?;
    let estimates = estimate(plan, program.clone());
    for each in estimates.iter().flatten() {
        let (questions, tokens): (u64, u64) = each
            .rows
            .iter()
            .fold((0, 0), |(items, tokens), row| (items + row.items, tokens + row.prompt_tokens));
        talk(&format!(
            "  model {}: {questions} questions in {} groups, {tokens} prompt tokens, replies of at most {} tokens, {} of memory",
            each.model,
            each.groups,
            each.generation_cap_tokens,
            in_words(each.memory.private_bytes.saturating_add(each.memory.file_bytes))
        ));
    }
    let refusals = estimates.iter().flatten().filter_map(|each| each.memory.refusal.as_ref());
    refusals.for_each(|refusal| talk(&format!("  will not be run: {}", refusal.line())));
    let time = match (remaining_us(plan, &run), &estimates) {
        (Some(us), _) => format!(
            "about {} left, by the {} groups that are done",
            duration_in_words(us as f64 / 1e6),
            run.groups.len()
        ),
        (None, Ok(estimates)) => tried(plan, estimates, program)?,
        // The run itself says what fails, model by model.
        (None, Err(failure)) => format!("not known beforehand: {failure}"),
    };
    talk(&format!("  time: {time}"));
    talk(&format!("  results: {} and {}", results.log.display(), results.page.display()));
    talk("Ctrl-C stops after the group at hand; start it again to go on.");
    Ok(())
}

/// How long all of it will take, by a short trial of every model on the bundle's own questions.
fn tried(plan: &Plan, estimates: &[Estimate], program: &Program) -> Result<String, Failure> {
    let unmeasured = TelemetryChoice { power: "off".to_owned(), ..plan.config.telemetry.clone() };
    let measuring = Measure::default().start(&unmeasured)?;
    talk(&format!("trying the first questions, for at most {} s", TRIAL.as_secs()));
    let forecasts = forecast(plan, estimates, program.clone(), measuring, TRIAL)?;
    let seconds: Option<f64> = forecasts.iter().map(|forecast| forecast.total_s).sum();
    Ok(match seconds {
        Some(seconds) => {
            format!(
                "about {}, rather less than more, by a trial of the first questions",
                duration_in_words(seconds)
            )
        }
        None => "unknown until the first groups are done".to_owned(),
    })
}

fn tell(run: &RunLog, places: &Results, mass_floor: f64) -> Result<(), Failure> {
    let text = results(run, mass_floor);
    print(&format!("{text}\n\nresults: {}\npage: {}\n", places.log.display(), places.page.display()))
        .map(drop)
}
