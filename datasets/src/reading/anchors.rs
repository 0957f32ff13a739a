//! The phrases that announce an answer, and the way from a phrase to what it announces.
//!
//! English first, then the languages in which small models drift off: German, Dutch, French, Spanish, Portuguese,
//! Italian, Chinese (both scripts), Japanese, Korean, and the plain noun in some more.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::lexicon::{first_word, unspaced};

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

/// Makes a weak noun announce an answer: the *correct* option is.
const QUALIFIERS: &[&str] = &[
    "correct",
    "right",
    "best",
    "final",
    "chosen",
    "selected",
    "my",
    "proper",
    "appropriate",
    "accurate",
    "likely",
    "probable",
    "richtige",
    "korrekte",
    "beste",
    "juiste",
    "correcte",
    "bonne",
    "meilleure",
    "correcta",
    "mejor",
    "correta",
    "melhor",
    "corretta",
    "migliore",
];

/// Turns a phrase into something that announces no answer.
const SPOILERS: &[&str] = &[
    "if",
    "whether",
    "suppose",
    "assuming",
    "unless",
    "wenn",
    "falls",
    "ob",
    "indien",
    "si",
    "wrong",
    "incorrect",
    "not",
    "no",
    "previous",
    "initial",
    "first",
    "original",
    "false",
    "never",
    "falsche",
    "foute",
    "onjuiste",
    "mauvaise",
    "incorrecta",
    "errada",
    "cannot",
    "without",
];

/// Ties a noun to its label.
const LINKS: &[&str] = &[
    "is",
    "was",
    "be",
    "are",
    "ist",
    "lautet",
    "w\u{e4}re",
    "luidt",
    "est",
    "serait",
    "es",
    "ser\u{ed}a",
    "sea",
    "\u{e9}",
    "seria",
    "\u{e8}",
    "\u{e4}r",
    "er",
    "jest",
    "adalah",
];

/// May stand between a phrase and its label without changing what is said.
const FILLERS: &[&str] = &[
    "the",
    "to",
    "therefore",
    "thus",
    "then",
    "clearly",
    "definitely",
    "simply",
    "just",
    "indeed",
    "most",
    "likely",
    "probably",
    "still",
    "actually",
    "hence",
    "now",
    "seems",
    "appears",
    "would",
    "should",
    "must",
    "will",
    "has",
    "have",
    "again",
    "as",
    "follows",
    "in",
    "this",
    "case",
    "obviously",
    "certainly",
    "here",
    "that",
    "it",
    "it's",
    "question",
    "above",
    "problem",
    "correct",
    "right",
    "best",
    "final",
    "key",
    "my",
    "so",
    "of",
    "for",
    "with",
    "die",
    "der",
    "das",
    "also",
    "somit",
    "daher",
    "richtige",
    "de",
    "het",
    "dus",
    "juiste",
    "la",
    "le",
    "donc",
    "bonne",
    "el",
    "por",
    "tanto",
    "entonces",
    "correcta",
    "resposta",
    "given",
    "your",
    "i",
    "choose",
];

/// Names of what is chosen among.
const NOUNS: &[&str] = &[
    "option",
    "choice",
    "letter",
    "answer",
    "number",
    "alternative",
    "label",
    "class",
    "apartment",
    "route",
    "picture",
    "image",
    "photo",
    "face",
    "person",
    "candidate",
    "antwort",
    "antwoord",
    "buchstabe",
    "m\u{f6}glichkeit",
    "optie",
    "lettre",
    "r\u{e9}ponse",
    "opci\u{f3}n",
    "opcion",
    "letra",
    "respuesta",
    "alternativa",
    "opzione",
    "risposta",
];

/// Links and nouns of scripts without spaces, longest first.
const UNSPACED: &[&str] = &[
    "\u{5E94}\u{8BE5}\u{662F}",
    "\u{61C9}\u{8A72}\u{662F}",
    "\u{5E94}\u{9009}",
    "\u{61C9}\u{9078}",
    "\u{5E94}\u{4E3A}",
    "\u{61C9}\u{70BA}",
    "\u{9009}\u{62E9}",
    "\u{9078}\u{64C7}",
    "\u{9009}\u{9879}",
    "\u{9078}\u{9805}",
    "\u{662F}",
    "\u{4E3A}",
    "\u{70BA}",
    "\u{9009}",
    "\u{9078}",
    "\u{306F}",
    "\u{304C}",
    "\u{C740}",
    "\u{B294}",
];

/// Before a phrase they deny it: 不 非 别 別.
const NOT: [char; 4] = ['\u{4E0D}', '\u{975E}', '\u{522B}', '\u{5225}'];

/// After a verb they make a noun of it: 项 項.
const ITEM: [char; 2] = ['\u{9879}', '\u{9805}'];

/// Before a weak noun they make it announce an answer: 正确 正確 最佳 正しい.
const CORRECT: [&str; 4] =
    ["\u{6B63}\u{786E}", "\u{6B63}\u{78BA}", "\u{6700}\u{4F73}", "\u{6B63}\u{3057}\u{3044}"];

/// LaTeX commands that only dress their argument.
const DRESS: &[&str] = &[
    "boxed",
    "fbox",
    "text",
    "textbf",
    "textit",
    "textrm",
    "mathrm",
    "mathbf",
    "mathit",
    "mathsf",
    "operatorname",
    "bf",
    "rm",
    "large",
    "Large",
    "quad",
    "left",
    "right",
];

/// HTML tags that only dress what they hold.
const TAGS: &[&str] = &["b", "strong", "i", "em", "u", "code", "p", "span", "br", "answer", "mark"];

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

/// Passes over everything that only dresses what follows; at most 64 bytes, line ends included.
pub(super) fn undress(text: &str, from: usize) -> usize {
    let mut at = from;
    while at < text.len() && at - from < 64 {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { break };
        match c {
            '\\' => match command(rest) {
                Some(length) => at += length,
                None => break,
            },
            '<' => match tag(rest) {
                Some(length) => at += length,
                None => at += 1,
            },
            '*' | '_' | '$' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | '`' | '~' | '|' | '#'
            | '>' | ' ' | '\n' => at += 1,
            _ => break,
        }
    }
    at
}

/// Length of a dressing LaTeX command at the start of the text.
fn command(rest: &str) -> Option<usize> {
    let name = rest[1..].split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    if DRESS.contains(&name) {
        return Some(1 + name.len());
    }
    match rest[1..].chars().next()? {
        '(' | ')' | '[' | ']' | '{' | '}' | ' ' | ',' | ';' | '!' => Some(2),
        _ => None,
    }
}

/// Length of a dressing HTML tag at the start of the text.
fn tag(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix("</").or_else(|| rest.strip_prefix('<'))?;
    TAGS.iter().find_map(|name| {
        let after = inner.strip_prefix(name)?.trim_start_matches(['/', ' ']);
        after.starts_with('>').then(|| rest.len() - after.len() + 1)
    })
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
