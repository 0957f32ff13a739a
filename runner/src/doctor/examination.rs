//! The order of the checks, and what each of them needs.

use std::time::Duration;

use models::gguf::Header;
use models::{Job, LoadSpec, Mode};

use super::text::Trouble;
use super::{Check, Findings, answers, file, known, labels, machine, pictures, text};
use crate::config::{Config, ModelChoice, TaskChoice};
use crate::estimate::{self, Estimate};
use crate::exit::Failure;
use crate::levels::{ALL, AUTO, Carried, Program, has};
use crate::plan::{self, Plan, PlannedModel};
use crate::supervisor::{Interrupt, Link, LinkError, load_spec};

/// Prompts of the comparison of shared with single evaluation.
const PARITY_PROMPTS: usize = 20;
/// Items of a task that are measured against the context, where the configuration sets no limit.
const SAMPLE: usize = 44;
/// Names of the checks; those that could not be made are listed as skipped.
const NAMES: [&str; 12] = [
    "file",
    "architecture",
    "pre-tokenizer",
    "template",
    "cpu",
    "known answers",
    "chat",
    "special tokens",
    "item text",
    "labels",
    "context",
    "sanity",
];

/// What is examined.
pub struct Subject {
    /// The model, with its template.
    pub model: ModelChoice,
    /// Tasks and settings that it is meant for; every task when it names none.
    pub config: Config,
    /// What the configuration is called in messages.
    pub config_name: String,
    /// This program, for workers.
    pub program: Program,
}

/// Examines a model. `Err` is for a configuration that cannot be used; whatever is wrong with the model is a finding.
pub fn examine(mut subject: Subject) -> Result<Findings, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::new(crate::exit::Exit::Failed, format!("cannot start the runtime: {error}"))
    })?;
    // The missing rule is a finding of its own; it must not hide what else there is.
    subject.model.guess_pre_tokenizer = true;
    let mut checks = Vec::new();
    let stopped = runtime.block_on(all(&subject, &mut checks))?;
    if let Some(by) = stopped {
        let done = |name: &&str| checks.iter().any(|check: &Check| check.name.starts_with(*name));
        let missing: Vec<&str> = NAMES.into_iter().chain(["parity"]).filter(|name| !done(name)).collect();
        checks.extend(missing.into_iter().map(|name| Check::skip(name, format!("not reached: {by}"))));
    }
    Ok(Findings { model: subject.model.path.display().to_string(), checks })
}

/// Asks the worker of every level that this program carries and this processor can run for known answers; a program that
/// carries none, itself.
pub fn levels() -> Result<Findings, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::new(crate::exit::Exit::Failed, format!("cannot start the runtime: {error}"))
    })?;
    let mut checks = Vec::new();
    let own = Program::find(AUTO)?;
    let Some(carried) = Carried::here()? else {
        checks.push(runtime.block_on(known::check(&own)));
        return Ok(Findings { model: own.level().to_owned(), checks });
    };
    let names = carried.names();
    for level in ALL.iter().filter(|level| names.iter().any(|name| name == level.name)) {
        let lacking = level.lacking(&has);
        if lacking.is_empty() {
            checks.push(runtime.block_on(known::check(&Program::carried(&carried, level.name)?)));
        } else {
            let name = format!("known answers, {}", level.name);
            checks.push(Check::skip(&name, format!("this processor lacks {}", lacking.join(" "))));
        }
    }
    let chosen = Check::ok("chosen level", own.place());
    checks.insert(0, chosen);
    Ok(Findings { model: own.level().to_owned(), checks })
}

/// Makes the checks in order; gives what ended them early.
async fn all(subject: &Subject, checks: &mut Vec<Check>) -> Result<Option<&'static str>, Failure> {
    let header = match of_file(subject, checks) {
        Ok(header) => header,
        Err(by) => return Ok(Some(by)),
    };
    if let Some(failed) = pictures::file(&subject.model, header.as_ref()) {
        checks.push(failed);
        return Ok(Some("the picture projector cannot be used"));
    }
    let model = match PlannedModel::open(&subject.model) {
        Ok(model) => model,
        Err(failure) => {
            checks.push(Check::fail(
                "template",
                failure.message,
                "`doctor MODEL --template raw` examines it with raw prompts, `--template FILE` with another template",
            ));
            return Ok(Some("there is no usable template"));
        }
    };
    checks.push(template(&model));
    let plan = planned(subject)?;
    match measured(subject, &plan, header.as_ref(), checks).await {
        Ok(()) => Ok(None),
        Err(Trouble::Template(error)) => {
            checks.push(Check::fail("template", error.to_string(), "give another with --template FILE"));
            Ok(Some("the template failed"))
        }
        Err(Trouble::Link(error)) => {
            checks.push(Check::fail(
                "engine",
                error.in_words("at work"),
                "see whether the file is complete, and whether memory and build fit it",
            ));
            Ok(Some("the engine failed"))
        }
    }
}

