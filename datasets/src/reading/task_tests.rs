//! The tasks' own reading rules.

use models::Finish;

use super::ext_tests::{NONE, reader};
use super::{Reading, statement};
use crate::verdict::{NoAnswer, Said};

#[test]
fn yes_or_no_first_of_a_direct_reply_last_of_a_reasoned_one() {
    reader(Reading::YesNo, &["Yes", "No"]).direct().all(&[
        ("Yes", "Yes"),
        ("**No**, it breaks a rule. Yes?", "No"),
        ("no", "No"),
        ("No rule is kept.", "No"),
        ("Perhaps.", NONE),
        ("Noted yesterday", NONE),
        ("Yes or no? Hard to say.", NONE),
    ]);
    reader(Reading::YesNo, &["No", "Yes"]).all(&[
        ("Yes at first sight, but rule two fails: no.", "No"),
        ("Answer: Yes. There is no rule broken.", "Yes"),
        ("The string fits, so there is no violation.", NONE),
        ("Is it? No. Check again. So the answer is yes.", "Yes"),
        ("Should I answer yes or no? Final: No", "No"),
    ]);
    let reader = reader(Reading::YesNo, &["Yes", "No"]);
    assert_eq!(
        reader.found("First yes, then no, th", Finish::Length).said,
        Said::Nothing(NoAnswer::Truncated)
    );
}

#[test]
fn apartments_first_of_a_direct_reply_last_of_a_reasoned_one() {
    let apartment = || reader(Reading::Apartment, &["1", "2", "3", "4"]);
    apartment().direct().all(&[
        ("3", "3"),
        ("Apartment 2 is better than apartment 1", "2"),
        ("The rating -3 and 3.5 and 13 say: 4", "4"),
        ("none", NONE),
        ("5", NONE),
    ]);
    apartment().all(&[
        ("Apartment 1: 0.4. Apartment 2: 0.9. So I recommend Apartment 2.", "2"),
        ("Apartment 1 is worse than Apartment #4", "4"),
        ("The mean of 3 is best: **3**", "3"),
        ("**Apartment 4**", "4"),
        ("The best apartment is Apartment 1, not Apartment 3.", "1"),
        ("I cannot decide.", NONE),
    ]);
}

#[test]
fn vehicle_classes_and_the_article() {
    let class = || reader(Reading::VehicleClass, &["A", "B"]);
    class().direct().all(&[
        ("A", "A"),
        ("'B'", "B"),
        ("Class A, not Class B", "A"),
        ("A vehicle with treads", NONE),
    ]);
    class().all(&[
        ("A vehicle with treads suits cold. It is a Class A vehicle.", "A"),
        ("Class A or Class B? Treads say class B.", "B"),
        ("A cold-climate car. I answer with 'A'", "A"),
        ("A cold-climate car has treads.", NONE),
        ("Wheels say B because of heat.", NONE),
        ("Treads.\n\nA", "A"),
        ("answer with either 'A' or 'B'", NONE),
        ("Answer: B", "B"),
    ]);
}

#[test]
fn pictures_by_digit_ordinal_or_letter() {
    let picture = || reader(Reading::Ordinal, &["1", "2", "3", "4", "5"]);
    picture().direct().all(&[
        ("3", "3"),
        ("The second picture.", "2"),
        ("picture 4 shows her; picture 1 does not", "4"),
        ("The answer is the third one.", "3"),
        ("(b)", "2"),
        ("Option E", "5"),
        ("All of them are the same person.", "text:All of them are the same person"),
        ("They are not all the same person.", NONE),
        ("None", NONE),
        ("6", NONE),
        ("the 5th image", "5"),
    ]);
    picture().all(&[("Picture 1 has a wide jaw. Picture 5 matches.", "5"), ("A wide jaw. Answer: 2", "2")]);
}

#[test]
fn routes_by_the_line_that_names_the_best() {
    let route = || reader(Reading::Route, &["A", "B", "C", "D"]);
    route().all(&[
        ("Best Route: B\nSteps: 1\nExplanation: Route A is longer than Route C.", "B"),
        ("**Best route:** Route D", "D"),
        ("Route A is long. Route C signals early.", "C"),
        ("Best route is (a).", "A"),
        ("B", "B"),
        ("The best.", NONE),
        ("route along the wall", NONE),
    ]);
}

#[test]
fn orderings_are_cut_out_as_text() {
    let ordering = reader(Reading::Ordering, &[]);
    assert_eq!(ordering.read("<think>M > X</think>\n M > {X,Y,Z}, {N} \n"), "text:M > {X,Y,Z}, {N}");
    assert_eq!(ordering.read("<think>M > X</think>"), "<Empty>");
    assert_eq!(ordering.found("M > {X,", Finish::Length).said, Said::Nothing(NoAnswer::Truncated));
}

#[test]
fn the_perfect_reply_reads_as_its_label() {
    for (reading, labels) in [
        (Reading::Statement, &["A", "B", "C", "D", "E", "F", "G", "H", "I"][..]),
        (Reading::Statement, &["entailment", "neutral", "contradiction"]),
        (Reading::YesNo, &["Yes", "No"]),
        (Reading::Bracketed, &["left", "right"]),
        (Reading::Bracketed, &["apple", "banana", "nothing"]),
        (Reading::Bracketed, &["on", "off"]),
        (Reading::Apartment, &["1", "2", "3", "4"]),
        (Reading::VehicleClass, &["A", "B"]),
        (Reading::Ordinal, &["1", "2", "3", "4", "5"]),
        (Reading::Route, &["A", "B", "C", "D"]),
    ] {
        for direct in [false, true] {
            let mut reader = reader(reading, labels);
            reader.reasoned = !direct;
            for (index, label) in labels.iter().enumerate() {
                let reply = statement(reading, &reader.labels, index as u16);
                assert_eq!(reader.read(&reply), *label, "{reading:?} {reply:?}");
            }
        }
    }
}
