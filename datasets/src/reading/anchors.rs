//! The phrases that announce an answer, and the way from a phrase to what it announces.
//!
//! English first, then the languages in which small models drift off: German, Dutch, French, Spanish, Portuguese,
//! Italian, Chinese (both scripts), Japanese, Korean, and the plain noun in some more.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::dress::undress;
use super::lexicon::{first_word, unspaced};
use super::words::{CORRECT, FILLERS, ITEM, LINKS, NOT, NOUNS, QUALIFIERS, SPOILERS, UNSPACED};

/// What announces an answer.
///
/// Word borders are looked at afterwards ([`stands_free`]): with Unicode borders in the pattern, the search in a
/// text of another script would fall to a machine a thousand times slower.
static ANCHORS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        (?P<noun>
            answer | antwort | antwoord | r[ée]ponse | respuesta | resposta | risposta | svar(?:et)? | vastaus
          | odpowied[zź] | odpov[eě][dď] | ответ | відповідь | cevap | yan[ıi]t | jawaban | verdict | conclusion
          | solution | l[öo]sung | decision | prediction | ans
          | 答案 | 答え | 回答 | 解答 | 正解 | 정답 | 답
        )
      | (?P<weak>
            option | choice | letter | pick | selection | alternative | class | apartment | route | picture | image
          | optie | keuze | lettre | choix | buchstabe | auswahl | opci[óo]n | elecci[óo]n | alternativa | letra | opzione | scelta
          | 选项 | 選項 | 選択肢
        )
      | (?P<verb>
            (?:i|we)(?: '(?:d|ll|m\s{1,3}going\s{1,3}to) | \s{1,3}(?:would|will|must|should|am\s{1,3}going\s{1,3}to|have\s{1,3}to) )?
              (?:\s{1,3}(?:therefore|thus|then|hence|finally|now|still))?
              \s{1,3}(?: choose | chose | pick | select | go\s{1,3}with | going\s{1,3}with | opt\s{1,3}for | settle\s{1,3}on | vote\s{1,3}for | recommend
                | conclude | answer | say | guess )
          | ich\s{1,3}(?:w[äa]hle|nehme|entscheide\s{1,3}mich\s{1,3}f[üu]r) | ik\s{1,3}(?:kies|ga\s{1,3}voor)
          | je\s{1,3}(?:choisis|s[ée]lectionne) | elijo | escojo | selecciono | escolho | scelgo
          | 选择 | 選擇 | 选 | 選(?:ぶ|び)?
        )",
    )
    .expect("the pattern is constant")
});

/// Steps from a phrase to its label.
const LONGEST_WAY: usize = 16;

/// A phrase that announces an answer.
pub(super) struct Anchor {
    /// Where the announced thing begins.
    pub(super) at: usize,
    /// Whether something ties them; else only a label alone on the rest of its line counts.
    pub(super) tied: bool,
    /// Whether a line end lies between.
    pub(super) new_line: bool,
}

/// All phrases of a text in order. `stands` tells where an announced thing begins, so that a word which is also a
/// label is not passed over.
pub(super) fn all<'a>(text: &'a str, stands: &'a dyn Fn(usize) -> bool) -> impl Iterator<Item = Anchor> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = ANCHORS.captures_at(text, from) {
            let phrase = found.get(0)?.range();
            if !stands_free(text, &phrase) {
                // Perhaps only its tail is a phrase: "taxi answer".
                from = phrase.start + text[phrase.start..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            from = phrase.end;
            let kind = (found.name("verb").is_some(), found.name("weak").is_some());
            if let Some(anchor) = anchor(text, &phrase, kind, stands) {
                return Some(anchor);
            }
        }
        None
    })
}

/// Whether no letter that belongs to the same word stands on either side.
fn stands_free(text: &str, phrase: &Range<usize>) -> bool {
    let joins = |c: Option<char>, own: Option<char>| {
        c.is_some_and(|c| c.is_alphanumeric() && !unspaced(c)) && own.is_some_and(|own| !unspaced(own))
    };
    let own = &text[phrase.clone()];
    !joins(text[..phrase.start].chars().next_back(), own.chars().next())
        && !joins(text[phrase.end..].chars().next(), own.chars().next_back())
}

