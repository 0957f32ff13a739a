//! The field bugs of answer extraction, one test per case.

use models::Finish;

use super::{Found, How, Kind, Reading, boxed_contents, fold, read, until_stop};
use crate::verdict::{NoAnswer, Said};

/// A reader under one rule.
pub(super) struct Reader {
    reading: Reading,
    pub(super) labels: Vec<String>,
    options: Vec<String>,
    pub(super) reasoned: bool,
}

pub(super) fn reader(reading: Reading, labels: &[&str]) -> Reader {
    let labels = labels.iter().map(|&label| label.to_owned()).collect();
    Reader { reading, labels, options: Vec::new(), reasoned: true }
}

/// Letters from A on, read by the general policy.
fn letters(count: u8) -> Reader {
    let labels: Vec<String> = (0..count).map(|index| char::from(b'A' + index).to_string()).collect();
    Reader { reading: Reading::Statement, labels, options: Vec::new(), reasoned: true }
}

impl Reader {
    pub(super) fn direct(mut self) -> Self {
        self.reasoned = false;
        self
    }

    fn options(mut self, options: &[&str]) -> Self {
        self.options = options.iter().map(|&option| option.to_owned()).collect();
        self
    }

    pub(super) fn found(&self, reply: &str, finish: Finish) -> Found {
        let how = How {
            reading: self.reading,
            labels: &self.labels,
            options: &self.options,
            reasoned: self.reasoned,
        };
        read(&how, reply, finish, false)
    }

    /// The label read; a word in brackets where there is none.
    pub(super) fn read(&self, reply: &str) -> String {
        self.name(&self.found(reply, Finish::Stop).said)
    }

    fn name(&self, said: &Said) -> String {
        match said {
            Said::Choice(choice) => self.labels[usize::from(*choice)].clone(),
            Said::Text(text) => format!("text:{text}"),
            Said::Nothing(reason) => format!("<{reason:?}>"),
        }
    }

    #[track_caller]
    pub(super) fn all(&self, cases: &[(&str, &str)]) {
        for (reply, expected) in cases {
            assert_eq!(self.read(reply), *expected, "{reply:?}");
        }
    }
}

pub(super) const NONE: &str = "<Unparsed>";

#[test]
fn ext_01_keyword_letter_is_not_a_label() {
    letters(4).all(&[
        ("Antwort: Antwort: D", "D"),
        ("Antwoord:\n\nAntwoord: C", "C"),
        ("Antwort:", NONE),
        ("R\u{e9}ponse : B", "B"),
        ("La respuesta correcta es la opci\u{f3}n C.", "C"),
        ("Die richtige Antwort ist D.", "D"),
        ("Het juiste antwoord is A.", "A"),
        ("La bonne r\u{e9}ponse est A.", "A"),
    ]);
}

#[test]
fn ext_02_the_english_article_is_not_an_answer() {
    letters(4).all(&[
        ("The answer is C because a lever needs a pivot.", "C"),
        ("d", "D"),
        ("b. 12 volts", "B"),
        ("The answer is a lever.", NONE),
        ("The answer is A lever.", NONE),
        ("The answer is A because levers turn.", "A"),
        ("The answer is a.", "A"),
        ("Answer: a) lever", "A"),
        ("A lever needs a pivot.", NONE),
    ]);
}

#[test]
fn ext_03_the_first_letter_of_the_next_word_is_not_a_label() {
    letters(4).all(&[
        ("Answer appears unclear.\nAnswer: B", "B"),
        ("Answer appears unclear.", NONE),
        ("Answer seems to be A", "A"),
        ("The answer depends. Deciding is hard.", NONE),
        ("Answer: \u{c4}pfel", NONE),
        ("Answer: B\u{e9}ton", NONE),
        ("Answer: 2B", NONE),
    ]);
}

#[test]
fn ext_04_capitals_anywhere_are_no_answer() {
    letters(10).all(&[
        ("It depends. Galileo and Darwin disagreed.", NONE),
        ("Team A met team B. E. Coli and C. Elegans were there.", NONE),
        ("Vitamin C and hepatitis B", NONE),
        ("The answer is a C major chord.", NONE),
        ("The answer to A is similar.", NONE),
        ("The answer to question 12 is G.", "G"),
    ]);
}

#[test]
fn ext_05_the_pronoun_i_is_not_a_label() {
    letters(10).all(&[
        ("The answer is D because I added both.", "D"),
        ("ANSWER IS B. A looks similar.", "B"),
        ("The answer is D. Note that A is a distractor.", "D"),
        ("Answer: I think it is unclear", NONE),
        ("Answer: I'm not sure", NONE),
        ("Answer: I", "I"),
        ("The answer is I.", "I"),
        ("I", "I"),
        ("I do not know.", NONE),
    ]);
}

