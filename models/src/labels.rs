//! Where a label begins: joint tokenisation.
//!
//! A tokenizer may merge the end of the prompt with the start of a label (`:` and ` C` into `: C`), so a label's
//! tokens cannot be looked up alone. Prompt and label are tokenised together, and what all labels share with the
//! prompt is cut off; every label is scored from the same cut.

/// A prompt with its labels, as token ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelTokens {
    /// What comes before every label; a prefix of the prompt's tokens.
    pub stem: Vec<i32>,
    /// What each label adds, in the order of the labels; never empty.
    pub tails: Vec<Vec<i32>>,
}

impl LabelTokens {
    /// Tokens of the stem with the longest label.
    pub fn longest(&self) -> usize {
        self.stem.len() + self.tails.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// Why labels cannot be scored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// Nothing is left to score: the label is empty or swallowed by the prompt.
    #[error("label {0} adds no token to the prompt: give it a text of its own")]
    Empty(usize),
    /// No token comes before the labels, so there is no position to read their probabilities at.
    #[error(
        "no token comes before the labels: the prompt is empty and the vocabulary has no begin-of-sequence token"
    )]
    NoStem,
}

/// Cuts the joint tokenisations `joint[i] = tokens(prompt + label_i)` where they part from the prompt's tokens.
pub fn cut(prompt: &[i32], joint: &[Vec<i32>]) -> Result<LabelTokens, LabelError> {
    let shared = joint.iter().map(|tokens| common_prefix(prompt, tokens)).min().unwrap_or(0);
    if shared == 0 {
        return Err(LabelError::NoStem);
    }
    let tails: Vec<Vec<i32>> = joint.iter().map(|tokens| tokens[shared..].to_vec()).collect();
    match tails.iter().position(Vec::is_empty) {
        Some(label) => Err(LabelError::Empty(label)),
        None => Ok(LabelTokens { stem: prompt[..shared].to_vec(), tails }),
    }
}

/// Length of the longest common prefix.
pub fn common_prefix(a: &[i32], b: &[i32]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_labels_add_their_tokens() {
        let got = cut(&[1, 2, 3], &[vec![1, 2, 3, 34], vec![1, 2, 3, 35, 36]]).unwrap();
        assert_eq!(got, LabelTokens { stem: vec![1, 2, 3], tails: vec![vec![34], vec![35, 36]] });
    }

    #[test]
    fn tok_01_the_label_is_what_follows_the_prompt_and_not_its_letter_alone() {
        // `B` is 34 and ` B` is 329; behind `Answer:` (10, 11) the label of a demonstration is the latter.
        let got = cut(&[10, 11], &[vec![10, 11, 329], vec![10, 11, 330]]).unwrap();
        assert_eq!(got.tails, [[329], [330]]);
    }

    #[test]
    fn tok_02_no_fixed_place_of_a_label_s_encoding_is_taken() {
        // With a begin-of-sequence token (1) or without one, what is scored is the label alone.
        for prompt in [vec![1, 10], vec![10]] {
            let joint = [[prompt.clone(), vec![319]].concat(), [prompt.clone(), vec![32, 7]].concat()];
            let got = cut(&prompt, &joint).unwrap();
            assert_eq!(got.tails, [vec![319], vec![32, 7]]);
        }
    }

    #[test]
    fn tok_05_a_token_that_spans_prompt_and_label_moves_the_cut_for_every_label() {
        // `Answer` `:` + ` C` -> `Answer` `: C`, while ` D` stays apart: both are scored after `Answer`.
        let got = cut(&[10, 11], &[vec![10, 20], vec![10, 11, 21]]).unwrap();
        assert_eq!(got, LabelTokens { stem: vec![10], tails: vec![vec![20], vec![11, 21]] });
    }

    #[test]
    fn nothing_to_score_is_an_error() {
        assert_eq!(cut(&[1, 2], &[vec![1, 2, 5], vec![1, 2]]), Err(LabelError::Empty(1)));
        assert_eq!(cut(&[], &[vec![5]]), Err(LabelError::NoStem));
        assert_eq!(cut(&[1], &[vec![2, 5]]), Err(LabelError::NoStem));
    }
}
