//! What is known before a model is loaded: from a worker that has its vocabulary alone.

use models::{EngineFacts, LoadSpec};

use super::fit::{Allow, Fitted, Rung, choose, ladder};
use super::pictures;
use super::prediction::{Prediction, predict};
use super::repack::Features;
use super::watch::Reading;
use super::{Limit, Refusal, System};
use crate::levels::OWN_BUILD;
use crate::plan::PlannedModel;
use crate::supervisor::{Link, LinkError, Need};

/// Code of the program that loading a vocabulary does not touch.
const COMPUTING_BYTES: u64 = 2 << 20;

/// What a worker takes before it has weights, and what its processor can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// Heap of the program with the model's vocabulary.
    pub private_bytes: u64,
    /// Pages of the program itself.
    pub file_bytes: u64,
    /// What the library says of the processor.
    pub features: Features,
}

impl Ground {
    /// Looks at a worker that has just loaded a vocabulary.
    pub fn of(link: &Link, facts: &EngineFacts) -> Ground {
        let reading = link.pid().and_then(|pid| Reading::of(&System::default(), pid)).unwrap_or_default();
        // A worker that was started from memory has its program there too.
        let program_bytes = if link.level() == OWN_BUILD { 0 } else { COMPUTING_BYTES };
        Ground {
            private_bytes: reading.private_bytes + program_bytes,
            file_bytes: reading.file_bytes,
            features: Features::of(&facts.system),
        }
    }

    /// Pages of the program once it computes, too.
    pub fn program_file_bytes(&self) -> u64 {
        if self.file_bytes == 0 { 0 } else { self.file_bytes + COMPUTING_BYTES }
    }
}

/// Predicts what a model takes as `wanted` says, and where that exceeds the limit chooses how it is loaded instead.
///
/// `allow` is absent where nothing may be lowered. `link` is a worker with the vocabulary; it is asked for nothing more afterwards, so that its death costs nothing.
pub async fn fitted(
    link: &mut Link,
    model: &PlannedModel,
    ground: &Ground,
    wanted: &Rung,
    need: &Need,
    limit: Option<&Limit>,
    allow: Option<&[Allow]>,
) -> Result<Result<Fitted, Box<Refusal>>, LinkError> {
    let header = model.header.as_ref();
    let prediction = size(link, model, ground, need, std::slice::from_ref(wanted)).await?.remove(0);
    let fits = limit.is_none_or(|limit| prediction.budget_bytes(limit.counts) <= limit.bytes);
    let Some(limit) = limit.filter(|_| !fits) else {
        return Ok(Ok(Fitted::of(wanted.clone(), prediction)));
    };
    // The fake engine has nothing to lower, and what an earlier session chose is kept.
    let (Some(header), Some(allow)) = (header, allow) else {
        return Ok(Err(Box::new(Refusal::new(&model.record.name, limit, prediction))));
    };
    let rungs =
        ladder(wanted, need, allow, limit.counts, header, &ground.features, model.unmappable.is_none());
    let predictions = size(link, model, ground, need, &rungs).await?;
    Ok(choose(rungs, predictions, limit)
        .map_err(|smallest| Box::new(Refusal::new(&model.record.name, limit, smallest))))
}

/// Predictions for rungs; where the library cannot say, from the header.
async fn size(
    link: &mut Link,
    model: &PlannedModel,
    ground: &Ground,
    need: &Need,
    rungs: &[Rung],
) -> Result<Vec<Prediction>, LinkError> {
    let specs: Vec<LoadSpec> = rungs.iter().map(|rung| rung.spec.clone()).collect();
    let sized = match link.buffers(specs).await {
        Ok(buffers) => Some(buffers),
        Err(LinkError::Engine(_) | LinkError::Died { .. }) => None,
        Err(error) => return Err(error),
    };
    let of = |(index, rung): (usize, &Rung)| {
        let buffers = sized.as_ref().and_then(|all| all.get(index).copied());
        let mut prediction = predict(model.header.as_ref(), &rung.spec, ground, buffers);
        prediction.lines.extend(pictures::lines(model, &rung.spec, need, buffers));
        prediction
    };
    Ok(rungs.iter().enumerate().map(of).collect())
}
