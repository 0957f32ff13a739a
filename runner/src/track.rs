//! One item under one condition: joins the task's episode with the interface's exchanges and keeps the record.

use datasets::interfaces::{Exchange, Move, Settings};
use datasets::{Condition, Episode, Heard, Item, Loss, Outcome, Question, Script, Skip, Step, Verdict};
use models::{Generate, Prompt, Reply, Request, Sampling, Usage};

use crate::entry::{GroupRef, ItemRecord, TurnRecord};

/// Course and record of one item under one condition.
pub struct Track<'a> {
    item: &'a Item,
    condition: &'a Condition,
    settings: Settings,
    episode: Box<dyn Episode + Send + 'a>,
    exchange: Option<Box<dyn Exchange + Send>>,
    turn: Option<TurnRecord>,
    turns: Vec<TurnRecord>,
    usage: Usage,
    outcome: Option<Outcome>,
    asks: Vec<(Prompt, Request)>,
    /// The user's turn of the question at hand.
    asked: Option<String>,
}

impl<'a> Track<'a> {
    /// Starts an item; its first requests are in [`Track::asks`].
    pub fn start(item: &'a Item, condition: &'a Condition, settings: &Settings) -> Self {
        let mut track = Track {
            item,
            condition,
            settings: condition.settings(settings),
            episode: item.open(),
            exchange: None,
            turn: None,
            turns: Vec::new(),
            usage: Usage::default(),
            outcome: None,
            asks: Vec::new(),
            asked: None,
        };
        track.turn_to(None);
        track
    }

    /// What is to be asked next; empty when the item is over.
    pub fn asks(&self) -> &[(Prompt, Request)] {
        &self.asks
    }

    /// Whether what is asked now may be followed by more that begins alike: another turn, a rescue, a vote.
    pub fn may_ask_on(&self) -> bool {
        let interface = self.condition.interface;
        !matches!(self.item.script, Script::One(_))
            || interface.asks_on
            || (interface.generates && self.settings.rescue)
    }

    /// Whether the item is over.
    pub fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// The questions that are answered.
    pub fn turns(&self) -> &[TurnRecord] {
        &self.turns
    }

    /// Requests of the question at hand that are answered.
    pub fn answered_requests(&self) -> usize {
        self.turn.as_ref().map_or(0, |turn| turn.replies.len())
    }

    /// The pictures that the item may show.
    pub fn pictures(&self) -> impl Iterator<Item = &'a datasets::Picture> + use<'a> {
        self.item.pictures()
    }

    /// Item id and name of the condition, for messages and records.
    pub fn name(&self) -> (&str, &'a str) {
        (&self.item.id, self.condition.name())
    }

    /// Notes the hash of the first rendered prompt of the turn.
    pub fn note_prompt(&mut self, hash: [u8; 8]) {
        if let Some(turn) = &mut self.turn
            && turn.prompt_hash == [0; 8]
        {
            turn.prompt_hash = hash;
        }
    }

    /// Takes the replies to [`Track::asks`], in order, and moves on.
    pub fn answer(&mut self, replies: Vec<Reply>) {
        for reply in &replies {
            self.usage += reply.usage();
        }
        let Some(exchange) = &mut self.exchange else { return };
        let next = exchange.step(&replies);
        if let Some(turn) = &mut self.turn {
            turn.replies.extend(replies);
        }
        self.take(next);
    }

    /// The engine gave no answer.
    pub fn lose(&mut self, loss: Loss) {
        self.take(Move::Lost(loss));
    }

    fn take(&mut self, next: Move) {
        // The user's turn as it was sent first: a rescue asks again in another form.
        let asked = std::mem::take(&mut self.asks);
        let asked = asked.first().and_then(|(prompt, _)| prompt.turns.last()).map(|turn| turn.text.clone());
        self.asked = self.asked.take().or(asked);
        let Some(turn) = &mut self.turn else { return };
        let (said, reply, verdict) = match next {
            Move::Ask(asks) => {
                turn.seeds.extend(asks.iter().filter_map(|(_, request)| seed(request)));
                self.asks = asks;
                return;
            }
            Move::Said { said, reply, found, rescued } => {
                let verdict = datasets::grade::grade(&turn.gold, &said);
                turn.said = Some(said.clone());
                turn.found = found.map(|found| *found);
                turn.rescued = rescued;
                (Some(said), reply, verdict)
            }
            Move::Skipped(skip) => (None, String::new(), Verdict::Skipped(skip)),
            Move::Lost(loss) => {
                turn.verdict = Verdict::Lost(loss);
                self.turns.extend(self.turn.take());
                self.outcome = Some(Outcome { verdict: Verdict::Lost(loss), scores: Vec::new() });
                return;
            }
        };
        turn.verdict = verdict;
        self.turns.extend(self.turn.take());
        let asked = self.asked.take().unwrap_or_default();
        self.turn_to(Some(Heard { said, verdict, asked, reply }));
    }

    fn turn_to(&mut self, heard: Option<Heard>) {
        match self.episode.next(heard.as_ref()) {
            Step::Done(outcome) => self.outcome = Some(outcome),
            Step::Ask(question) => self.ask(&question),
        }
    }

    fn ask(&mut self, question: &Question) {
        let question = &self.condition.question(question);
        let interface = self.condition.interface;
        let mut exchange = (interface.open)(question, &self.settings);
        let first = exchange.step(&[]);
        self.exchange = Some(exchange);
        self.turn = Some(TurnRecord {
            prompt_hash: [0; 8],
            labels: question.labels.clone(),
            gold: question.gold.clone(),
            replies: Vec::new(),
            said: None,
            found: None,
            rescued: false,
            verdict: Verdict::Skipped(Skip::TooLong),
            texts: if interface.scores_texts { question.options.clone() } else { Vec::new() },
            seeds: Vec::new(),
        });
        self.take(first);
    }

    /// The record of an item that is over.
    pub fn record(self, at: GroupRef, tries: u8) -> Option<ItemRecord> {
        let outcome = self.outcome?;
        Some(ItemRecord {
            at,
            interface: self.condition.name().to_owned(),
            item: self.item.id.clone(),
            family: self.item.family.clone(),
            tags: self.item.tags.clone().into_iter().collect(),
            turns: self.turns,
            verdict: outcome.verdict,
            scores: outcome.scores,
            usage: self.usage,
            tries,
        })
    }
}

/// The seed of a reply that is drawn.
fn seed(request: &Request) -> Option<u64> {
    match request {
        Request::Generate(Generate { sampling: Sampling::Temperature { seed, .. }, .. }) => Some(*seed),
        Request::Generate(_) | Request::Score(_) => None,
    }
}
