//! The texts of inverse inverse planning: the paper's printed prompt and example, and the neutralised form.

use super::routes::{Kind, Route};
use super::scene::Scene;
use crate::grid::{Cell, Direction};
use crate::reading::SEQUENCE_JOINT;

/// Which prompt is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// The prompt that the paper prints; the question is which route is best.
    #[default]
    Printed,
    /// Nothing social: layout and one route; the question is the route's kind.
    Shortcut,
    /// As before, without the layout.
    ShortcutRoute,
    /// Nothing social: layout and all four routes; the question is the kinds in their order.
    ShortcutRoutes,
}

/// Labels of the four routes.
pub(super) const LABELS: [&str; 4] = ["A", "B", "C", "D"];

/// Names of the kinds in the neutralised form, in the paper's order.
pub(super) const KIND_NAMES: [(Kind, &str); 4] = [
    (Kind::Reversed, "Reversed"),
    (Kind::Shortest, "Shortest"),
    (Kind::Avoidant, "Avoidant"),
    (Kind::Hybrid, "Hybrid"),
];

/// One line per step.
pub(super) fn moves(route: &Route) -> String {
    let steps = route.windows(2).map(|pair| {
        format!("Move {} from {} to {}", Direction::between(pair[0], pair[1]).word(), pair[0], pair[1])
    });
    steps.collect::<Vec<_>>().join("\n")
}

/// The paper's prompt; what is fixed comes first.
pub(super) fn printed(scene: &Scene, options: &[String], shots: usize) -> String {
    let size = scene.grid.size;
    let last = size - 1;
    let example = if shots > 0 { EXAMPLE } else { "" };
    let rows = scene.rows().join("\n");
    let mut text = format!(
        "Setting:\nA campus area is represented by a {size}*{size} grid. There are only two restaurants, X and Y on the \
         campus. Student A attends school daily and is fully aware of the locations of each restaurant. He has a clear \
         pre-established preference between X and Y, that is, he decides to eat at restaurant X. Observer B is an \
         observer who monitors A's actions and is smart enough to infer A's preference once it has been signaled.\n\n\
         Action:\nStudent A can only take one step each time in four directions: up, down, left, and right. He wants to \
         carefully plan his actions to achieve two goals.\n\
         Primary goal: He wants to signal his preference (Restaurant X) to B as early as possible with the least \
         ambiguity.\n\
         Secondary goal: Once he thinks that the preference has been signaled, he will move to Restaurant X as soon as \
         possible because he is hungry.\n\n\
         {example}Layout:\nBelow is one possible layout of the campus area. The letter 'A' stands for Student A, '*' stands \
         for empty areas, and 'W' stands for obstructed walls that block the student. The top-left grid cell is \
         designated as (0,0), the top-right as ({last},0), the bottom-left as (0,{last}), and the bottom-right as \
         ({last},{last}). The letters 'X' and 'Y' stand for two restaurants.\n{rows}\n\n\
         Task:\nYour task is to help A to choose the optimal action trajectory to achieve the above goals. Also, calculate \
         the number of steps required to achieve the primary goal.\n\n\
         Question: Most Proper Route"
    );
    for (label, option) in LABELS.iter().zip(options) {
        text.push_str(&format!("\n\nRoute {label}\n{option}"));
    }
    text
}

/// The neutralised prompt.
pub(super) fn shortcut(scene: &Scene, option: &str, layout: bool, shots: usize) -> String {
    let mut text = String::new();
    let shown =
        |rows: &str, option: &str| if layout { format!("{rows}\n{option}") } else { option.to_owned() };
    if shots > 0 {
        for (name, cells) in EXAMPLE_ROUTES {
            let moves = moves(&example_route(cells));
            text.push_str(&format!("{}{CATEGORY} {name}\n\n", shown(&EXAMPLE_ROWS.concat(), &moves)));
        }
    }
    text.push_str(&shown(&scene.rows().concat(), option));
    text
}

