//! One item's logged replies, heard again.

use datasets::{Condition, Item, Settings, Verdict};
use models::{Reply, Usage};

use crate::entry::{ItemRecord, TurnRecord};
use crate::track::Track;

/// How far the logged replies carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// To the end.
    Read {
        /// More would be asked now than was asked then; the item goes without it.
        unasked: bool,
    },
    /// The engine lost the item; there is nothing to read.
    Lost,
    /// A question in the middle is read differently, so that the conversation would have gone on differently. The item
    /// is kept as it was logged.
    Other,
}

/// Reads and grades an item's replies again. What was asked, replied and spent stays as it is logged.
pub fn replay(
    record: &ItemRecord,
    item: &Item,
    condition: &Condition,
    settings: &Settings,
) -> (ItemRecord, Course) {
    if matches!(record.verdict, Verdict::Lost(_)) {
        return (record.clone(), Course::Lost);
    }
    let other = || (record.clone(), Course::Other);
    let mut track = Track::start(item, condition, settings);
    let (mut used, mut unasked) = (0, false);
    while !track.is_over() {
        let turn = track.turns().len();
        let wanted = track.asks().len();
        let Some(logged) = record.turns.get(turn).filter(|_| wanted > 0) else { return other() };
        let mut replies: Vec<Reply> = logged.replies.iter().skip(used).take(wanted).cloned().collect();
        used += wanted;
        if replies.len() < wanted {
            unasked = true;
            let missing = || Reply::Failed { reason: "not asked".to_owned(), usage: Usage::default() };
            replies.resize_with(wanted, missing);
        }
        track.answer(replies);
        if track.turns().len() > turn {
            used = 0;
            if !track.is_over() && leads_elsewhere(logged, &track.turns()[turn]) {
                return other();
            }
        }
    }
    let mut now = record.clone();
    let Some(heard) = track.record(record.at, record.tries) else { return other() };
    now.turns.truncate(heard.turns.len());
    for (turn, heard) in now.turns.iter_mut().zip(heard.turns) {
        (turn.said, turn.found) = (heard.said, heard.found);
        (turn.rescued, turn.verdict) = (heard.rescued, heard.verdict);
    }
    (now.verdict, now.scores) = (heard.verdict, heard.scores);
    (now, Course::Read { unasked })
}

/// Whether the next question of a conversation would be another one: feedback tells right from not right, and where
/// labels are scored, the label that was chosen stays in view.
fn leads_elsewhere(logged: &TurnRecord, now: &TurnRecord) -> bool {
    let right = |turn: &TurnRecord| turn.verdict == Verdict::Right;
    right(logged) != right(now) || (now.found.is_none() && logged.said != now.said)
}
