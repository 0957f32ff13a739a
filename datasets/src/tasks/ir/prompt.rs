//! The texts of inverse reasoning: the paper's printed prompt, our own wording of the prompt that models were given,
//! and the neutralised form.

use super::scene::{FOODS, Kind, Scene};

/// Which prompt is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// Rules of the campus, notation of answers and the task, in our own words.
    #[default]
    Model,
    /// The prompt that the paper prints, which leaves the rules and the notation open.
    Printed,
    /// Nothing social: the layout as one string and the lines.
    Shortcut,
}

/// What a prompt shows of one walk.
pub(super) struct Shown<'a> {
    /// Where everything is.
    pub(super) scene: &'a Scene,
    /// The lines of the walk.
    pub(super) lines: Vec<String>,
}

/// The order that a walk of a kind lets conclude, in the paper's notation, and as ranks with the free letters.
pub(super) fn conclusion(kind: Kind, pick: u8) -> (String, Vec<String>, String) {
    let pick = FOODS[usize::from(pick)];
    let others: Vec<String> = FOODS.iter().filter(|food| **food != pick).map(char::to_string).collect();
    let parked = &others[..3];
    let (first, rank) = (pick.to_string(), parked.concat());
    let group = parked.join(",");
    match kind {
        Kind::Intermediate => {
            (format!("{pick} > {{{group},N}}"), vec![first, others.concat()], String::new())
        }
        Kind::Last => (format!("{pick} > {{{group}}}, {{N}}"), vec![first, rank], "N".to_owned()),
        Kind::Previsited => {
            (format!("N > {pick} > {{{group}}}"), vec!["N".to_owned(), first, rank], String::new())
        }
    }
}

/// The stem: what is fixed first, then the layout, then the walk.
pub(super) fn stem(form: Form, shots: usize, shown: &Shown<'_>) -> String {
    let last = shown.scene.grid.size - 1;
    let rows = shown.scene.rows();
    let walk = shown.lines.join("\n");
    match form {
        Form::Model => {
            let mut text = rules(shown.scene.grid.size);
            if shots > 0 {
                text.push_str(&examples(shots, true));
                text.push_str("\nNow the problem to solve.\n");
            }
            let key = key(last);
            text.push_str(&format!(
                "\nLayout:\n{key}\n{}\n\nStudent A's trajectory, one line per step:\n{walk}\n\n\
                 What does this trajectory tell about A's preference among X, Y, Z, M and N?",
                rows.join("\n")
            ));
            text
        }
        Form::Printed => {
            let mut text = String::new();
            if shots > 0 {
                text.push_str(&examples(shots, false));
                text.push('\n');
            }
            text.push_str(&printed(last, &rows.join("\n"), &walk));
            text
        }
        Form::Shortcut => {
            let mut text = String::new();
            for (_, lines, answer, _) in &SHOTS[..shots] {
                let layout = SHOT_ROWS.join("");
                text.push_str(&format!("{layout}\n{lines}\n{}\n\n", dense(answer)));
            }
            text.push_str(&format!("{}\n{walk}", rows.concat()));
            text
        }
    }
}

/// An answer without spaces but around `>`.
fn dense(answer: &str) -> String {
    answer.replace(' ', "").replace('>', " > ").replace(",{", ", {")
}

/// How the answer is to be written, for terminal texts of forms that do not say it themselves.
pub(super) const NOTATION: &str = "Write the order of all five foods with \">\", best first. Put foods whose order cannot be \
     determined into {}. Put a food that could stand anywhere at the end as \", {N}\".";

fn rules(size: u8) -> String {
    format!(
        "Setting:\n\
         Food trucks park on a campus of {size} x {size} cells. There are five of them, called X, Y, Z, M and N after the \
         food they sell. On any day only four trucks park; one stays away.\n\n\
         What A knows:\n\
         Student A knows the four cells where trucks park. Which truck stands on a cell A learns only when that cell is \
         in view. In view are A's own cell and the eight cells around it. A remembers every truck seen so far; \
         \"memory\" lists them.\n\n\
         What A does:\n\
         A ranks the five foods strictly, without ties. A walks one cell at a time - up, down, left or right - and acts \
         rationally: A wants the best-ranked food that can be had today, and picks a truck once it is clear which one \
         that is.\n\n\
         Notation of answers:\n\
         Name all five foods, best first, with \">\" between ranks. Foods whose order among each other cannot be \
         determined stand together in {{}}. A food that could stand anywhere in the order is put at the end in its own \
         {{}}. Orders that cannot be merged into one are separated by \";\".\n\
         X > Y > {{Z,M,N}} means: X is liked best, then Y; the order of Z, M and N is open.\n\
         Z > M > {{X,Y}}, {{N}} means: Z is above M, and M above X and Y; N could stand anywhere.\n\
         X > Y > Z > M > N; N > X > Y > M > Z means: it is one of these two orders.\n"
    )
}

fn key(last: u8) -> String {
    format!(
        "A is the student's start, X, Y, Z and M are trucks, W is a wall that blocks the way, * is an empty cell. \
         Coordinates are (column, row): the top left corner is (0,0), top right is ({last},0), bottom left is (0,{last}), \
         and bottom right is ({last},{last})."
    )
}

