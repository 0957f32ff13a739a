//! What a run's choices of routes say of the actor behind them: the recursive Bayesian model of `datasets::bayes`,
//! fitted by maximum likelihood to the choices of each model through each interface.

use std::collections::HashMap;

use datasets::bayes::choice::{Parameters, Problem};
use datasets::bayes::fit::{Choice, Free, Held, SurfaceRow, fit, loss, surface};
use datasets::tasks::iip::{self, routes::Kind};
use datasets::{Gold, Said, Verdict};
use serde::Serialize;

use crate::entry::ItemRecord;
use crate::exit::{Exit, Failure};
use crate::material::Choices;
use crate::report::RunLog;

/// The choices of one model through one interface.
#[derive(Debug)]
pub struct Chooser {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the interface.
    pub interface: String,
    /// Replies that name no route; they say nothing of the routes.
    pub unanswered: u64,
    /// Items that the engine lost or that did not fit.
    pub not_asked: u64,
    chosen: Vec<Chosen>,
}

/// A route that was chosen.
#[derive(Debug)]
struct Chosen {
    item: String,
    problem: Problem,
    /// Index in [`Kind::ALL`].
    route: usize,
}

/// What a fit came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fitted {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Name of the interface.
    pub interface: String,
    /// Choices that were fitted.
    pub n: u64,
    /// Replies that name no route.
    pub unanswered: u64,
    /// Items that the engine lost or that did not fit.
    pub not_asked: u64,
    /// How often each kind was chosen, in the order of [`Kind::ALL`].
    pub chosen: [u64; 4],
    /// Order of the actor.
    pub order: usize,
    /// The fit; absent without choices.
    pub fit: Option<Found>,
    /// Log-likelihood of somebody who takes each of the four routes equally often, in nats.
    pub uniform_log_likelihood: f64,
}

/// The best parameters and what they are worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Found {
    /// exp(-alpha).
    pub cost: f64,
    /// exp(-beta).
    pub urgency: f64,
    /// exp(-theta).
    pub fading: f64,
    /// delta.
    pub leaving: f64,
    /// Log-likelihood of all choices, in nats.
    pub log_likelihood: f64,
    /// Mean negative log-likelihood per choice, in nats.
    pub loss: f64,
    /// Mean prediction over the items, in the order of [`Kind::ALL`].
    pub predicted: [f64; 4],
}

impl Found {
    /// All four parameters.
    pub fn parameters(&self) -> Parameters {
        Parameters { cost: self.cost, urgency: self.urgency, fading: self.fading, leaving: self.leaving }
    }
}

/// Collects the choices of a run, by model, task and interface in the order of the run. `only` keeps one task.
pub fn choosers(run: &RunLog, only: Option<&str>) -> Result<Vec<Chooser>, Failure> {
    let header = &run.header;
    let choices = Choices::of(header)?;
    let mut all = Vec::new();
    for (index, record) in header.tasks.iter().enumerate() {
        if record.task != iip::IIP.name || only.is_some_and(|name| name != record.name) {
            continue;
        }
        let items = choices.items(header, index).map_err(|message| Failure::new(Exit::Mismatch, message))?;
        let problems: HashMap<String, Problem> = items
            .iter()
            .filter_map(|item| {
                let (scene, routes) = iip::shown(item)?;
                Some((item.id.clone(), Problem::new(&scene, &routes)))
            })
            .collect();
        if problems.len() < items.len() {
            return Err(Failure::usage(format!(
                "task {}: asked in a neutralised form, which offers no choice of routes; only form = \"printed\" does",
                record.name
            )));
        }
        for (model, name) in header.models.iter().enumerate() {
            for interface in &record.interfaces {
                let asked = run.items.iter().filter(|item| {
                    usize::from(item.at.model) == model
                        && usize::from(item.at.task) == index
                        && item.interface == *interface
                });
                let mut chooser = Chooser {
                    model: name.name.clone(),
                    task: record.name.clone(),
                    interface: interface.clone(),
                    unanswered: 0,
                    not_asked: 0,
                    chosen: Vec::new(),
                };
                asked.for_each(|item| chooser.hear(item, &problems));
                all.push(chooser);
            }
        }
    }
    if all.is_empty() {
        let names = header.tasks.iter().filter(|task| task.task == iip::IIP.name);
        let names: Vec<&str> = names.map(|task| task.name.as_str()).collect();
        return Err(Failure::usage(match (&names[..], only) {
            ([], _) => "the run has no task `iip`, whose choices are what is fitted".to_owned(),
            (names, only) => {
                format!("--task {}: the run has {}", only.unwrap_or_default(), names.join(", "))
            }
        }));
    }
    Ok(all)
}

