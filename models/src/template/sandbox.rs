//! Runs one template where it can do no harm.
//!
//! A template comes from a file that anybody may have made. It runs on a thread of its own under limits of steps,
//! output, nesting, time and memory. Steps bound nearly everything; time and memory catch what the engine does not
//! count (comparing containers that share their parts). A thread that had to be given up cannot be stopped: the
//! template then counts as broken for good, and the caller should end the process soon.

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value};

use super::error::TemplateError;
use super::python;

/// Steps that every rendering may take; real templates take a few thousand.
const STEPS: u64 = 200_000;
/// Steps that no rendering may exceed, however long the conversation. With the thread's stack it bounds how deeply a
/// value can be nested: letting go of one recurses.
const MOST_STEPS: u64 = 500_000;
/// Bytes that every rendering may write.
const OUTPUT_BYTES: usize = 1 << 20;
/// Longest conversation, in bytes: about half a million tokens.
const INPUT_BYTES: usize = 2 << 20;
/// Nesting of macros and blocks.
const NESTING: usize = 200;
/// The thread's stack: room to let go of a value nested as deeply as the steps allow.
const STACK_BYTES: usize = 64 << 20;
/// Time for one rendering; real ones take milliseconds on the slowest board.
const TIME: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 5 });
/// Growth of the process during one rendering.
const MEMORY_BYTES: u64 = 256 << 20;

/// One rendering: the variables, and the size of the conversation in them.
pub(crate) struct Task {
    pub(crate) variables: Value,
    pub(crate) turns: usize,
    pub(crate) bytes: usize,
}

/// A compiled template on its own thread.
#[derive(Debug)]
pub(crate) struct Sandbox {
    name: String,
    channel: Mutex<Option<Channel>>,
}

#[derive(Debug)]
struct Channel {
    tasks: Sender<Task>,
    results: Receiver<Result<String, TemplateError>>,
}

impl Sandbox {
    /// Compiles a template; `name` says in messages where it comes from.
    pub(crate) fn new(name: &str, text: &str) -> Result<Sandbox, TemplateError> {
        let (tasks, inbox) = channel::<Task>();
        let (outbox, results) = channel();
        let (own_name, text) = (name.to_owned(), text.to_owned());
        let thread = std::thread::Builder::new().name("template".to_owned()).stack_size(STACK_BYTES);
        let work = move || serve(&own_name, &text, &inbox, &outbox);
        thread.spawn(work).map_err(|error| limit(name, format!("no thread for it: {error}")))?;
        let sandbox =
            Sandbox { name: name.to_owned(), channel: Mutex::new(Some(Channel { tasks, results })) };
        sandbox.exchange(None)?;
        Ok(sandbox)
    }

    /// Renders.
    pub(crate) fn render(&self, task: Task) -> Result<String, TemplateError> {
        if task.bytes > INPUT_BYTES {
            let message = format!("the conversation has {} bytes; the limit is {INPUT_BYTES}", task.bytes);
            return Err(TemplateError::Prompt(message));
        }
        self.exchange(Some(task))
    }

    fn exchange(&self, task: Option<Task>) -> Result<String, TemplateError> {
        let mut guard = self.channel.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let gone = || limit(&self.name, "an earlier rendering did not end".to_owned());
        let channel = guard.as_ref().ok_or_else(gone)?;
        if let Some(task) = task {
            channel.tasks.send(task).map_err(|_| gone())?;
        }
        let outcome = wait(&channel.results);
        outcome.unwrap_or_else(|reason| {
            *guard = None;
            Err(limit(&self.name, reason))
        })
    }
}

/// Waits for a result, watching time and memory.
fn wait<T>(results: &Receiver<T>) -> Result<T, String> {
    let start = Instant::now();
    let mut before = None;
    loop {
        match results.recv_timeout(Duration::from_millis(20)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err("its thread ended".to_owned()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if start.elapsed() > TIME {
            return Err(format!("it takes more than {} s", TIME.as_secs()));
        }
        if let Some(now) = resident_bytes() {
            let growth = now.saturating_sub(*before.get_or_insert(now));
            if growth > MEMORY_BYTES {
                return Err(format!("it takes more than {} MiB of memory", MEMORY_BYTES >> 20));
            }
        }
    }
}

/// Memory of this process, where the system tells.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    kib.trim().trim_end_matches("kB").trim_end().parse::<u64>().ok()?.checked_mul(1024)
}

/// Steps that a rendering may take: a step pays for an instruction or for 64 bytes.
fn steps(task: &Task) -> u64 {
    (STEPS + 2_000 * task.turns as u64 + task.bytes as u64 / 2).min(MOST_STEPS)
}

fn limit(name: &str, limit: String) -> TemplateError {
    TemplateError::Limit { source_name: name.to_owned(), limit }
}

fn serve(name: &str, text: &str, inbox: &Receiver<Task>, outbox: &Sender<Result<String, TemplateError>>) {
    let mut env = match compile(text) {
        Ok(env) => env,
        Err(error) => {
            let _ = outbox.send(Err(explain(name, text, &error, true)));
            return;
        }
    };
    if outbox.send(Ok(String::new())).is_err() {
        return;
    }
    while let Ok(task) = inbox.recv() {
        env.set_fuel(Some(steps(&task)));
        let mut out = Bounded { bytes: Vec::new(), limit: OUTPUT_BYTES + 16 * task.bytes };
        let outcome = env
            .get_template("chat")
            .and_then(|chat| chat.render_captured_to(task.variables, &mut out).map(drop));
        let outcome = match outcome {
            Ok(()) => Ok(String::from_utf8_lossy(&out.bytes).into_owned()),
            Err(error) => Err(explain(name, text, &error, false)),
        };
        if outbox.send(outcome).is_err() {
            return;
        }
    }
}

/// An environment as Hugging Face sets it up, with the one template in it.
fn compile(text: &str) -> Result<Environment<'_>, Error> {
    let mut env = Environment::new();
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    env.set_recursion_limit(NESTING);
    env.set_debug(false);
    python::register(&mut env);
    env.add_template("chat", text)?;
    Ok(env)
}

/// A writer that refuses to grow beyond its limit.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Bounded {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + part.len() > self.limit {
            return Err(std::io::Error::other(OutputFull));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("output limit")]
struct OutputFull;

/// The engine's error in our words, with its place.
fn explain(name: &str, text: &str, error: &Error, compiling: bool) -> TemplateError {
    match error.kind() {
        ErrorKind::OutOfFuel => return limit(name, "it takes too many steps".to_owned()),
        ErrorKind::WriteFailure => return limit(name, format!("it writes more than {OUTPUT_BYTES} bytes")),
        _ => {}
    }
    // Errors inside macros wrap each other; the innermost says what happened.
    let mut inner = error;
    while let Some(next) = std::error::Error::source(inner).and_then(|source| source.downcast_ref::<Error>())
    {
        inner = next;
    }
    let what = inner.kind().to_string();
    let message = inner.detail().map_or_else(|| what.clone(), |detail| format!("{what}: {detail}"));
    let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect();
    let line = inner.line().or(error.line()).unwrap_or(1);
    let start = inner.range().or_else(|| error.range()).map_or(0, |range| range.start);
    let before = text.get(..start).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let source_name = name.to_owned();
    match compiling {
        true => TemplateError::Syntax { source_name, line, column, message },
        false => TemplateError::Failed { source_name, line, column, message },
    }
}
