//! A condition: an interface with what one run varies about it. Everything that keeps answers apart (log, reports,
//! comparisons, exports) keeps them apart by the name of their condition; the plain one has the interface's own name, so
//! that a run that varies nothing is what it was before anything could be varied.
//!
//! `cot-prefix+explain-first+labels=numbers+at=raw`

use crate::ending::{Asks, Ending};
use crate::forms::LabelSet;
use crate::interfaces::{ALL, CuePlace, Endings, Interface, Settings};
use crate::item::{Item, Question};

/// An interface with what is varied about it.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The way of asking.
    pub interface: &'static Interface,
    /// What ends the prompt in place of the question's own text.
    pub ending: Option<&'static Ending>,
    /// What options are called in place of the question's own labels.
    pub labels: Option<LabelSet>,
    /// Where the ending stands, in place of what the settings say.
    pub place: Option<CuePlace>,
    /// Cap of generated tokens, in place of what the settings say.
    pub cap: Option<u32>,
    name: String,
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Condition {}

impl Condition {
    /// An interface with nothing varied.
    pub fn plain(interface: &'static Interface) -> Condition {
        Condition {
            interface,
            ending: None,
            labels: None,
            place: None,
            cap: None,
            name: interface.name.to_owned(),
        }
    }

    /// The name in logs and results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Finds the condition that a name stands for; `None` where it is no name of this version.
    pub fn named(name: &str) -> Option<Condition> {
        let mut parts = name.split('+');
        let mut condition = Condition::plain(Interface::named(parts.next()?)?);
        for part in parts {
            match part.split_once('=') {
                None => condition.ending = Some(Ending::named(part)?),
                Some(("labels", set)) => condition.labels = Some(LabelSet::named(set)?),
                Some(("at", place)) => condition.place = Some(CuePlace::named(place)?),
                Some(("cap", tokens)) => condition.cap = Some(tokens.parse().ok()?),
                Some(_) => return None,
            }
        }
        condition.rename();
        (condition.name == name).then_some(condition)
    }

    /// Every condition that the settings make of these interfaces, in the order of reports: each interface as it is, then with
    /// its endings, all of that under each label set, at each place and with each cap.
    pub fn of(interfaces: &[&'static Interface], settings: &Settings) -> Vec<Condition> {
        let mut all = Vec::new();
        for interface in interfaces {
            let endings = endings_of(interface, settings);
            let scores = !interface.generates;
            let labels = settings.label_sets.iter().copied().filter(|_| interface.scores_labels).map(Some);
            let caps: Vec<Option<u32>> = match interface.capped {
                true => std::iter::once(None).chain(settings.caps.iter().copied().map(Some)).collect(),
                false => vec![None],
            };
            let places =
                settings.cue_places.iter().copied().filter(|place| scores && *place != settings.cue_place);
            for place in std::iter::once(None).chain(places.map(Some)) {
                for labels in std::iter::once(None).chain(labels.clone()) {
                    for ending in &endings {
                        for cap in &caps {
                            let mut condition = Condition {
                                ending: *ending,
                                labels,
                                place,
                                cap: *cap,
                                ..Condition::plain(interface)
                            };
                            if condition.is_moved_by(place) {
                                condition.rename();
                                all.push(condition);
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// Whether another place would change the prompt: the assistant's turn can only begin with an ending or a cue.
    fn is_moved_by(&self, place: Option<CuePlace>) -> bool {
        place != Some(CuePlace::AssistantLead) || self.ending.is_some() || self.interface.cued
    }

    fn rename(&mut self) {
        let mut name = self.interface.name.to_owned();
        if let Some(ending) = self.ending {
            name.push('+');
            name.push_str(&ending.name);
        }
        let varied = [
            ("labels", self.labels.map(|set| set.name().to_owned())),
            ("at", self.place.map(|place| place.name().to_owned())),
            ("cap", self.cap.map(|cap| cap.to_string())),
        ];
        for (key, value) in varied {
            if let Some(value) = value {
                name.push_str(&format!("+{key}={value}"));
            }
        }
        self.name = name;
    }

    /// Whether a question can be asked under the condition.
    pub fn fits(&self, item: &Item) -> bool {
        let question = item.first_question();
        (self.interface.fits)(question)
            && self.ending.is_none_or(|_| question.labels.len() >= 2)
            && self.labels.is_none_or(|set| {
                matches!(item.script, crate::Script::One(_)) && set.relabelled(question).is_some()
            })
    }

    /// The question as it is asked: under other labels where the condition says so.
    pub fn question(&self, question: &Question) -> Question {
        self.labels.and_then(|set| set.relabelled(question)).unwrap_or_else(|| question.clone())
    }

    /// The settings under the condition.
    pub fn settings(&self, settings: &Settings) -> Settings {
        let cue_place = self.place.unwrap_or(settings.cue_place);
        Settings {
            ending: self.ending,
            cue_place,
            max_tokens: self.cap.unwrap_or(settings.max_tokens),
            raw_prompt: settings.raw_prompt || (cue_place == CuePlace::Raw && !self.interface.generates),
            opens_in_reasoning: settings.opens_in_reasoning,
            ..settings.clone()
        }
    }
}

/// What ends the prompts of an interface: its own text, and those endings of the settings that suit it.
fn endings_of(interface: &Interface, settings: &Settings) -> Vec<Option<&'static Ending>> {
    let suits = |ending: &&'static Ending| match interface.endings {
        Endings::None => false,
        Endings::Reasoning => ending.asks == Asks::Reasoning,
        Endings::Others => ending.asks != Asks::Reasoning,
        Endings::All => true,
        Endings::Written => settings.write_endings,
    };
    let chosen = settings.swept_endings().into_iter().filter(suits);
    std::iter::once(None).chain(chosen.map(Some)).collect()
}

/// Names of all interfaces, for messages.
pub fn interface_names() -> String {
    ALL.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
}