impl Chooser {
    fn hear(&mut self, item: &ItemRecord, problems: &HashMap<String, Problem>) {
        if matches!(item.verdict, Verdict::Lost(_) | Verdict::Skipped(_)) {
            self.not_asked += 1;
            return;
        }
        let chosen = item.turns.last().and_then(|turn| {
            let (Some(Said::Choice(label)), Gold::Route { kinds, .. }) = (&turn.said, &turn.gold) else {
                return None;
            };
            let kind = kinds.get(usize::from(*label))?;
            let route = Kind::ALL.iter().position(|known| known.word() == kind)?;
            Some(Chosen { item: item.item.clone(), problem: problems.get(&item.item)?.clone(), route })
        });
        match chosen {
            Some(chosen) => self.chosen.push(chosen),
            None => self.unanswered += 1,
        }
    }

    fn choices(&self) -> Vec<Choice<'_>> {
        self.chosen
            .iter()
            .map(|chosen| Choice { problem: &chosen.problem, route: chosen.route, count: 1.0 })
            .collect()
    }

    /// Choices that were made.
    pub fn n(&self) -> usize {
        self.chosen.len()
    }

    /// Fits the model.
    pub fn fit(&self, held: &Held, free: Free) -> Fitted {
        let choices = self.choices();
        let n = choices.len();
        let mut chosen = [0; 4];
        self.chosen.iter().for_each(|choice| chosen[choice.route] += 1);
        let found = fit(&choices, held, free).map(|fit| {
            let mut predicted = [0.0; 4];
            for choice in &choices {
                let chances = choice.problem.choices(&fit.parameters, held.order);
                predicted.iter_mut().zip(chances).for_each(|(sum, chance)| *sum += chance / n as f64);
            }
            let Parameters { cost, urgency, fading, leaving } = fit.parameters;
            let log_likelihood = -fit.loss * n as f64;
            Found { cost, urgency, fading, leaving, log_likelihood, loss: fit.loss, predicted }
        });
        Fitted {
            model: self.model.clone(),
            task: self.task.clone(),
            interface: self.interface.clone(),
            n: n as u64,
            unanswered: self.unanswered,
            not_asked: self.not_asked,
            chosen,
            order: held.order,
            fit: found,
            uniform_log_likelihood: -(n as f64) * 4.0_f64.ln(),
        }
    }

    /// The likelihood surface over cost and urgency.
    pub fn surface(&self, held: &Held, resolution: usize) -> Vec<SurfaceRow> {
        surface(&self.choices(), held, resolution)
    }

    /// For each choice: the item, the kind that was chosen, and how likely a fitted actor chooses each kind.
    pub fn predictions(&self, found: &Found, order: usize) -> impl Iterator<Item = (&str, Kind, [f64; 4])> {
        let with = found.parameters();
        self.chosen.iter().map(move |chosen| {
            let chances = chosen.problem.choices(&with, order);
            (chosen.item.as_str(), Kind::ALL[chosen.route], chances)
        })
    }

    /// Mean negative log-likelihood per choice at given parameters, in nats. `None` without choices.
    pub fn loss(&self, with: &Parameters, order: usize) -> Option<f64> {
        loss(&self.choices(), with, order)
    }
}

#[cfg(test)]
mod tests;
