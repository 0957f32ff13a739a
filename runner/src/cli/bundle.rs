//! This program where it is a bundle: what happens when it is started without arguments.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::measure::Measure;
use super::run::{drive, ended, results};
use super::{print, talk};
use crate::bundle::{Bundle, Carried, Places, Results, beside, carry, remaining_us, unpack};
use crate::config::{Config, ModelChoice, TelemetryChoice};
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
    if let Some(run) = results.earlier()? {
        if let Some(done) = earlier(bundle, &config, program.level(), &sources, &results, &run)? {
            return Ok(done);
        }
    }
    for source in &sources {
        let path = source.ready(bundle, &places)?;
        config.models.push(ModelChoice { path, ..source.choice(bundle) });
    }
    let mut plan = Plan::make(config, &manifest.config, &bundle.config)?;
    plan.level = program.level().to_owned();
    settle(&mut plan, bundle, &sources);
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

/// Where a model comes from.
enum Source {
    /// Carried by the bundle, or the fake engine: its place in the manifest.
    Carried(usize),
    /// A file beside the bundle.
    Beside { choice: ModelChoice, path: PathBuf, sha256: String },
}

impl Source {
    /// The choice that is the same on every machine.
    fn choice(&self, bundle: &Bundle) -> ModelChoice {
        match self {
            Source::Carried(at) => bundle.manifest.models[*at].choice(),
            Source::Beside { choice, .. } => choice.clone(),
        }
    }

    /// The hash of its weights.
    fn sha256(&self, bundle: &Bundle) -> String {
        match self {
            Source::Carried(at) => bundle.manifest.models[*at].sha256().unwrap_or_default(),
            Source::Beside { sha256, .. } => sha256.clone(),
        }
    }

    /// Makes the weights ready; gives the file to load.
    fn ready(&self, bundle: &Bundle, places: &Places) -> Result<PathBuf, Failure> {
        match self {
            Source::Beside { path, .. } => Ok(path.clone()),
            Source::Carried(at) => match &bundle.manifest.models[*at] {
                fake if fake.files.is_empty() => Ok(fake.choice.path.clone()),
                model => unpack(&bundle.parcel, model, &places.weights, &mut talk),
            },
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
        return found.into_iter().map(|choice| lying(choice.clone(), choice.path)).collect();
    }
    let mut sources = Vec::new();
    for (at, model) in models.iter().enumerate() {
        let outside = model.files.first().filter(|file| file.member.is_none());
        let Some(file) = outside else {
            sources.push(Source::Carried(at));
            continue;
        };
        let path = places.home.join(&file.name);
        if !path.is_file() {
            return Err(Failure::usage(format!(
                "the model file {} does not lie beside {}: put it into {}",
                file.name,
                bundle.name(),
                places.home.display()
            )));
        }
        let source = lying(model.choice(), path)?;
        if let (Source::Beside { path, sha256, .. }, Some(expected)) = (&source, model.sha256()) {
            if *sha256 != expected {
                return Err(Failure::input(format!(
                    "{}: not the file that the bundle was made for (SHA-256 {}..., wanted {}...): get that one",
                    path.display(),
                    sha256.get(..12).unwrap_or_default(),
                    expected.get(..12).unwrap_or_default()
                )));
            }
        }
        sources.push(source);
    }
    Ok(sources)
}

fn lying(choice: ModelChoice, path: PathBuf) -> Result<Source, Failure> {
    talk(&format!("hashing {}", path.display()));
    let (choice, sha256) = hashed(choice, &path)?;
    Ok(Source::Beside { choice, path, sha256 })
}

fn hashed(choice: ModelChoice, path: &Path) -> Result<(ModelChoice, String), Failure> {
    use models::gguf::{Header, sha256_file};
    let header = Header::open(path).map_err(|error| Failure::input(error.to_string()))?;
    let mut hashes = Vec::new();
    for file in header.files() {
        hashes.push(sha256_file(file, &mut |_| ()).map_err(|error| Failure::input(error.to_string()))?);
    }
    let file = PathBuf::from(path.file_name().unwrap_or_default());
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = choice.name.clone().or(Some(stem));
    Ok((ModelChoice { path: file, name, ..choice }, hashes.join("+")))
}

/// Gives a plan the paths and hashes that are the same on every machine, so that logs of boards can be joined.
fn settle(plan: &mut Plan, bundle: &Bundle, sources: &[Source]) {
    let places = plan.models.iter_mut().zip(&mut plan.config.models);
    for ((model, choice), source) in places.zip(sources) {
        *choice = source.choice(bundle);
        model.record.path = choice.path.display().to_string();
        model.record.sha256 = source.sha256(bundle);
    }
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
    let stand_in = ModelChoice { template: None, ..ModelChoice::of(PathBuf::from("fake")) };
    let config = Config { models: vec![stand_in], ..config.clone() };
    let mut plan = Plan::make(config, &bundle.manifest.config, &bundle.config)?;
    let chosen: Vec<ModelChoice> = sources.iter().map(|source| source.choice(bundle)).collect();
    plan.config.models = chosen;
    plan.level = level.to_owned();
    let mut planned = header(&plan);
    planned.groups = run.header.groups;
    planned.models.clone_from(&run.header.models);
    planned.models.truncate(sources.len());
    for (model, source) in planned.models.iter_mut().zip(sources) {
        model.sha256 = source.sha256(bundle);
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