fn anchor(
    text: &str,
    phrase: &Range<usize>,
    (verb, weak): (bool, bool),
    stands: &dyn Fn(usize) -> bool,
) -> Option<Anchor> {
    let head = &text[..phrase.start];
    let rest = &text[phrase.end..];
    let previous = head.chars().next_back();
    if spoiled(text, phrase.start) || previous.is_some_and(|c| NOT.contains(&c)) {
        return None;
    }
    if verb && rest.starts_with(ITEM) {
        return None; // "option", not "choose"
    }
    let way = walk(text, phrase.end, stands);
    let qualifies = |word: &str| QUALIFIERS.iter().any(|known| word.eq_ignore_ascii_case(known));
    let qualified = words_before(text, phrase.start).any(qualifies)
        || CORRECT.iter().any(|correct| head.trim_end_matches('\u{7684}').ends_with(correct));
    let alone = words_before(text, phrase.start)
        .all(|word| qualifies(word) || word.eq_ignore_ascii_case("the"))
        && opens_line(text, phrase.start);
    if weak && !qualified && !(alone && way.colon) {
        return None;
    }
    let tag = previous == Some('<') && rest.starts_with('>');
    let heading = alone && way.line_end_first;
    Some(Anchor { at: way.at, tied: verb || way.linked || tag || heading, new_line: way.new_line })
}

/// Whether the words before a place make what follows a supposition or a denial.
pub(super) fn spoiled(text: &str, at: usize) -> bool {
    let spoils =
        |word: &str| SPOILERS.iter().any(|known| word.eq_ignore_ascii_case(known)) || word.ends_with("n't");
    words_before(text, at).any(spoils)
}

/// Whether a word names what is chosen among.
pub(super) fn is_noun(word: &str) -> bool {
    NOUNS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The way from a phrase to what it announces.
struct Way {
    at: usize,
    linked: bool,
    colon: bool,
    new_line: bool,
    line_end_first: bool,
}

fn walk(text: &str, from: usize, stands: &dyn Fn(usize) -> bool) -> Way {
    let mut way = Way { at: from, linked: false, colon: false, new_line: false, line_end_first: false };
    let mut numbered = false;
    for step in 0..LONGEST_WAY {
        let bare = undress(text, way.at);
        let passed = &text[way.at..bare];
        if passed.contains('\n') {
            way.new_line = true;
            way.line_end_first |= step == 0;
        }
        way.at = bare;
        let rest = &text[bare..];
        let Some(c) = rest.chars().next() else { break };
        if let Some(tie) = ["->", "=>", ":", "=", "\u{2192}", "\u{21D2}", "\u{279C}", "-"]
            .iter()
            .find(|tie| rest.starts_with(**tie))
        {
            way.linked = true;
            way.colon |= *tie == ":";
            way.at += tie.len();
            continue;
        }
        if c == ',' && way.at > from {
            way.at += 1;
            continue;
        }
        if stands(bare) {
            break;
        }
        if unspaced(c) {
            let Some(known) = UNSPACED.iter().find(|known| rest.starts_with(**known)) else { break };
            way.linked = true;
            way.at += known.len();
            continue;
        }
        if numbered && c.is_ascii_digit() {
            way.at += rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            continue; // "the answer to question 12 is"
        }
        let word = first_word(rest);
        let known = |list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
        if word.is_empty() {
            break;
        } else if known(LINKS) {
            way.linked = true;
        } else if !known(FILLERS) && !known(NOUNS) {
            break;
        }
        numbered = known(&["question", "problem"]);
        way.at += word.len();
    }
    way
}

/// Up to five words before a place, nearest first, in the same clause.
fn words_before(text: &str, at: usize) -> impl Iterator<Item = &str> + Clone {
    let mut from = at.saturating_sub(64);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let clause = text[from..at].rsplit(['.', '\n', ':', ';', '?', '!', ',']).next().unwrap_or("");
    clause.rsplit(|c: char| !(c.is_alphabetic() || c == '\'')).filter(|word| !word.is_empty()).take(5)
}

/// Whether only the words of the phrase itself stand before a place on its line.
fn opens_line(text: &str, at: usize) -> bool {
    let mut from = at.saturating_sub(64);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let line = &text[from..at];
    let line =
        line.rfind('\n').map_or(if from == 0 { Some(line) } else { None }, |end| Some(&line[end + 1..]));
    line.is_some_and(|line| !line.contains(['.', ':', ';', '?', '!', ',']))
}
