//! When an engine did what: stretches of one kind of work, for whoever measures power beside it.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::PhaseKind;

/// Steps of one kind that follow each other this closely are one stretch: between two calls lies only the choice of the
/// next token.
const CLOSE: Duration = Duration::from_millis(20);
/// Stretches that a round may have; a round that changes between kinds more often than this tells of its beginning only.
const MOST: usize = 1 << 16;
/// Room from the start, so that the usual round makes none while it runs.
const USUAL: usize = 256;

/// A stretch of one kind of work. Times are microseconds since the round began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// What was done.
    pub kind: PhaseKind,
    /// Its beginning.
    pub begin_us: u64,
    /// Its end.
    pub end_us: u64,
}

/// The stretches of a round in the making.
#[derive(Debug)]
pub struct Spans {
    origin: Instant,
    last: Option<Instant>,
    spans: Vec<Span>,
}

impl Spans {
    /// Begins with a round.
    pub fn since(origin: Instant) -> Self {
        Spans { origin, last: None, spans: Vec::with_capacity(USUAL) }
    }

    /// Work of a kind was done from one moment to another; moments only go forward.
    pub fn add(&mut self, kind: PhaseKind, begin: Instant, end: Instant) {
        let us = |at: Instant| at.saturating_duration_since(self.origin).as_micros() as u64;
        let close = self.last.is_some_and(|last| begin.saturating_duration_since(last) <= CLOSE);
        let full = self.spans.len() >= MOST;
        match self.spans.last_mut() {
            Some(span) if close && span.kind == kind => span.end_us = us(end),
            _ if full => return,
            _ => self.spans.push(Span { kind, begin_us: us(begin), end_us: us(end) }),
        }
        self.last = Some(end);
    }

    /// The stretches, in order.
    pub fn take(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_one_kind_are_one_stretch_until_another_kind_or_a_pause_comes() {
        let origin = Instant::now();
        let at = |ms: u64| origin + Duration::from_millis(ms);
        let mut spans = Spans::since(origin);
        spans.add(PhaseKind::Prefill, at(0), at(100));
        spans.add(PhaseKind::Prefill, at(101), at(200));
        spans.add(PhaseKind::Decode, at(200), at(210));
        spans.add(PhaseKind::Decode, at(212), at(222));
        spans.add(PhaseKind::Decode, at(500), at(510));
        let got: Vec<_> =
            spans.take().iter().map(|span| (span.kind, span.begin_us / 1000, span.end_us / 1000)).collect();
        let wanted =
            [(PhaseKind::Prefill, 0, 200), (PhaseKind::Decode, 200, 222), (PhaseKind::Decode, 500, 510)];
        assert_eq!(got, wanted);
        assert!(spans.take().is_empty());
    }
}
