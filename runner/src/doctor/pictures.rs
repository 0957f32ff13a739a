//! Checks of a model that is asked with pictures.

use datasets::{Item, Params, Task};
use models::gguf::Header;
use models::{PictureAt, Prompt, Request, Score, Turn};

use super::Check;
use super::text::Trouble;
use crate::config::ModelChoice;
use crate::plan::{Mmproj, Plan};
use crate::prompting;
use crate::supervisor::Link;

const NAME: &str = "pictures";

/// Whether the projector's file belongs to the model; nothing to say where none was given.
pub(super) fn file(choice: &ModelChoice, header: Option<&Header>) -> Option<Check> {
    let (path, header) = (choice.mmproj.as_deref()?, header?);
    let failure = Mmproj::open(path, header).err()?;
    Some(Check::fail(NAME, failure.message, "give the mmproj file that was made together with the model"))
}

/// Whether the model takes a picture, and what that costs.
pub(super) async fn check(link: &mut Link, plan: &Plan) -> Result<Check, Trouble> {
    let model = &plan.models[0];
    let Some(mmproj) = &model.record.mmproj else {
        return Ok(Check::skip(NAME, "no picture projector was given (--mmproj): it is asked in text alone"));
    };
    let items: Vec<Item> = Task::named("glasses")
        .and_then(|task| (task.items)(&Params::default(), plan.config.seed).ok())
        .unwrap_or_default();
    let Some(picture) = items.first().and_then(|item| item.pictures().next()) else {
        return Ok(Check::skip(NAME, "there is no picture to show"));
    };
    let shown = PictureAt { at: 0, address: picture.address() };
    let turn = Turn::shown("\nWhat does the picture show?", vec![shown]);
    let request = Request::Score(Score { continuations: vec!["A".into(), "B".into()], ..Score::default() });
    let prompt = Prompt { turns: vec![turn], ..Prompt::default() };
    let jobs = vec![prompting::job(&model.renderer, 0, &prompt, &request)?.job];
    link.show(&jobs, [picture]).await?;
    let reply = link.round(jobs, &mut |_| ()).await?;
    link.end_group().await?;
    let scored = matches!(&reply.replies[..], [models::Reply::Scored(scored)] if scored.mass.is_some());
    Ok(match (&reply.pictures[..], scored) {
        ([picture], true) => Check::ok(
            NAME,
            format!(
                "projector {} ({}): a picture of {} x {} becomes {} tokens in {} tiles, encoded in {:.0} ms",
                mmproj.kind,
                mmproj.quantisation,
                picture.size.0,
                picture.size.1,
                picture.tokens,
                picture.tiles.len().max(1),
                picture.encode_us as f64 / 1e3
            ),
        ),
        _ => {
            Check::fail(NAME, "a picture was shown, and no sound scores came of it", "get another projector")
        }
    })
}
