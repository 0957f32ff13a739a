//! The parity sample: some items are scored once more, alone, when a model's groups are done.

use datasets::Settings;
use models::{LoadSpec, Reply};

use super::group::GroupError;
use super::link::Link;
use super::run::{Runner, Stop, failed};
use crate::entry::{Alone, Entry};
use crate::plan::{Group, Pair, Plan, parity_sample};
use crate::prompting;
use crate::report::Done;
use crate::track::Track;

/// A pair of the sample with its group.
pub(super) type Sampled = (Group, Pair);

/// The pairs of the sample that are still to be scored alone, by group.
pub(super) fn left(plan: &Plan, model: usize, done: &Done) -> Vec<Sampled> {
    let sample = parity_sample(plan, plan.config.engine.parity);
    let pairs = plan.own_groups(model).flat_map(|group| {
        let range = plan.task(group).chunks[group.chunk].clone();
        let inside = sample
            .iter()
            .filter(move |pair| pair.task == usize::from(group.at.task) && range.contains(&pair.item));
        inside.map(move |pair| (group, *pair))
    });
    let is_left = |(group, pair): &Sampled| {
        let task = &plan.tasks[pair.task];
        let condition = task.conditions[pair.condition].name();
        let name = (group.at.group, task.items[pair.item].id.clone(), condition.to_owned());
        !done.alone.contains(&name)
    };
    pairs.filter(is_left).collect()
}

impl Runner<'_> {
    /// Scores pairs of the sample, each with nothing else in the batch or the cache. One that a worker dies on is left
    /// out: it has its answer already.
    pub(super) async fn score_alone(
        &mut self,
        sample: &[Sampled],
        settings: &[Settings],
        load: &LoadSpec,
        link: &mut Link,
    ) -> Result<(), Stop> {
        for &(group, pair) in sample {
            if self.interrupt.is_asked() {
                return Err(Stop::Interrupted);
            }
            let spec = self.spec(group, settings);
            let planned = &self.plan.tasks[pair.task];
            let (item, condition) = (&planned.items[pair.item], &planned.conditions[pair.condition]);
            let track = Track::start(item, condition, spec.settings);
            let [(prompt, request)] = track.asks() else { continue };
            let job = prompting::job(spec.renderer, 0, prompt, request)
                .map_err(|error| failed(usize::from(spec.at.model), error.to_string()))?;
            let jobs = vec![prompting::without_states(job.job)];
            let asked = match link.show(&jobs, item.pictures()).await {
                Ok(()) => link.round(jobs, &mut |_| ()).await,
                Err(error) => Err(error),
            };
            let answered = match asked {
                Ok(reply) => link.end_group().await.map(|_| reply),
                Err(error) => Err(error),
            };
            match answered {
                Ok(reply) => {
                    self.library_us += reply.phases.iter().map(|phase| phase.library_us).sum::<u64>();
                    if let Some(Reply::Scored(scored)) = reply.replies.into_iter().next() {
                        let (item, interface) = (item.id.clone(), condition.name().to_owned());
                        self.log.append(&Entry::Alone(Box::new(Alone {
                            at: group.at,
                            interface,
                            item,
                            scored,
                        })))?;
                    }
                }
                Err(error) => {
                    let culprit = Some((item.id.clone(), condition.name().to_owned()));
                    self.replace(GroupError::Link(error), &spec, culprit, load, link).await?;
                }
            }
        }
        self.log.end_group()?;
        Ok(())
    }
}