#[test]
fn ext_06_markdown_does_not_hide_the_label() {
    letters(4).all(&[
        ("Answer: **D**", "D"),
        ("The correct option is c.", "C"),
        ("I weighed (A) first. Final answer: C.", "C"),
        ("### Answer\n\n**B**", "B"),
        ("**Final Answer**\n\nC. acid", "C"),
    ]);
}

#[test]
fn ext_08_wrappers_are_transparent() {
    let wrapped = [
        "ANSWER: **B**",
        "ANSWER: $B$",
        "ANSWER: (B)",
        "ANSWER: [B]",
        "**ANSWER:** B",
        "ANSWER: \"B\"",
        "ANSWER: \u{201C}B\u{201D}",
        "ANSWER: _B_",
        "ANSWER: `B`",
        "ANSWER: \\(B\\)",
        "ANSWER: $\\text{B}$",
        "ANSWER: <b>B</b>",
        "<answer>B</answer>",
        "{\"answer\": \"B\"}",
        "ANSWER: \u{3010}B\u{3011}",
        "ANSWER\u{FF1A}\u{FF22}",
        "ANSWER: \u{1F171}\u{FE0F}",
        "ANSWER: \u{24B7}",
        "ANSWER:\n\n> B",
        "ANSWER -> B",
        "ANSWER = B",
        "ANSWER: option (B)",
        "The answer is: **(B) acid**",
        "ANSWER: B</s>",
    ];
    for reply in wrapped {
        assert_eq!(letters(4).read(reply), "B", "{reply:?}");
    }
}

#[test]
fn ext_09_boxes_with_text_commands_or_option_texts() {
    let five = letters(5).options(&["a", "b", "c", "d", "heat flows out"]);
    five.all(&[
        (r"\boxed{\text{E}}", "E"),
        (r"\boxed{E: heat flows out}", "E"),
        (r"\boxed{\mathrm{E})}", "E"),
        (r"So \boxed{E}.", "E"),
        (r"\boxed{heat flows out}", "E"),
        (r"\boxed{\text{(E) heat flows out}}", "E"),
        (r"$$\boxed{\textbf{Option E}}$$", "E"),
    ]);
    assert_eq!(five.found(r"\boxed{E}", Finish::Stop).candidates[0].kind, Kind::Boxed);
}

#[test]
fn ext_10_a_letter_in_boxed_mathematics_is_not_a_label() {
    letters(5).all(&[
        ("So \\boxed{\\Delta E = hf}.\n\n**Answer: D**", "D"),
        (r"So \boxed{\Delta E = hf}.", NONE),
        (r"So \boxed{E = mc^2}.", NONE),
        (r"So \boxed{A + B}.", NONE),
    ]);
}

#[test]
fn ext_11_the_last_statement_wins_and_the_conflict_is_kept() {
    let found = letters(4).found("Final answer: A. Wait, the sign flips. Final answer: C.", Finish::Stop);
    assert_eq!(found.said, Said::Choice(2));
    assert!(found.conflict);
    let labels: Vec<Option<u16>> = found.candidates.iter().map(|candidate| candidate.label).collect();
    assert_eq!(labels, [Some(0), Some(2)]);
    assert_eq!(letters(4).read(r"\boxed{A} no: \boxed{D}"), "D");
}

#[test]
fn ext_12_numeric_boxes_are_balanced() {
    assert_eq!(boxed_contents(r"\boxed{\frac{3}{8}}"), [r"\frac{3}{8}"]);
    assert_eq!(letters(4).read(r"\boxed{\frac{3}{8}"), NONE);
}

#[test]
fn ext_13_the_same_label_again_is_no_conflict() {
    let found =
        letters(4).found("Correct answer: **C**. Choice C works since mass is kept, hence C.", Finish::Stop);
    assert_eq!((found.said, found.conflict), (Said::Choice(2), false));
}

#[test]
fn ext_15_refusals_and_errors_are_unparsed() {
    letters(4).all(&[
        ("Actually I can not tell.", NONE),
        ("error: backend stopped", NONE),
        ("As an AI I cannot answer that.", NONE),
        ("A difficult question.", NONE),
        ("Answer: cannot be determined", NONE),
    ]);
}

#[test]
fn ext_16_nothing_is_guessed_when_no_reply_parses() {
    assert_eq!((0..8).filter(|_| letters(4).read("n/a") != NONE).count(), 0);
}

