//! A worker process and the pipes to it.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use models::{
    Advance, Buffers, EngineError, EngineFacts, HiddenStates, Job, LoadSpec, Probe, ProbeReply, PromptSize,
    Reply, Request, RoundReply, Tokenised,
};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use super::interrupt::Interrupt;
use super::showing::Shelf;
use super::tail::Tail;
use crate::entry::DeathCause;
use crate::frame::{AsyncFrameReader, encode};
use crate::levels::{Program, advice};
use crate::memory::{Ending, Evidence, Guard, Guarding, Peaks, classify};
use crate::worker::protocol::{FromWorker, Quantise, ToWorker};

/// Lines of a dead worker that are kept in the log.
const LAST_WORDS: usize = 12;

/// Why a request to a worker has no answer.
#[derive(Debug)]
pub enum LinkError {
    /// The worker lives and says why it cannot.
    Engine(EngineError),
    /// The worker is gone.
    Died {
        /// What happened.
        cause: DeathCause,
        /// Its last lines.
        last_words: Vec<String>,
    },
    /// The user asked to end at once.
    Interrupted,
    /// The process could not be started.
    Start(String),
    /// What was to be sent cannot be: a picture that is not to be had, a request beyond the size of a frame. The worker lives.
    Unsendable(String),
}

impl LinkError {
    /// One line for people. `doing` says what a worker that died was at: `while loading`.
    pub fn in_words(&self, doing: &str) -> String {
        match self {
            LinkError::Engine(error) => error.to_string(),
            LinkError::Died { cause, last_words } => {
                let last =
                    last_words.last().map(|line| format!("; its last line: {line}")).unwrap_or_default();
                format!("the worker {} {doing}{last}", cause.in_words())
            }
            LinkError::Interrupted => "interrupted".into(),
            LinkError::Start(message) | LinkError::Unsendable(message) => message.clone(),
        }
    }
}

/// A worker process.
pub struct Link {
    level: &'static str,
    child: Child,
    input: ChildStdin,
    output: AsyncFrameReader<ChildStdout>,
    tail: Tail,
    follower: JoinHandle<()>,
    deadline: Duration,
    interrupt: Interrupt,
    guarding: Guarding,
    /// The pictures that the worker holds.
    pub(super) shelf: Shelf,
    /// Hidden states that came ahead of the answers they belong to.
    states: Vec<(u32, HiddenStates)>,
}

impl Link {
    /// Starts a worker.
    pub fn start(program: &Program, deadline: Duration, interrupt: Interrupt) -> Result<Self, LinkError> {
        Link::guarded(program, deadline, interrupt, &Guard::default())
    }

    /// Starts a worker whose memory is guarded.
    pub fn guarded(
        program: &Program,
        deadline: Duration,
        interrupt: Interrupt,
        guard: &Guard,
    ) -> Result<Self, LinkError> {
        let mut command = program.command();
        command.kill_on_drop(true);
        // The frames of a backtrace would push the line that tells the cause out of the last words, and looking up their names
        // takes memory where there is none left.
        command.env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C on a terminal reaches the whole process group; the worker must not die of the first one.
        #[cfg(unix)]
        command.process_group(0);
        let start = |error: std::io::Error| {
            LinkError::Start(format!("cannot start the worker ({}): {error}", program.place()))
        };
        let mut child = command.spawn().map_err(start)?;
        let pipe = || LinkError::Start("the worker has no pipes".into());
        // The worker does nothing before it is asked: all that it takes for a model is taken under guard.
        let guarding = guard.begin(child.id().unwrap_or(0)).map_err(LinkError::Start)?;
        let input = child.stdin.take().ok_or_else(pipe)?;
        let output = AsyncFrameReader::new(child.stdout.take().ok_or_else(pipe)?);
        let tail = Tail::default();
        let follower = tokio::spawn(tail.clone().follow(child.stderr.take().ok_or_else(pipe)?));
        let level = program.level();
        Ok(Link {
            level,
            child,
            input,
            output,
            tail,
            follower,
            deadline,
            interrupt,
            guarding,
            shelf: Shelf::default(),
            states: Vec::new(),
        })
    }

