//! Measuring an engine: how long it takes over made-up tokens.

use serde::{Deserialize, Serialize};

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// What is timed.
    pub work: ProbeWork,
    /// Tokens that each sequence has before; evaluating them is not timed.
    pub depth_tokens: u32,
    /// Threads for generating; 0 for those that the model was loaded with.
    pub threads: u32,
    /// Threads for evaluating prompts; 0 for those that the model was loaded with.
    pub threads_batch: u32,
    /// How often it is timed, after a run that is not.
    pub repetitions: u32,
    /// Time after which no further repetition begins, in microseconds; the first is always made.
    pub budget_us: Option<u64>,
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProbeWork {
    /// Evaluating a prompt of so many tokens; logits of its last one only.
    Prefill {
        /// Tokens of the prompt.
        tokens: u32,
    },
    /// Generating, one token of every sequence in each step.
    Decode {
        /// Steps.
        steps: u32,
        /// Sequences side by side.
        sequences: u32,
    },
}

impl ProbeWork {
    /// Tokens that one repetition evaluates.
    pub fn tokens(self) -> u64 {
        match self {
            ProbeWork::Prefill { tokens } => u64::from(tokens),
            ProbeWork::Decode { steps, sequences } => u64::from(steps) * u64::from(sequences),
        }
    }

    /// Sequences that it takes.
    pub fn sequences(self) -> u32 {
        match self {
            ProbeWork::Prefill { .. } => 1,
            ProbeWork::Decode { sequences, .. } => sequences,
        }
    }

    /// Tokens that one sequence grows by.
    pub fn tokens_per_sequence(self) -> u32 {
        match self {
            ProbeWork::Prefill { tokens } => tokens,
            ProbeWork::Decode { steps, .. } => steps,
        }
    }
}

impl Probe {
    /// The same with a number of threads for both kinds of work.
    pub fn with_threads(self, threads: u32) -> Probe {
        Probe { threads, threads_batch: threads, ..self }
    }

    /// Cells of a KV cache that hold it; `None` when that is no sensible number.
    pub fn cells(&self) -> Option<u32> {
        let sequence = self.depth_tokens.checked_add(self.work.tokens_per_sequence())?;
        sequence.checked_mul(self.work.sequences())
    }

    /// Why it cannot be done; `None` when it can.
    pub fn refusal(&self) -> Option<String> {
        if self.work.tokens() == 0 {
            return Some("a probe of no token measures nothing".into());
        }
        if self.repetitions == 0 {
            return Some("a probe of no repetition measures nothing".into());
        }
        self.cells().is_none().then(|| "a probe of more tokens than can be counted".into())
    }
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReply {
    /// Wall time of each repetition in microseconds, never 0.
    pub samples_us: Vec<u64>,
    /// Threads that generated.
    pub threads: u32,
    /// Threads that evaluated prompts.
    pub threads_batch: u32,
    /// Tokens that the library took in one call.
    pub batch_tokens: u32,
    /// Tokens that it computed at once.
    pub micro_batch_tokens: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_knows_its_size_and_refuses_nothing_and_too_much() {
        let decode = ProbeWork::Decode { steps: 8, sequences: 4 };
        let probe = Probe {
            work: decode,
            depth_tokens: 100,
            threads: 0,
            threads_batch: 0,
            repetitions: 1,
            budget_us: None,
        };
        // Four sequences of 108 tokens each.
        assert_eq!((probe.cells(), probe.work.tokens(), probe.refusal()), (Some(432), 32, None));
        assert!(Probe { work: ProbeWork::Prefill { tokens: 0 }, ..probe }.refusal().is_some());
        assert!(Probe { work: ProbeWork::Decode { steps: 0, sequences: 1 }, ..probe }.refusal().is_some());
        assert!(Probe { repetitions: 0, ..probe }.refusal().is_some());
        assert!(Probe { depth_tokens: u32::MAX, ..probe }.refusal().is_some());
    }
}
