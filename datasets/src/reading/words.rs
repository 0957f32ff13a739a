//! The words that make a phrase announce an answer, or keep it from doing so.

/// Makes a weak noun announce an answer: the *correct* option is.
#[rustfmt::skip]
pub(super) const QUALIFIERS: &[&str] = &[
    "correct", "right", "best", "final", "chosen", "selected", "my", "proper", "appropriate", "accurate",
    "likely", "probable", "richtige", "korrekte", "beste", "juiste", "correcte", "bonne", "meilleure",
    "correcta", "mejor", "correta", "melhor", "corretta", "migliore",
];

/// Turns a phrase into something that announces no answer.
#[rustfmt::skip]
pub(super) const SPOILERS: &[&str] = &[
    "if", "whether", "suppose", "assuming", "unless", "wenn", "falls", "ob", "indien", "si", "wrong",
    "incorrect", "not", "no", "previous", "initial", "first", "original", "false", "never", "falsche",
    "foute", "onjuiste", "mauvaise", "incorrecta", "errada", "cannot", "without",
];

/// Ties a noun to its label.
#[rustfmt::skip]
pub(super) const LINKS: &[&str] = &[
    "is", "was", "be", "are", "ist", "lautet", "w\u{e4}re", "luidt", "est", "serait", "es", "ser\u{ed}a",
    "sea", "\u{e9}", "seria", "\u{e8}", "\u{e4}r", "er", "jest", "adalah",
];

/// May stand between a phrase and its label without changing what is said.
#[rustfmt::skip]
pub(super) const FILLERS: &[&str] = &[
    "the", "to", "therefore", "thus", "then", "clearly", "definitely", "simply", "just", "indeed", "most",
    "likely", "probably", "still", "actually", "hence", "now", "seems", "appears", "would", "should", "must",
    "will", "has", "have", "again", "as", "follows", "in", "this", "case", "obviously", "certainly", "here",
    "that", "it", "it's", "question", "above", "problem", "correct", "right", "best", "final", "key", "my",
    "so", "of", "for", "with", "die", "der", "das", "also", "somit", "daher", "richtige", "de", "het", "dus",
    "juiste", "la", "le", "donc", "bonne", "el", "por", "tanto", "entonces", "correcta", "resposta", "given",
    "your", "i", "choose",
];

/// Names of what is chosen among.
#[rustfmt::skip]
pub(super) const NOUNS: &[&str] = &[
    "option", "choice", "letter", "answer", "number", "alternative", "label", "class", "apartment", "route",
    "picture", "image", "photo", "face", "person", "candidate", "antwort", "antwoord", "buchstabe",
    "m\u{f6}glichkeit", "optie", "lettre", "r\u{e9}ponse", "opci\u{f3}n", "opcion", "letra", "respuesta",
    "alternativa", "opzione", "risposta",
];

/// Links and nouns of scripts without spaces, longest first.
#[rustfmt::skip]
pub(super) const UNSPACED: &[&str] = &[
    "\u{5E94}\u{8BE5}\u{662F}", "\u{61C9}\u{8A72}\u{662F}", "\u{5E94}\u{9009}", "\u{61C9}\u{9078}",
    "\u{5E94}\u{4E3A}", "\u{61C9}\u{70BA}", "\u{9009}\u{62E9}", "\u{9078}\u{64C7}", "\u{9009}\u{9879}",
    "\u{9078}\u{9805}", "\u{662F}", "\u{4E3A}", "\u{70BA}", "\u{9009}", "\u{9078}", "\u{306F}", "\u{304C}",
    "\u{C740}", "\u{B294}",
];

/// Before a phrase they deny it: 不 非 别 別.
pub(super) const NOT: [char; 4] = ['\u{4E0D}', '\u{975E}', '\u{522B}', '\u{5225}'];

/// After a verb they make a noun of it: 项 項.
pub(super) const ITEM: [char; 2] = ['\u{9879}', '\u{9805}'];

/// Before a weak noun they make it announce an answer: 正确 正確 最佳 正しい.
pub(super) const CORRECT: [&str; 4] =
    ["\u{6B63}\u{786E}", "\u{6B63}\u{78BA}", "\u{6700}\u{4F73}", "\u{6B63}\u{3057}\u{3044}"];