/// The neutralised prompt with four routes at once.
pub(super) fn shortcut_routes(scene: &Scene, options: &[String], shots: usize) -> String {
    let shown = |rows: &str, options: &[String]| {
        let mut text = rows.to_owned();
        for (label, option) in LABELS.iter().zip(options) {
            text.push_str(&format!("\nRoute {label}\n{option}"));
        }
        text
    };
    let mut text = String::new();
    if shots > 0 {
        let (names, options): (Vec<&str>, Vec<String>) =
            EXAMPLE_ROUTES.iter().map(|(name, cells)| (*name, moves(&example_route(cells)))).unzip();
        let answer = names.join(SEQUENCE_JOINT);
        text.push_str(&format!("{}{CATEGORIES} {answer}\n\n", shown(&EXAMPLE_ROWS.concat(), &options)));
    }
    text.push_str(&shown(&scene.rows().concat(), options));
    text
}

/// Every order of the kinds: the labels of the neutralised form with four routes.
pub(super) fn sequences() -> impl Iterator<Item = [usize; 4]> {
    let places = || 0..KIND_NAMES.len();
    let all = places().flat_map(move |a| {
        places().flat_map(move |b| places().flat_map(move |c| places().map(move |d| [a, b, c, d])))
    });
    all.filter(move |order| places().all(|kind| order.contains(&kind)))
}

/// Ends the neutralised prompt with four routes.
pub(super) const CATEGORIES: &str =
    "\nCategories of routes A, B, C and D in this order (Reversed, Shortest, Avoidant, Hybrid, each once):";

/// Ends the neutralised prompt.
pub(super) const CATEGORY: &str = "\nCategory (Reversed, Shortest, Avoidant, Hybrid):";

fn example_route(cells: &str) -> Route {
    cells.as_bytes().chunks(2).map(|pair| Cell::new(pair[0] - b'0', pair[1] - b'0')).collect()
}

/// The scene of the paper's example, its Figure 14.
const EXAMPLE_ROWS: [&str; 5] = ["***XY", "*****", "*W***", "*****", "*A***"];

/// Its four routes as pairs of digits.
const EXAMPLE_ROUTES: [(&str, &str); 4] = [
    ("Hybrid", "14132322212030"),
    ("Avoidant", "140403020100102030"),
    ("Reversed", "142434444342414030"),
    ("Shortest", "14243433323130"),
];

/// The paper's few-shot text. It refers to a figure for the scene; the layout is added here as text.
const EXAMPLE: &str = "Example:\nBelow is one possible setting of the campus area.\n\
    ***XY\n*****\n*W***\n*****\n*A***\n\
    Student A is at (1, 4) and Restaurant X is at (3, 0)\n\
    Route A: Start at (1, 4), go up to (1, 3), then right to (2, 3). Continue up to (2, 0) and finally right to X (3, 0). \
    This route indicates a preference for X (3, 0) by initially moving upwards. This avoids any suggestion of heading \
    towards Y (4, 0) that could be inferred from a rightward movement. Once the preference is signaled, the route then \
    opts for the shortest route.\n\
    Route B: Begin at (1, 4), move left to (0, 4), and go up to (0, 0). Then move right to X (3, 0). This route moves left \
    first and continues to bypass the wall from the left to avoid the misinterpretation of intention during the whole \
    movement.\n\
    Route C: Start at (1, 4), go right to (4, 4), then up to Y (4, 0) and left to X (3, 0). This route only indicates that \
    the target is X (3, 0) not Y (4, 0) when moving away from Y after it reaches Y.\n\
    Route D: From (1, 4), move right to (3, 4), then up to X (3, 0). This is a simple, direct route to X (3, 0).\n\
    As you may have realized, our routes in each problem are of the above 4 styles but occur in each problem in randomly \
    shuffled orders.\n\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::iip::routes::{Routes, Rules};

    #[test]
    fn the_example_routes_are_those_of_our_planner() {
        let scene = Scene::read(&EXAMPLE_ROWS.join("\n")).unwrap();
        let routes = Routes::plan(&scene, Rules::Official).unwrap();
        for (name, digits) in EXAMPLE_ROUTES {
            let (kind, _) = KIND_NAMES.iter().find(|(_, known)| *known == name).unwrap();
            let ours: String = routes.of(*kind).iter().map(|cell| format!("{}{}", cell.x, cell.y)).collect();
            assert_eq!(ours, digits, "{name}");
        }
    }
}