fn of_file(subject: &Subject, checks: &mut Vec<Check>) -> Result<Option<Header>, &'static str> {
    if models::fake::is_fake(&subject.model.path) {
        checks.extend(NAMES[..3].iter().map(|name| Check::skip(name, "the fake engine has no file")));
        return Ok(None);
    }
    const REMEDY: &str = "nothing can be run before that is mended";
    let header = plan::resolve(&subject.model.path)
        .map_err(|failure| failure.message)
        .and_then(|path| Header::open(&path).map_err(|error| error.to_string()));
    let header = match header {
        Ok(header) => header,
        Err(message) => {
            checks.push(Check::fail("file", message, REMEDY));
            return Err("the file cannot be used");
        }
    };
    checks.extend([file::whole(&header), file::architecture(&header), file::pre_tokenizer(&header)]);
    let loads = header.architecture_supported() && !header.projector() && header.tokenizer().is_some();
    if loads { Ok(Some(header)) } else { Err("this build cannot load the model") }
}

fn template(model: &PlannedModel) -> Check {
    let facts = model.renderer.facts();
    let in_file = model.header.as_ref().and_then(Header::chat_template).is_some();
    if facts.text.is_empty() {
        let why = if in_file {
            "the file has a chat template, which is not used"
        } else {
            "the file has no chat template"
        };
        return Check::ok("template", format!("raw prompts, as asked; {why}"));
    }
    let mut finding = format!("{} ({} bytes) renders", model.record.template_source, facts.text.len());
    if let Some(block) = &facts.opens_reasoning {
        finding.push_str(&format!(
            "; it opens a reasoning block, closed with {:?} before labels are scored",
            block.closing
        ));
    }
    match facts.keeps_history {
        true => Check::ok("template", finding),
        false => Check::warn(
            "template",
            format!("{finding}, but drops earlier turns"),
            "tasks with a history cannot be asked; give another with --template FILE",
        ),
    }
}

/// The plan of the configuration with this model alone.
fn planned(subject: &Subject) -> Result<Plan, Failure> {
    let mut config = subject.config.clone();
    config.models = vec![subject.model.clone()];
    config.limit = config.limit.or(Some(SAMPLE));
    if config.tasks.is_empty() {
        let seed = config.seed;
        // Tasks whose items come from a file that only a configuration can name have none by themselves.
        let in_text = |task: &&&datasets::Task| task.asks_in_text(seed);
        config.tasks =
            datasets::tasks::ALL.iter().filter(in_text).map(|task| TaskChoice::named(task.name)).collect();
    }
    Plan::make(config, &subject.config_name, "")
}

/// What needs a worker.
async fn measured(
    subject: &Subject,
    plan: &Plan,
    header: Option<&Header>,
    checks: &mut Vec<Check>,
) -> Result<(), Trouble> {
    let renderer = &plan.models[0].renderer;
    let spec = load_spec(plan, 0);
    let mut link = start(subject, plan)?;
    let facts = link.open(LoadSpec { vocab_only: true, ..spec.clone() }).await?;
    match header {
        Some(header) => {
            checks.push(machine::cpu(&facts.system));
            checks.push(known::check(&subject.program).await);
            checks.extend(text::check(&mut link, renderer, header).await?);
        }
        None => checks
            .extend(NAMES[4..9].iter().map(|name| Check::skip(name, "the fake engine has no vocabulary"))),
    }
    checks.extend(labels::check(&mut link, plan).await?);
    let (jobs, context_tokens) = parity_jobs(&mut link, plan).await?;
    drop(link);
    let estimate = estimate::of_model(plan, 0, &subject.program).await;
    checks.push(
        estimate
            .map_or_else(|failure| Check::fail("context", failure.message, "see above"), |it| context(&it)),
    );

    let add_bos = header.is_some_and(Header::adds_bos);
    let alone = LoadSpec { mode: Mode::Exact, context_tokens, ..spec.clone() };
    let mut link = start(subject, plan)?;
    let facts = link.open(alone).await?;
    let round = async |link: &mut Link, jobs: &[Job]| -> Result<Vec<models::Reply>, LinkError> {
        let reply = link.round(jobs.to_vec(), &mut |_| ()).await?;
        link.end_group().await?;
        Ok(reply.replies)
    };
    let shown = || plan.tasks.iter().flat_map(|task| &task.items).flat_map(datasets::Item::pictures);
    let sanity = round(&mut link, &[answers::sentence(add_bos)]).await?;
    checks.push(answers::sanity(&sanity[0], &facts));
    checks.push(pictures::check(&mut link, plan).await?);
    link.show(&jobs, shown()).await?;
    let alone = round(&mut link, &jobs).await?;
    let again = round(&mut link, &jobs[..jobs.len().min(5)]).await?;
    drop(link);

    let mut link = start(subject, plan)?;
    let facts = link.open(LoadSpec { mode: Mode::Packed, context_tokens, ..spec }).await?;
    if !facts.packs || jobs.is_empty() {
        let why = if jobs.is_empty() { "no task is scored" } else { "this engine asks every prompt alone" };
        checks.push(Check::skip("parity", why));
        return Ok(());
    }
    link.show(&jobs, shown()).await?;
    let packed = round(&mut link, &jobs).await?;
    checks.push(answers::parity(&jobs, &alone, &again, &packed, plan.config.asking.normalisation));
    Ok(())
}

