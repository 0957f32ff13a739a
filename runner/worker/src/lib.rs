//! The worker: a plain function over two byte streams around an engine.
//!
//! It runs in a process of its own, because llama.cpp aborts on bad input and the system kills what needs too much
//! memory. It knows no task, no log and no configuration.

pub mod frame;
mod process;
pub mod protocol;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use models::{Advance, Engine, EngineError, HiddenStates, LoadSpec, Reply, RoundReply};

use frame::{FrameReader, FrameWriter, StreamError};
use protocol::{FromWorker, Quantise, ToWorker};

pub use process::{main, peak_bytes};

/// Shortest time between two progress frames.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Serves requests until the input ends. `open` loads a model.
pub fn serve(
    reader: impl Read,
    writer: impl Write,
    mut open: impl FnMut(&LoadSpec) -> Result<Box<dyn Engine>, EngineError>,
) -> Result<(), StreamError> {
    let mut reader = FrameReader::new(reader);
    let mut writer = FrameWriter::new(writer);
    let mut engine: Option<Box<dyn Engine>> = None;
    while let Some(request) = reader.read::<ToWorker>()? {
        let answer = match (request, &mut engine) {
            (ToWorker::Open(spec), _) => match open(&spec) {
                Ok(opened) => {
                    let facts = opened.facts();
                    engine = Some(opened);
                    FromWorker::Opened(facts)
                }
                Err(error) => FromWorker::Failed(error),
            },
            (ToWorker::Quantise(request), _) => match quantise(&request) {
                Ok(()) => FromWorker::Quantised,
                Err(error) => FromWorker::Failed(error),
            },
            (_, None) => FromWorker::Failed(EngineError("no model is loaded".into())),
            (ToWorker::Measure(jobs), Some(engine)) => match engine.measure(&jobs) {
                Ok(sizes) => FromWorker::Sizes(sizes),
                Err(error) => FromWorker::Failed(error),
            },
            (ToWorker::Tokenise(jobs), Some(engine)) => match engine.tokenise(&jobs) {
                Ok(tokens) => FromWorker::Tokens(tokens),
                Err(error) => FromWorker::Failed(error),
            },
            (ToWorker::Buffers(specs), Some(engine)) => match engine.buffers(&specs) {
                Ok(buffers) => FromWorker::Buffers(buffers),
                Err(error) => FromWorker::Failed(error),
            },
            (ToWorker::Round(jobs), Some(engine)) => {
                let mut telling = Telling::new(&mut writer);
                let reply = engine.round(&jobs, &mut |advance| telling.hear(advance));
                telling.end()?;
                match reply {
                    Ok(mut reply) => {
                        for (place, states) in taken_states(&mut reply) {
                            writer.write(&FromWorker::States { place, states })?;
                        }
                        FromWorker::Done(reply)
                    }
                    Err(error) => FromWorker::Failed(error),
                }
            }
            (ToWorker::Probe(probe), Some(engine)) => {
                let mut telling = Telling::new(&mut writer);
                let reply = engine.probe(&probe, &mut |advance| telling.hear(advance));
                telling.end()?;
                match reply {
                    Ok(reply) => FromWorker::Probed(reply),
                    Err(error) => FromWorker::Failed(error),
                }
            }
            (ToWorker::Show { forget, pictures }, Some(engine)) => match engine.show(&forget, pictures) {
                Ok(()) => FromWorker::Shown,
                Err(error) => FromWorker::Failed(error),
            },
            (ToWorker::EndGroup, Some(engine)) => {
                engine.end_group();
                FromWorker::GroupEnded { peak_bytes: process::peak_bytes() }
            }
        };
        writer.write(&answer)?;
    }
    Ok(())
}

/// Takes the hidden states out of the replies that have some, with the replies' places.
fn taken_states(reply: &mut RoundReply) -> impl Iterator<Item = (u32, HiddenStates)> + '_ {
    (0..).zip(&mut reply.replies).filter_map(|(place, reply)| match reply {
        Reply::Scored(scored) => Some((place, scored.states.take()?)),
        _ => None,
    })
}

/// Sends progress now and then.
struct Telling<'a, W: Write> {
    writer: &'a mut FrameWriter<W>,
    last: Instant,
    broken: Option<StreamError>,
}

impl<'a, W: Write> Telling<'a, W> {
    fn new(writer: &'a mut FrameWriter<W>) -> Self {
        Telling { writer, last: Instant::now(), broken: None }
    }

    fn hear(&mut self, advance: Advance) {
        if self.last.elapsed() >= PROGRESS_EVERY && self.broken.is_none() {
            self.last = Instant::now();
            self.broken = self.writer.write(&FromWorker::Progress(advance)).err();
        }
    }

    fn end(self) -> Result<(), StreamError> {
        self.broken.map_or(Ok(()), Err)
    }
}

/// Opens the engine that a path names.
pub fn open_engine(spec: &LoadSpec) -> Result<Box<dyn Engine>, EngineError> {
    if models::fake::is_fake(&spec.model) {
        let name = spec.model.to_string_lossy();
        let open = if spec.vocab_only { models::fake::Fake::vocabulary } else { models::fake::Fake::open };
        return Ok(Box::new(open(&name, spec.context_tokens)?.seeing(spec.mmproj.is_some())));
    }
    #[cfg(feature = "llama")]
    {
        Ok(Box::new(models::llama::Llama::open(spec)?))
    }
    #[cfg(not(feature = "llama"))]
    {
        Err(EngineError(format!(
            "{}: this build has no llama.cpp; build with `--features llama`",
            spec.model.display()
        )))
    }
}

#[cfg(feature = "llama")]
fn quantise(request: &Quantise) -> Result<(), EngineError> {
    use models::llama::{file_types, quantise};
    let kind =
        file_types().iter().find(|kind| kind.name.eq_ignore_ascii_case(&request.kind)).ok_or_else(|| {
            let known: Vec<&str> = file_types().iter().map(|kind| kind.name).collect();
            EngineError(format!("unknown type {:?}; known: {}", request.kind, known.join(", ")))
        })?;
    quantise(&request.source, &request.target, *kind, request.threads, request.requantise)
}

#[cfg(not(feature = "llama"))]
fn quantise(request: &Quantise) -> Result<(), EngineError> {
    Err(EngineError(format!(
        "{}: this build has no llama.cpp; build with `--features llama`",
        request.source.display()
    )))
}