/// The paper's zero-shot prompt.
fn printed(last: u8, rows: &str, walk: &str) -> String {
    format!(
        "Question:\nPlease follow the instructions to answer the question. Below is one possible layout of the food truck \
         area. The letter 'A' stands for Student A, '*' stands for empty areas, and 'W' stands for obstructed walls that \
         block the student. Other letters represent different kinds of food.\n\
         We're assuming the top left corner is (0, 0), top right is ({last}, 0), bottom left is (0, {last}), and bottom \
         right is ({last}, {last}). Here is student A's trajectory. The coordinates reflect the position of the A. Each \
         time student A can move one step.\n\n\
         Layout:\n{rows}\n\n\
         Student A's Trajectory:\n{TRAJECTORY}\n{walk}\n\n\
         Please determine the preference among all the five foods and provide your answer following the format."
    )
}

const TRAJECTORY: &str = "Here is the student A's trajectory. The coordinates reflect the position of the A. Each time \
     agent can move one step.";

/// The paper's few-shot examples: 1 Previsited, 2 Intermediate, 3 Last. `mended` corrects the slip in the third
/// explanation, which names Y where Z is meant.
fn examples(shots: usize, mended: bool) -> String {
    let count = match shots {
        1 => "one example",
        2 => "two examples which share the same layout",
        _ => "three examples which share the same layout",
    };
    let mut text = format!(
        "You will be presented with {count} to solve the problem. Please go through the example carefully to understand \
         the solution. Here is a layout and the trajectory of student A. We're assuming the top left corner is (0,0), top \
         right is (4,0), bottom left is (0,4), and bottom right is (4,4). Here is student A's trajectory. The coordinates \
         reflect the position of the A. Each time student A can move one step.\n\nLayout:\n{}\n",
        SHOT_ROWS.join("\n")
    );
    if mended {
        text.insert(0, '\n');
    }
    for (number, lines, answer, explanation) in &SHOTS[..shots] {
        let mut explanation = (*explanation).to_owned();
        if mended {
            explanation = explanation.replace("favorite choice, Y.", "favorite choice, Z.");
        }
        text.push_str(&format!(
            "\nStudent A's Trajectory {number}:\n{TRAJECTORY}\n{lines}\n\nAnswer {number}: {answer}\n\
             Explanation {number}: {explanation}\n"
        ));
    }
    text
}

/// Most examples that a prompt can have.
pub(super) const MAX_SHOTS: usize = SHOTS.len();

const SHOT_ROWS: [&str; 5] = ["***Y*", "*****", "**X**", "M*WW*", "*ZWWA"];

/// Number, lines, answer, explanation. Lists in the lines are written without spaces throughout; the paper writes
/// them with spaces in the second and third.
const SHOTS: [(u8, &str, &str, &str); 3] = [
    (
        1,
        "(4, 4)\n(4, 3)\n(4, 2)\n(3, 2) view X; memory X\n(3, 1) view X,Y; memory X,Y\n(3, 2) view X; memory X,Y\n\
         (2, 2) view X; memory X,Y\n(1, 2) view X,M; memory X,Y,M\n(1, 3) view X,Z,M; memory X,Y,M,Z\n\
         (1, 2) view X,M; memory X,Y,M,Z\n(1, 1) view X; memory X,Y,M,Z\n(1, 0) memory X,Y,M,Z\n\
         (2, 0) view Y; memory X,Y,M,Z\n(3, 0) view Y; memory X,Y,M,Z; pick Y",
        "N>Y>{X,Z,M}",
        "When Student A explores all the food options and then goes back to choose Y, it implies that Y is his second \
         favorite food. This suggests that Student A's favorite food is not available today, as he would not have returned \
         to pick up his second favorite otherwise.",
    ),
    (
        2,
        "(4, 4)\n(4, 3)\n(4, 2)\n(3, 2) view X; memory X\n(2, 2) view X; memory X; pick X",
        "X > {M, N, Y, Z}",
        "Student A picks up X without fully exploring other options, suggesting that X is his favorite food, while his \
         preferences for other options remain unknown.",
    ),
    (
        3,
        "(4, 4)\n(4, 3)\n(4, 2)\n(3, 2) view X; memory X\n(3, 1) view X,Y; memory X,Y\n(3, 2) view X; memory X,Y\n\
         (2, 2) view X; memory X,Y\n(1, 2) view X,M; memory X,Y,M\n(1, 3) view X,Z,M; memory X,Y,M,Z\n\
         (1, 4) view Z,M; memory X,Y,M,Z; pick Z",
        "Z > {M, X, Y}, {N}",
        "Student A thoroughly examines all the available options and ultimately selects option Z. This suggests that he \
         prefers Z over the other alternatives--X, Y, and M. However, his preference for option N remains unclear. It is \
         possible that Z is his favorite food, or alternatively, N could be his favorite food. In the latter case, due to \
         N's unavailability, he might have opted for his second favorite choice, Y.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::ir::scene;

    #[test]
    fn the_printed_examples_are_walks_of_our_agent() {
        let scene = Scene::read(&SHOT_ROWS.join("\n")).unwrap();
        // Preferences that the paper's labels allow.
        let preferences = [[4, 1, 0, 2, 3], [0, 1, 2, 3, 4], [2, 0, 1, 3, 4]];
        for ((number, lines, answer, _), preference) in SHOTS.iter().zip(preferences) {
            let walk = scene::walk(&scene, &preference).unwrap();
            let ours = scene::lines(&scene, &walk.cells, walk.pick).join("\n");
            assert_eq!(&ours, lines, "trajectory {number}");
            let kind = scene::concluded(&scene, &walk.cells, walk.pick).unwrap();
            let (ours, ..) = conclusion(kind, walk.pick);
            use crate::reading::ordering::parse;
            assert_eq!(parse(&ours), parse(answer), "answer {number}");
        }
    }
}