    /// The CPU level that it was built for.
    pub fn level(&self) -> &'static str {
        self.level
    }

    /// The worker's process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Loads a model.
    pub async fn open(&mut self, spec: LoadSpec) -> Result<EngineFacts, LinkError> {
        self.shelf = Shelf::of(spec.vocab_only);
        match self.call(&ToWorker::Open(spec), &mut |_| ()).await? {
            FromWorker::Opened(facts) => Ok(facts),
            other => Err(self.out_of_turn(&other).await),
        }
    }

    /// Tokens of prompts; one entry per job.
    pub async fn measure(&mut self, jobs: Vec<Job>) -> Result<Vec<PromptSize>, LinkError> {
        let mut sizes = Vec::with_capacity(jobs.len());
        for some in in_requests(jobs) {
            let count = some.len();
            match self.call(&ToWorker::Measure(some), &mut |_| ()).await? {
                FromWorker::Sizes(told) if told.len() == count => sizes.extend(told),
                other => return Err(self.out_of_turn(&other).await),
            }
        }
        Ok(sizes)
    }

    /// Jobs as tokens; one entry per job.
    pub async fn tokenise(&mut self, jobs: Vec<Job>) -> Result<Vec<Tokenised>, LinkError> {
        let count = jobs.len();
        match self.call(&ToWorker::Tokenise(jobs), &mut |_| ()).await? {
            FromWorker::Tokens(tokens) if tokens.len() == count => Ok(tokens),
            other => Err(self.out_of_turn(&other).await),
        }
    }

    /// Memory of contexts that are not opened; one entry per spec.
    pub async fn buffers(&mut self, specs: Vec<LoadSpec>) -> Result<Vec<Buffers>, LinkError> {
        let count = specs.len();
        match self.call(&ToWorker::Buffers(specs), &mut |_| ()).await? {
            FromWorker::Buffers(buffers) if buffers.len() == count => Ok(buffers),
            other => Err(self.out_of_turn(&other).await),
        }
    }

    /// Makes a quantised copy of a model file.
    pub async fn quantise(
        &mut self,
        source: &Path,
        target: &Path,
        kind: &str,
        threads: u32,
        requantise: bool,
    ) -> Result<(), LinkError> {
        let request = Quantise {
            source: source.to_owned(),
            target: target.to_owned(),
            kind: kind.to_owned(),
            threads,
            requantise,
        };
        match self.call(&ToWorker::Quantise(request), &mut |_| ()).await? {
            FromWorker::Quantised => Ok(()),
            other => Err(self.out_of_turn(&other).await),
        }
    }

    /// What the worker took so far, where it is watched.
    pub fn memory(&self) -> Option<Peaks> {
        self.guarding.account()
    }

    /// Answers of a round; one reply per job.
    pub async fn round(
        &mut self,
        jobs: Vec<Job>,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<RoundReply, LinkError> {
        let count = jobs.len();
        match self.call(&ToWorker::Round(jobs), progress).await? {
            FromWorker::Done(mut reply) if reply.replies.len() == count => {
                for (place, states) in std::mem::take(&mut self.states) {
                    if let Some(Reply::Scored(scored)) = reply.replies.get_mut(place as usize) {
                        scored.states = Some(states);
                    }
                }
                Ok(reply)
            }
            other => Err(self.out_of_turn(&other).await),
        }
    }

    /// Ends a group; gives the worker's peak memory.
    pub async fn end_group(&mut self) -> Result<Option<u64>, LinkError> {
        self.shelf.end_group();
        match self.call(&ToWorker::EndGroup, &mut |_| ()).await? {
            FromWorker::GroupEnded { peak_bytes } => Ok(peak_bytes),
            other => Err(self.out_of_turn(&other).await),
        }
    }

    /// Measures the engine on made-up tokens; at least one sample.
    pub async fn probe(
        &mut self,
        probe: Probe,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<ProbeReply, LinkError> {
        match self.call(&ToWorker::Probe(probe), progress).await? {
            FromWorker::Probed(reply) if !reply.samples_us.is_empty() => Ok(reply),
            other => Err(self.out_of_turn(&other).await),
        }
    }

    pub(super) async fn call(
        &mut self,
        request: &ToWorker,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<FromWorker, LinkError> {
        let frame = encode(request).map_err(|error| LinkError::Unsendable(format!("a request: {error}")))?;
        let interrupt = self.interrupt.clone();
        let outcome = tokio::select! {
            outcome = self.exchange(&frame, progress) => outcome,
            () = interrupt.at_once() => return Err(LinkError::Interrupted),
        };
        match outcome {
            Ok(FromWorker::Failed(error)) => Err(LinkError::Engine(error)),
            Ok(answer) => Ok(answer),
            Err(suspicion) => Err(self.bury(suspicion).await),
        }
    }

    /// Sends a request and waits for its final answer; `Err` holds the cause where it is known already.
    async fn exchange(
        &mut self,
        frame: &[u8],
        progress: &mut dyn FnMut(Advance),
    ) -> Result<FromWorker, Option<DeathCause>> {
        let late = |_| Some(DeathCause::Deadline);
        self.states.clear();
        // A failed write means that the worker is gone; its exit status says how.
        let send = async {
            self.input.write_all(frame).await?;
            self.input.flush().await
        };
        tokio::time::timeout(self.deadline, send).await.map_err(late)?.map_err(|_| None)?;
        loop {
            let read =
                tokio::time::timeout(self.deadline, self.output.read::<FromWorker>()).await.map_err(late)?;
            match read {
                Ok(Some(FromWorker::Progress(advance))) => progress(advance),
                Ok(Some(FromWorker::States { place, states })) if states.is_whole() => {
                    self.states.push((place, states));
                }
                Ok(Some(FromWorker::States { .. })) => return Err(Some(DeathCause::Garbled)),
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => return Err(None),
                Err(_) => return Err(Some(DeathCause::Garbled)),
            }
        }
    }

    /// Makes sure that the worker is gone, and tells how it went.
    async fn bury(&mut self, suspicion: Option<DeathCause>) -> LinkError {
        self.guarding.end();
        let status = match suspicion {
            Some(_) => {
                let _ = self.child.start_kill();
                self.child.wait().await.ok()
            }
            // Its pipe is closed, so it is about to end by itself; the status tells more than a kill would.
            None => match tokio::time::timeout(Duration::from_secs(5), self.child.wait()).await {
                Ok(status) => status.ok(),
                Err(_) => {
                    let _ = self.child.start_kill();
                    self.child.wait().await.ok()
                }
            },
        };
        // The last words may still be in the pipe.
        let _ = tokio::time::timeout(Duration::from_secs(1), &mut self.follower).await;
        // What tells the cause may stand above a long backtrace.
        let evidence = self.guarding.evidence(self.tail.last(usize::MAX));
        let mut last_words = evidence.telling(LAST_WORDS);
        let known = suspicion.filter(|_| evidence.breach.is_none());
        let cause = known.or(status.map(|status| cause_of(status, &evidence))).unwrap_or(DeathCause::Garbled);
        if cause == DeathCause::IllegalInstruction {
            last_words.push(advice(self.level));
        }
        LinkError::Died { cause, last_words }
    }

    pub(super) async fn out_of_turn(&mut self, answer: &FromWorker) -> LinkError {
        debug_assert!(!matches!(answer, FromWorker::Failed(_)), "handled in call");
        self.bury(Some(DeathCause::Garbled)).await
    }
}

/// Jobs in requests of a size that is far below that of a frame, but for a job that is larger by itself.
fn in_requests(jobs: Vec<Job>) -> Vec<Vec<Job>> {
    const MOST_BYTES: usize = 8 << 20;
    let mut requests: Vec<Vec<Job>> = Vec::new();
    let mut bytes = 0;
    for job in jobs {
        let prompt: usize = job.prompt.iter().map(|segment| segment.text.len()).sum();
        let labels: usize = match &job.request {
            Request::Score(score) => score.continuations.iter().map(String::len).sum(),
            Request::Generate(_) => 0,
        };
        bytes += prompt + labels;
        match requests.last_mut().filter(|_| bytes <= MOST_BYTES) {
            Some(last) => last.push(job),
            None => {
                requests.push(vec![job]);
                bytes = prompt + labels;
            }
        }
    }
    requests
}

fn cause_of(status: ExitStatus, evidence: &Evidence) -> DeathCause {
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    classify(signal.map_or_else(|| Ending::Code(status.code().unwrap_or(-1)), Ending::Signal), evidence)
}
