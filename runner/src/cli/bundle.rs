//! This program where it is a bundle: what happens when it is started without arguments.

mod preview;
mod sources;

use std::path::PathBuf;

use clap::Parser;

use super::measure::Measure;
use super::run::{drive, ended, listen, results};
use super::{print, talk};
use crate::bundle::{Bundle, Carried, Places, Results, carry, for_testers};
use crate::config::{Config, ModelChoice, Overrides};
use crate::exit::{Exit, Failure};
use crate::levels::Program;
use crate::memory::Budget;
use crate::parcel::{BUNDLE, Parcel};
use crate::plan::{Plan, difference};
use crate::report::RunLog;
use crate::session::{Session, header};
use preview::show;
use sources::{Source, sources};

/// What a bundle's start may be told: what depends on the board alone.
#[derive(Clone, Debug, Default, Parser)]
#[command(disable_help_flag = true)]
struct Given {
    /// CPU level of the worker instead of the best that runs here
    #[arg(long, value_name = "LEVEL")]
    cpu_level: Option<String>,
    /// What a model may take of the memory, instead of what was packed
    #[arg(long, value_name = "auto|none|1.5GiB|60%")]
    memory_budget: Option<Budget>,
}

impl Given {
    /// Whether an argument belongs to a bundle's start. The program itself has no such option before a command.
    fn is_named(argument: &std::ffi::OsStr) -> bool {
        let text = argument.to_string_lossy();
        ["--cpu-level", "--memory-budget"].contains(&text.split('=').next().unwrap_or_default())
    }

    fn read(arguments: &[std::ffi::OsString]) -> Result<Given, Failure> {
        Given::try_parse_from(arguments).map_err(|error| {
            let text = error.to_string();
            let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Failure::usage(format!(
                "{what}: a bundle is started with --cpu-level LEVEL and --memory-budget SIZE at most"
            ))
        })
    }
}

/// Whether this program is a bundle, as far as that matters for what was typed.
pub(super) struct Own {
    bundle: Option<(Bundle, Given)>,
    /// Name of the file, where people ask for help.
    helped: Option<String>,
}

impl Own {
    /// Looks. Damage ends a start of the bundle; with arguments of the program this is the normal program.
    pub(super) fn find(arguments: &[std::ffi::OsString]) -> Result<Own, Failure> {
        let mut own = Own { bundle: None, helped: None };
        match arguments {
            [_] => own.bundle = Bundle::own()?.map(|bundle| (bundle, Given::default())),
            [_, first, ..] if Given::is_named(first) => {
                if let Some(bundle) = Bundle::own()? {
                    own.bundle = Some((bundle, Given::read(arguments)?));
                }
            }
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

    /// Runs the bundle, where that was meant.
    pub(super) fn start(&self) -> Option<Result<Exit, Failure>> {
        self.bundle.as_ref().map(|(bundle, given)| start(bundle, given))
    }

    /// Says in the help that this is a bundle.
    pub(super) fn tell(&self, command: clap::Command) -> clap::Command {
        match &self.helped {
            None => command,
            Some(name) => command.before_help(format!(
                "{name} is a bundle: started without arguments, or with --cpu-level LEVEL or --memory-budget SIZE alone, it runs the \
                 evaluation that it carries and leaves {name}.eval and {name}.html. With other arguments it is the program edge-eval:"
            )),
        }
    }
}

/// Runs a bundle.
fn start(bundle: &Bundle, given: &Given) -> Result<Exit, Failure> {
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
    let config = configured(bundle, given)?;
    crate::memory::enter_scope(config.memory.enforce);
    let program = Program::find(&config.engine.cpu_level)?;
    let earlier = results.earlier(&mut talk)?;
    let done = earlier.as_ref().filter(|run| run.complete.is_some());
    let mut sources = sources(bundle, &places, done)?;
    if given.memory_budget.is_some() {
        sources.iter_mut().for_each(|source| source.choice.memory_budget = None);
    }
    if let Some(run) = &earlier
        && let Some(done) = gone_before(bundle, &config, program.level(), &sources, &results, run)?
    {
        return Ok(done);
    }
    let plan = planned(bundle, &places, config, &sources, program.level())?;
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
    let interrupt = listen()?;
    if !show(&plan, &session, &program, &results, &interrupt)? {
        talk(&format!("stopped before a question was asked; start {name} again to go on"));
        return Ok(Exit::Interrupted);
    }
    let outcome = drive(&plan, &mut session, program, &Measure::default(), false, interrupt);
    // Whatever happened, what was answered so far can be handed over.
    let run = results.hand_over();
    // A page can be made again from the result: that it is missing does not change what became of the run.
    let page = run.as_ref().map_or(Ok(()), |run| results.write_page(run, mass_floor));
    if let Err(failure) = &page {
        talk(&format!("the page is not written: {failure}"));
    }
    let report = outcome?;
    if report.interrupted {
        talk(&format!("stopped; start {name} again to go on"));
    }
    tell(&run?, &results, page.is_ok(), mass_floor)?;
    ended(report)
}

/// The configuration without models, with what packing and this start changed.
fn configured(bundle: &Bundle, given: &Given) -> Result<Config, Failure> {
    let mut config = bundle.manifest.configured(&bundle.config)?;
    let Given { cpu_level, memory_budget } = given.clone();
    let overrides = Overrides { cpu_level, memory_budget, ..Overrides::default() };
    overrides.apply(&mut config).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(config)
}

/// The plan, with the weights ready to be loaded.
fn planned(
    bundle: &Bundle,
    places: &Places,
    mut config: Config,
    sources: &[Source],
    level: &str,
) -> Result<Plan, Failure> {
    for source in sources {
        config.models.push(source.ready(bundle, places)?);
    }
    let mut plan = Plan::make(config, &bundle.manifest.config, &bundle.config).map_err(for_testers)?;
    plan.level = level.to_owned();
    for (at, source) in sources.iter().enumerate() {
        source.settle(&mut plan.models[at].record);
        plan.config.models[at] = source.choice.clone();
    }
    plan.notes.iter().for_each(|note| talk(note));
    plan.order_in_words().iter().for_each(|order| talk(order));
    Ok(plan)
}

fn reopened(bundle: &Bundle) -> Result<Parcel, Failure> {
    Parcel::of(bundle.parcel.path()).map_err(crate::bundle::refused)?.ok_or_else(|| {
        Failure::disk(format!("{}: it changed while it was read", bundle.parcel.path().display()))
    })
}

/// What to do with the results of an earlier start: nothing but the page when they are complete, go on when they are not.
fn gone_before(
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
    tell(run, results, true, plan.config.report.mass_floor)?;
    match results.damage(run) {
        Some(damage) => Err(damage),
        None => Ok(Some(Exit::Done)),
    }
}

fn tell(run: &RunLog, places: &Results, has_page: bool, mass_floor: f64) -> Result<(), Failure> {
    let mut text = format!("{}\n\nresults: {}\n", results(run, mass_floor), places.log.display());
    if has_page {
        text.push_str(&format!("page: {}\n", places.page.display()));
    }
    print(&text).map(drop)
}
