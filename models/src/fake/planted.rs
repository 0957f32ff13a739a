//! A model whose truth is planted in its prompts, so that every statistic of a report has a value known beforehand.
//!
//! Options carry the logit of their label in braces: `B. lead {1.5}`. A second number, `{1.5|0.5}`, is the logit of the option's
//! own text where the prompt does not show it. The next token is one of [`VOCABULARY`] tokens: labels have their planted
//! logit and [`RISE`], all others zero. When the prompt contains `lean-on`, the first label has `lean` more and the
//! tokens of the first watched set have `talk`.

use super::token;
use crate::{LabelScore, Score, Scored, TokenProb, Usage};

/// Tokens of the planted vocabulary.
pub(super) const VOCABULARY: usize = 1000;
/// What labels have above other tokens, in nats.
pub(super) const RISE: f64 = 8.0;

/// What is planted beside the options.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Planted {
    lean_on: Option<String>,
    lean: f64,
    talk: f64,
}

impl Planted {
    /// Takes an option of the engine's name.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let logit = || value.parse().map_err(|_| format!("{key} needs a logit, got {value:?}"));
        match key {
            "lean-on" => self.lean_on = Some(value.to_owned()),
            "lean" => self.lean = logit()?,
            "talk" => self.talk = logit()?,
            _ => {}
        }
        Ok(())
    }

    /// The distribution behind a prompt.
    pub(super) fn scored(&self, prompt: &str, score: &Score, usage: Usage) -> Scored {
        let leans = self.lean_on.as_ref().is_some_and(|text| prompt.contains(text.as_str()));
        let labels: Vec<f64> = score
            .continuations
            .iter()
            .enumerate()
            .map(|(place, label)| {
                let lean = if leans && place == 0 { self.lean } else { 0.0 };
                RISE + planted(prompt, label.trim()) + lean
            })
            .collect();
        let talkers: Vec<&String> = match score.watch.first() {
            Some(set) => set.iter().filter(|text| !score.continuations.contains(text)).collect(),
            None => Vec::new(),
        };
        let talk = if leans { self.talk } else { 0.0 };
        let others = VOCABULARY.saturating_sub(labels.len() + talkers.len()) as f64;
        let sum: f64 =
            labels.iter().map(|logit| logit.exp()).sum::<f64>() + talkers.len() as f64 * talk.exp() + others;
        let log_sum = sum.ln();
        let probability = |logit: f64| (logit - log_sum).exp();
        let of_text = |text: &String| match score.continuations.iter().position(|label| label == text) {
            Some(place) => probability(labels[place]),
            None if talkers.contains(&text) => probability(talk),
            None => probability(0.0),
        };
        let surprise = |logit: f64| -probability(logit) * (logit - log_sum);
        let entropy = labels.iter().map(|logit| surprise(*logit)).sum::<f64>()
            + talkers.len() as f64 * surprise(talk)
            + others * surprise(0.0);
        let rank = |logit: f64| {
            let above = labels.iter().filter(|other| **other > logit).count();
            1 + (above + if talk > logit { talkers.len() } else { 0 }) as u32
        };
        let named = score.continuations.iter().zip(&labels);
        let mut top: Vec<TokenProb> = named
            .clone()
            .map(|(label, logit)| (label, *logit))
            .chain(talkers.iter().map(|text| (*text, talk)))
            .map(|(text, logit)| TokenProb {
                token: token(text).id,
                piece: text.clone(),
                logprob: (logit - log_sum) as f32,
            })
            .collect();
        top.sort_by(|a, b| b.logprob.total_cmp(&a.logprob));
        top.truncate(usize::from(score.top));
        Scored {
            mass: Some(labels.iter().map(|logit| probability(*logit)).sum()),
            labels: named
                .map(|(label, logit)| LabelScore {
                    tokens: vec![token(label).id],
                    logprobs: vec![(logit - log_sum) as f32],
                    rank: rank(*logit),
                })
                .collect(),
            top,
            usage,
            watched: score.watch.iter().map(|set| set.iter().map(of_text).sum()).collect(),
            entropy: Some(entropy),
            states: None,
        }
    }

    /// What it writes: the label with the largest planted logit, whatever it leans to.
    pub(super) fn says(&self, prompt: &str) -> String {
        let options = prompt.lines().filter_map(|line| {
            let label = line.trim_start_matches('(').split(|c: char| !c.is_alphanumeric()).next()?;
            Some((label, braced(line)?.0))
        });
        match options.max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((label, _)) => format!("That settles it. Answer: {label}"),
            None => "There is no option.".to_owned(),
        }
    }
}

/// The planted logit of a label or of an option's text.
fn planted(prompt: &str, text: &str) -> f64 {
    if let Some((shown, unseen)) = braced(text) {
        return if prompt.contains(text) { shown } else { unseen };
    }
    let is_own = |line: &&str| {
        let rest = line.trim_start_matches('(').strip_prefix(text);
        rest.is_some_and(|rest| rest.starts_with(['.', ')', ':']))
    };
    prompt.lines().rev().find(is_own).and_then(braced).map_or(0.0, |(shown, _)| shown)
}

/// The numbers in a text's braces.
fn braced(text: &str) -> Option<(f64, f64)> {
    let inside = text.split_once('{')?.1.split_once('}')?.0;
    let (shown, unseen) = inside.split_once('|').unwrap_or((inside, "0"));
    Some((shown.trim().parse().ok()?, unseen.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "Which?\nA. one {0.5}\nB. two {2|1}\nThink.";

    fn score() -> Score {
        Score {
            continuations: vec!["A".into(), "B".into()],
            top: 3,
            watch: vec![vec![" So".into(), " We".into()]],
            ..Score::default()
        }
    }

    #[test]
    fn a_planted_distribution_adds_up_and_has_the_planted_odds() {
        let plain = Planted::default().scored(PROMPT, &score(), Usage::default());
        let odds = plain.labels[1].sum() - plain.labels[0].sum();
        assert!((odds - 1.5).abs() < 1e-5);
        let z = (8.5f64).exp() + 10f64.exp() + 998.0;
        assert!((plain.mass.unwrap() - (8.5f64.exp() + 10f64.exp()) / z).abs() < 1e-9);
        assert!((plain.watched[0] - 2.0 / z).abs() < 1e-9);
        assert_eq!((plain.labels[0].rank, plain.labels[1].rank), (2, 1));
        let mut leaning = Planted::default();
        for (key, value) in [("lean-on", "Think."), ("lean", "3"), ("talk", "11")] {
            leaning.set(key, value).unwrap();
        }
        let scored = leaning.scored(PROMPT, &score(), Usage::default());
        let z = 11.5f64.exp() + 10f64.exp() + 2.0 * 11f64.exp() + 996.0;
        assert!((scored.watched[0] - 2.0 * 11f64.exp() / z).abs() < 1e-9);
        assert_eq!((scored.labels[0].rank, scored.labels[1].rank), (1, 4));
        assert!(leaning.says(PROMPT).ends_with("Answer: B"));
    }

    #[test]
    fn an_option_s_own_text_has_one_logit_shown_and_one_unseen() {
        assert_eq!((planted(PROMPT, "two {2|1}"), planted("Answer:", "two {2|1}")), (2.0, 1.0));
        assert_eq!((planted(PROMPT, "B"), planted(PROMPT, "C")), (2.0, 0.0));
    }
}