#[test]
fn ext_17_empty_unparsed_and_wrong_are_three_things() {
    letters(4).all(&[("", "<Empty>"), (" \n\u{200b}", "<Empty>"), ("hmm", NONE), ("Answer: A", "A")]);
    letters(4).all(&[("<think>x</think>\n", "<Empty>")]);
}

#[test]
fn ext_18_a_chain_cut_inside_its_block_is_truncated() {
    let reader = letters(4);
    let how = How { reading: Reading::Statement, labels: &reader.labels, options: &[], reasoned: true };
    let reply = "Option B is likely, but let me check whether";
    let found = read(&how, reply, Finish::Length, true);
    assert_eq!(found.said, Said::Nothing(NoAnswer::Truncated));
    assert!(found.candidates.is_empty());
    assert_eq!(found.open_block.as_deref(), Some("</think>"));
    // The same, but the model ended its turn by itself.
    assert_eq!(read(&how, reply, Finish::Stop, true).said, Said::Nothing(NoAnswer::OpenReasoning));
    // Also after words outside of it: what the block would have changed is not known.
    assert_eq!(reader.read("Answer: B <think>but maybe"), "<OpenReasoning>");
}

#[test]
fn ext_18_a_statement_before_the_cut_stands_and_nothing_weaker() {
    let cut = |reply: &str| letters(4).name(&letters(4).found(reply, Finish::Length).said);
    assert_eq!(cut("The answer is B. To explain this fur"), "B");
    assert_eq!(cut("The answer is A"), "<Truncated>"); // "A lever" may have been meant
    assert_eq!(cut("The answer is (A)"), "A");
    assert_eq!(cut("B. acid rain is wh"), "<Truncated>");
    assert_eq!(cut("so\nB\n"), "<Truncated>");
    assert_eq!(letters(4).found("Answer: B\nAnswer: B\n", Finish::Loop).said, Said::Choice(1));
    assert_eq!(letters(4).found("and and and", Finish::Loop).said, Said::Nothing(NoAnswer::Loop));
    assert_eq!(letters(4).found("and so", Finish::ContextFull).said, Said::Nothing(NoAnswer::Truncated));
}

#[test]
fn ext_21_chinese_and_full_width() {
    letters(4).all(&[
        ("\u{6211}\u{9078}\u{64C7} B", "B"),
        ("\u{6545}\u{9009}\u{FF22}", "B"),
        ("\u{7B54}\u{6848}\u{FF1A}\u{FF08}B\u{FF09}", "B"),
        ("\u{56E0}\u{6B64}\u{FF0C}\u{6B63}\u{786E}\u{7B54}\u{6848}\u{662F}C\u{3002}", "C"),
        ("\u{7B54}\u{6848}\u{662F}\u{9009}\u{9879}D\u{FF0C}\u{56E0}\u{4E3A}", "D"),
        ("\u{9009}\u{9879}A\u{4E0D}\u{5BF9}", NONE),
        ("\u{4E0D}\u{9009}A", NONE),
        ("\u{C815}\u{B2F5}\u{C740} B\u{C785}\u{B2C8}\u{B2E4}.", "B"),
        ("\u{7B54}\u{3048}\u{306F}C\u{3067}\u{3059}\u{3002}", "C"),
    ]);
}

#[test]
fn ext_22_the_concluding_bracket_counts() {
    reader(Reading::Bracketed, &["left", "right", "tie"]).all(&[
        ("If light mattered, [[left]]. Overall Answer: [[Right]]", "right"),
        ("[[middle]]", NONE),
        ("[[left]] or rather [[middle]]", "left"),
        ("Answer: right", "right"),
        ("Answer: [right]", "right"),
        ("[[ **left** ]]", "left"),
        ("[[leftover]]", NONE),
        ("[[left", "left"),
        ("right", "right"),
        ("She moves to the right of him.", NONE),
    ]);
    reader(Reading::Bracketed, &["A", "B"]).all(&[("[[A]] was weak; [[B]]", "B")]);
}

#[test]
fn ext_23_typographic_quotes_fold_on_both_sides() {
    assert_eq!(fold("\u{201C}Newton\u{2019}s law\u{201D}").trim_matches('"'), fold("Newton's law"));
    let laws = letters(2).options(&["Newton's law", "Ohm\u{2019}s law"]);
    laws.all(&[("\u{201C}Newton\u{2019}s law\u{201D}", "A"), ("Ohm's law", "B")]);
}

