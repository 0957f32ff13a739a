//! The words of one grammar: what is shown, what belongs to it, what does not.

use std::collections::BTreeSet;

use super::automaton::{Automaton, Language};
use super::{GrammarParams, Sampling};
use crate::Stream;

/// Draws before a grammar is given up for another one. Hardly ever needed: most draws are new words.
const TRIES: u32 = 20_000;

/// The words of one grammar.
#[derive(Clone, Debug)]
pub(super) struct Words {
    /// Words of the grammar that are shown.
    pub(super) train: Vec<String>,
    /// Words that are asked about, in random order, with whether they belong to the grammar.
    pub(super) tests: Vec<(String, bool)>,
}

impl Words {
    /// Draws all words; `None` where the grammar has too few.
    pub(super) fn draw(automaton: &Automaton, params: &GrammarParams, stream: &mut Stream) -> Option<Words> {
        let language = Language::new(automaton, params.max_length);
        let wanted = (params.train + params.positives) as usize;
        if language.len() < wanted as u64 {
            return None;
        }
        let source = Source { automaton, language, params };
        let mut tries = 0..TRIES;
        let mut members = Vec::with_capacity(wanted);
        let mut seen = BTreeSet::new();
        while members.len() < wanted {
            tries.next()?;
            if let Some(word) = source.member(stream).filter(|word| seen.insert(word.clone())) {
                members.push(word);
            }
        }
        let positives = members.split_off(params.train as usize);
        let mut strangers = Vec::new();
        while strangers.len() < params.negatives as usize {
            tries.next()?;
            if let Some(word) = source.stranger(stream).filter(|word| seen.insert(word.clone())) {
                strangers.push(word);
            }
        }
        let mut tests: Vec<(String, bool)> = positives.iter().map(|word| (spelt(word), true)).collect();
        tests.extend(strangers.iter().map(|word| (spelt(word), false)));
        stream.shuffle(&mut tests);
        Some(Words { train: members.iter().map(|word| spelt(word)).collect(), tests })
    }
}

/// Where the words of one grammar come from.
struct Source<'a> {
    automaton: &'a Automaton,
    language: Language<'a>,
    params: &'a GrammarParams,
}

impl Source<'_> {
    /// A word of the grammar.
    fn member(&self, stream: &mut Stream) -> Option<Vec<usize>> {
        match self.params.sampling {
            Sampling::Uniform => {
                Some(self.language.string(stream.below(self.language.len() as usize) as u64))
            }
            Sampling::Walks => self.automaton.walk(self.params.max_length, stream),
        }
    }

    /// A word of the grammar with letters changed so that it no longer is one.
    fn stranger(&self, stream: &mut Stream) -> Option<Vec<usize>> {
        let mut word = self.member(stream)?;
        let alphabet = self.automaton.alphabet();
        for place in stream.distinct(word.len(), self.params.changed_letters as usize) {
            let fits = |letter: &usize| alphabet.contains(letter) != self.params.foreign_letters;
            let others: Vec<usize> = (0..26).filter(fits).filter(|&letter| letter != word[place]).collect();
            if others.is_empty() {
                return None;
            }
            word[place] = *stream.pick(&others);
        }
        (!self.automaton.accepts(&word)).then_some(word)
    }
}

fn spelt(word: &[usize]) -> String {
    word.iter().map(|&letter| char::from(b'A' + letter as u8)).collect()
}
