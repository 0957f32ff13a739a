//! Text to tokens and back.

use std::cell::RefCell;
use std::collections::BTreeMap;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::LlamaVocab;

use super::vision::{Vision, is_of_picture};
use crate::labels::{self, LabelTokens};
use crate::{Job, PromptSize, Request, Segment, Token, Tokenised};

/// The vocabulary of a loaded model.
pub(super) struct Vocabulary {
    vocab: LlamaVocab<'static>,
    /// Tokens by what they spell, as far as it was asked for.
    spelt: RefCell<BTreeMap<String, Vec<i32>>>,
}

/// A job in tokens.
pub(super) struct Work {
    /// The prompt.
    pub(super) prompt: Vec<i32>,
    /// Where the labels begin, for a score request.
    pub(super) labels: Option<LabelTokens>,
}

/// A job that cannot be done.
pub(super) struct Impossible {
    pub(super) prompt_tokens: u32,
    /// One line says why.
    pub(super) reason: String,
}

impl Work {
    pub(super) fn size(&self, job: &Job) -> PromptSize {
        let prompt_tokens = self.prompt.len() as u32;
        let picture_tokens = self.prompt.iter().filter(|&&element| is_of_picture(element)).count() as u32;
        let extra_tokens = match (&self.labels, &job.request) {
            (Some(labels), _) => (labels.longest() as u32).saturating_sub(prompt_tokens),
            (None, Request::Generate(generate)) => generate.max_tokens,
            (None, Request::Score(_)) => 0,
        };
        PromptSize { prompt_tokens, extra_tokens, picture_tokens }
    }
}

impl Vocabulary {
    pub(super) fn new(model: &'static LlamaModel) -> Self {
        Vocabulary { vocab: model.vocab(), spelt: RefCell::default() }
    }

    pub(super) fn size(&self) -> u32 {
        self.vocab.n_tokens().max(0) as u32
    }

    pub(super) fn adds_bos(&self) -> bool {
        self.vocab.should_add_bos()
    }

    pub(super) fn ends_generation(&self, token: i32) -> bool {
        self.vocab.is_eog(LlamaToken(token))
    }

    /// The bytes that a token stands for; control tokens show their name when `special`.
    pub(super) fn piece(&self, token: i32, special: bool) -> Vec<u8> {
        self.vocab.token_to_piece(LlamaToken(token), special, None)
    }

    /// The tokens that spell one of the texts of each set, each token once. The vocabulary is searched once for texts that
    /// were not asked for before.
    pub(super) fn spelt(&self, sets: &[Vec<String>]) -> Vec<Vec<i32>> {
        let mut spelt = self.spelt.borrow_mut();
        let mut fresh: BTreeMap<&[u8], Vec<i32>> = BTreeMap::new();
        for text in sets.iter().flatten().filter(|text| !spelt.contains_key(*text)) {
            fresh.insert(text.as_bytes(), Vec::new());
        }
        if !fresh.is_empty() {
            let mut piece = Vec::new();
            for id in 0..self.vocab.n_tokens() {
                piece.clear();
                self.append_piece(id, &mut piece);
                if let Some(tokens) = fresh.get_mut(&piece[..]) {
                    tokens.push(id);
                }
            }
            let found =
                fresh.into_iter().map(|(text, ids)| (String::from_utf8_lossy(text).into_owned(), ids));
            spelt.extend(found);
        }
        let of_set = |set: &Vec<String>| {
            let mut tokens: Vec<i32> =
                set.iter().filter_map(|text| spelt.get(text)).flatten().copied().collect();
            tokens.sort_unstable();
            tokens.dedup();
            tokens
        };
        sets.iter().map(of_set).collect()
    }

    /// Tokens of a text in which control tokens count.
    pub(super) fn parse(&self, text: &str) -> Vec<i32> {
        self.vocab.tokenize(text.as_bytes(), false, true).into_iter().map(|token| token.0).collect()
    }

    /// Appends the bytes that a generated token stands for; control tokens stand for none.
    pub(super) fn append_piece(&self, token: i32, bytes: &mut Vec<u8>) {
        /// Room for any usual token: the binding makes room for exactly one, each time anew.
        const PIECE_BYTES: usize = 64;
        bytes.reserve(PIECE_BYTES);
        self.vocab.token_to_piece_into(LlamaToken(token), bytes, false, None);
    }