#[test]
fn ext_24_a_run_on_question_is_cut_off() {
    let stops = ["\n\nQuestion".to_owned()];
    assert_eq!(until_stop("17\n\nQuestion: what", &stops), "17");
    assert_eq!(until_stop("17", &stops), "17");
    let digits = reader(Reading::Statement, &["16", "17", "18"]);
    digits.all(&[(until_stop("17\n\nQuestion: 18", &stops), "17"), ("17\u{a0}\u{2003}\n", "17")]);
}

#[test]
fn ext_25_letter_with_text_or_text_alone() {
    let acid = || letters(2).options(&["acid", "acid rain"]);
    acid().direct().all(&[
        ("acid rain", "B"),
        ("B. acid rain", "B"),
        ("acid", "A"),
        ("It must be acid rain.", "B"),
        ("acid or acid rain", NONE),
        ("It is not acid rain.", NONE),
        ("The answer is acid rain.", "B"),
        ("Is it acid rain?", NONE),
        ("acidic", NONE),
        ("B", "B"),
        ("B\n\nRain falls.", "B"),
        ("B acid rain", "B"),
        ("A. acid\nB. acid rain", NONE),
        ("Option B.", "B"),
    ]);
    let rhode = || letters(4).options(&["Ohio", "Maine", "Rhode Island", "A state"]);
    rhode().all(&[("C. Rhode Island", "C"), ("Rhode Island", "C"), ("Answer: Rhode Island", "C")]);
    // In a chain an option's name is a mention; only its last line can be an answer.
    rhode().all(&[
        ("Maine is large.\nRhode Island is small.\nI wonder.", NONE),
        ("Let me see.\nIt is Rhode Island.", "C"),
    ]);
}

#[test]
fn ext_25_option_texts_that_are_letters_do_not_shadow_labels() {
    letters(4).options(&["c", "D", "b", "a"]).all(&[("Answer: A", "A"), ("Answer: D", "D"), ("(B)", "B")]);
}

#[test]
fn several_labels_in_one_breath_are_no_answer() {
    letters(4).all(&[
        ("Answer: A or B", NONE),
        ("Answer: A/B", NONE),
        ("Answer: A, B, C, or D", NONE),
        ("Answer: A and C.", NONE),
        ("Answer with A, B, C or D.\nAnswer: B", "B"),
        ("Final answer: C and A is wrong", "C"),
        ("Final answer: C, A is a distractor", "C"),
    ]);
}

#[test]
fn suppositions_denials_and_questions_are_no_statements() {
    letters(4).all(&[
        ("If the answer is A, pressure rises. It does not.", NONE),
        ("The answer is not A.", NONE),
        ("Is the answer B?", NONE),
        ("The wrong answer is D.", NONE),
        ("The answer is A? No.", NONE),
        ("Answer: A is wrong.", NONE),
        ("My initial answer was A.", NONE),
        ("I don't know the answer. B is tempting.", NONE),
        ("Whether option A is correct is open.", NONE),
    ]);
}

#[test]
fn reverse_statements_verbs_and_last_lines() {
    letters(4).all(&[
        ("Heat rises, so B is the correct answer.", "B"),
        ("Therefore, option (C) is correct.", "C"),
        ("I would choose D because of mass.", "D"),
        ("I'll go with **B**.", "B"),
        ("Steps one and two.\n\n**C**", "C"),
        ("Mass is kept. Hence C.", "C"),
        ("Mass is kept. hence c.", NONE),
        ("Answer: C. Some may think A is the correct answer.", "C"),
        ("Ich w\u{e4}hle B.", "B"),
    ]);
}

#[test]
fn tpl_09_reasoning_opened_by_the_prompt_is_closed_by_the_model() {
    let reader = letters(4);
    let how = How { reading: Reading::Statement, labels: &reader.labels, options: &[], reasoned: true };
    let found = read(&how, "maybe A, or C</think>\nAnswer: B", Finish::Stop, true);
    assert_eq!(found.said, Said::Choice(1));
    let reasoning = found.reasoning.expect("a block");
    assert_eq!((reasoning.start, reasoning.end), (0, 21));
}

#[test]
fn the_place_of_a_candidate_is_the_place_in_the_reply() {
    let reply = "<think>A</think>\u{7B54}\u{6848}\u{FF1A}\u{FF08}\u{FF22}\u{FF09}";
    let found = letters(4).found(reply, Finish::Stop);
    let candidate = found.candidates[0];
    assert_eq!(&reply[candidate.start as usize..candidate.end as usize], "\u{FF22}");
}