fn start(subject: &Subject, plan: &Plan) -> Result<Link, LinkError> {
    let deadline = Duration::from_secs(plan.config.engine.deadline_s);
    Link::start(&subject.program, deadline, Interrupt::never())
}

/// Score requests of the first items of all tasks, the shortest first: the check must be quick on a small board. With
/// the context that they need.
async fn parity_jobs(link: &mut Link, plan: &Plan) -> Result<(Vec<Job>, u32), Trouble> {
    let items = PARITY_PROMPTS.div_ceil(plan.tasks.len().max(1));
    let mut jobs = Vec::new();
    for task in &plan.tasks {
        for condition in task.conditions.iter().filter(|condition| condition.interface.scores_labels) {
            jobs.extend(labels::scored(plan, task, condition, items)?);
        }
    }
    link.show(&jobs, plan.tasks.iter().flat_map(|task| &task.items).flat_map(datasets::Item::pictures))
        .await?;
    let sizes = link.measure(jobs.clone()).await?;
    let mut sized: Vec<(u32, Job)> =
        sizes.iter().map(|size| size.prompt_tokens + size.extra_tokens).zip(jobs).collect();
    sized.sort_by_key(|(tokens, _)| *tokens);
    sized.truncate(PARITY_PROMPTS);
    let longest = sized.last().map_or(0, |(tokens, _)| *tokens);
    let mut jobs: Vec<Job> = sized.into_iter().map(|(_, job)| job).collect();
    jobs.iter_mut().zip(0..).for_each(|(job, id)| job.id = id);
    // The sanity sentence must fit too.
    Ok((jobs, longest.max(128).next_multiple_of(256)))
}

/// Whether what the configuration asks fits what the model was trained for.
fn context(estimate: &Estimate) -> Check {
    const NAME: &str = "context";
    let longest = estimate.rows.iter().map(|row| row.longest_prompt_tokens).max().unwrap_or(0);
    let prompts: u64 = estimate.rows.iter().map(|row| row.items).sum();
    let too_long: usize = estimate.rows.iter().map(|row| row.too_long.len()).sum();
    let trained = estimate.trained_context_tokens;
    let finding = format!(
        "a sample of {prompts} prompts, the longest of {longest} tokens; with replies of {} the plan opens {} of {} trained",
        estimate.generation_cap_tokens,
        estimate.context_tokens,
        trained.map_or("an unknown number".to_owned(), |tokens| tokens.to_string())
    );
    if too_long > 0 {
        let first = estimate.rows.iter().find_map(|row| row.too_long.first()).map_or("", String::as_str);
        return Check::warn(
            NAME,
            format!("{finding}; {too_long} prompts do not fit and would be skipped: {first} ..."),
            "choose smaller parameters, or a model with a longer context",
        );
    }
    let room = estimate.context_tokens.saturating_sub(longest);
    if room < estimate.generation_cap_tokens && estimate.rows.iter().any(|row| row.interface == "free-cot") {
        return Check::warn(
            NAME,
            format!("{finding}; the longest prompt leaves {room} tokens for its reply"),
            "lower `max-tokens` in [asking], or expect replies cut by the context",
        );
    }
    if trained.is_some_and(|trained| estimate.context_tokens > trained) {
        return Check::warn(
            NAME,
            format!("{finding}: more than the model was trained for"),
            "lower `context-tokens` in [engine]",
        );
    }
    Check::ok(NAME, finding)
}