    /// A token with what is known of it.
    pub(super) fn token(&self, id: i32) -> Token {
        if is_of_picture(id) {
            return Token { id, piece: "[picture]".into(), control: true, ends_generation: false };
        }
        Token {
            id,
            piece: String::from_utf8_lossy(&self.piece(id, true)).into_owned(),
            control: self.vocab.is_control(LlamaToken(id)),
            ends_generation: self.ends_generation(id),
        }
    }

    /// A job in tokens with their texts, for people.
    pub(super) fn tokenised(&self, job: &Job, vision: Option<&Vision>) -> Tokenised {
        let shown = |ids: &[i32]| ids.iter().map(|&id| self.token(id)).collect();
        match self.prepare(job, vision) {
            Ok(work) => {
                let labels = work.labels.iter().flat_map(|labels| &labels.tails);
                Tokenised {
                    prompt: shown(&work.prompt),
                    labels: labels.map(|tail| shown(tail)).collect(),
                    refusal: None,
                }
            }
            Err(impossible) => {
                let prompt = self.tokens(&job.prompt, job.add_bos, "", vision).unwrap_or_default();
                Tokenised { prompt: shown(&prompt), labels: Vec::new(), refusal: Some(impossible.reason) }
            }
        }
    }

    /// Tokens of a job, its labels cut off where they part from the prompt.
    pub(super) fn prepare(&self, job: &Job, vision: Option<&Vision>) -> Result<Work, Impossible> {
        let prompt = self
            .tokens(&job.prompt, job.add_bos, "", vision)
            .map_err(|reason| Impossible { prompt_tokens: 0, reason })?;
        let impossible = |reason: String| Impossible { prompt_tokens: prompt.len() as u32, reason };
        let labels = match &job.request {
            Request::Generate(_) if prompt.is_empty() => {
                return Err(impossible("the prompt has no token".into()));
            }
            Request::Generate(_) => None,
            Request::Score(score) => {
                let joint: Vec<Vec<i32>> = score
                    .continuations
                    .iter()
                    .map(|label| self.tokens(&job.prompt, job.add_bos, label, vision))
                    .collect::<Result<_, String>>()
                    .map_err(&impossible)?;
                Some(labels::cut(&prompt, &joint).map_err(|error| impossible(error.to_string()))?)
            }
        };
        let read_at = labels.as_ref().map_or(prompt.last(), |labels| labels.stem.last());
        let is_whole = vision.is_some_and(Vision::has_whole_tiles);
        if is_whole && read_at.copied().is_some_and(is_of_picture) {
            return Err(impossible("a prompt that ends in a picture cannot be asked of this model".into()));
        }
        Ok(Work { prompt, labels })
    }

    /// Elements of the segments with `more` behind them: every stretch of text is tokenised alone, as the library does
    /// it around pictures; a text goes on with `more`.
    fn tokens(
        &self,
        segments: &[Segment],
        add_bos: bool,
        more: &str,
        vision: Option<&Vision>,
    ) -> Result<Vec<i32>, String> {
        let mut tokens: Vec<LlamaToken> = Vec::new();
        let last = segments.len().saturating_sub(1);
        for (index, segment) in segments.iter().enumerate() {
            let add_special = add_bos && index == 0;
            if let Some(address) = &segment.picture {
                if add_special {
                    self.vocab.tokenize_into(b"", &mut tokens, true, false);
                    self.reopen(&mut tokens, add_bos);
                }
                let missing = || format!("picture {address} is not there");
                let elements = vision.and_then(|vision| vision.elements(address)).ok_or_else(missing)?;
                tokens.extend(elements.iter().map(|&element| LlamaToken(element)));
                if index == last && !more.is_empty() {
                    self.vocab.tokenize_into(more.as_bytes(), &mut tokens, false, false);
                }
                continue;
            }
            if index == last && !more.is_empty() {
                let text = format!("{}{more}", segment.text);
                self.vocab.tokenize_into(text.as_bytes(), &mut tokens, add_special, segment.control);
            } else {
                self.vocab.tokenize_into(segment.text.as_bytes(), &mut tokens, add_special, segment.control);
            }
        }
        if segments.is_empty() {
            self.vocab.tokenize_into(more.as_bytes(), &mut tokens, add_bos, false);
        }
        self.reopen(&mut tokens, add_bos);
        Ok(tokens.into_iter().map(|token| token.0).collect())
    }

    /// Some vocabularies also close what they tokenise; a prompt is not closed.
    fn reopen(&self, tokens: &mut Vec<LlamaToken>, add_bos: bool) {
        if add_bos && self.vocab.should_add_eos() && tokens.last() == Some(&self.vocab.eos()) {
            tokens.pop();
        }
    }
}
