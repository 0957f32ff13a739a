//! Distances, neighbours and walls, against what was counted by hand.

use super::*;

/// The scene of the paper's Figure 3c.
const FIGURE_3: &str = "W****\nW*W**\nWXW**\nW*W**\nY**A*";

#[test]
fn walls_block_walking_and_paths_are_as_long_as_distances() {
    let (grid, letters) = Grid::read(FIGURE_3).unwrap();
    assert_eq!(letters, [('X', Cell::new(1, 2)), ('Y', Cell::new(0, 4)), ('A', Cell::new(3, 4))]);
    let from_agent = grid.distances(Cell::new(3, 4));
    assert_eq!(from_agent.to(Cell::new(1, 2)), 4);
    assert_eq!(from_agent.to(Cell::new(0, 4)), 3);
    assert_eq!(from_agent.to(Cell::new(2, 2)), UNREACHED);
    let path = grid.path(Cell::new(3, 4), Cell::new(1, 2), URDL).unwrap();
    assert_eq!(path.len(), 5);
    // Through the corridor there is one shortest path only.
    assert_eq!(grid.paths(Cell::new(3, 4), Cell::new(1, 2), UDLR), [path]);
}

#[test]
fn an_open_five_by_five_has_seventy_shortest_paths_between_corners() {
    let paths = Grid::open(5).paths(Cell::new(0, 0), Cell::new(4, 4), UDLR);
    assert_eq!(paths.len(), 70); // 8 over 4
    assert_eq!(paths[0][1], Cell::new(0, 1)); // Down comes before Right in this order
}

#[test]
fn rows_do_not_leak_into_each_other_on_the_largest_grid() {
    let mut grid = Grid::open(8);
    (0..8).for_each(|y| grid.walls.insert(Cell::new(4, y)));
    let steps = grid.distances(Cell::new(0, 3));
    assert_eq!(steps.to(Cell::new(3, 7)), 7);
    assert_eq!(steps.to(Cell::new(7, 2)), UNREACHED);
    assert!(
        !grid.connects(Cell::new(0, 3), Cell::new(7, 2)) && grid.connects(Cell::new(0, 3), Cell::new(3, 7))
    );
}

#[test]
fn rows_are_read_back() {
    let (grid, letters) = Grid::read(FIGURE_3).unwrap();
    let mark = |cell| letters.iter().find(|(_, at)| *at == cell).map(|(letter, _)| *letter);
    assert_eq!(grid.rows(mark).join("\n"), FIGURE_3);
    assert_eq!(Grid::read("**\n*"), None);
    assert_eq!(Grid::read(""), None);
}

#[test]
fn compat_walls_never_touch_the_last_cell_of_their_line() {
    let mut last = (0, 0);
    for seed in 0..2000 {
        for (compat, count) in [(true, &mut last.0), (false, &mut last.1)] {
            let mut stream = crate::Stream::new(seed, &["walls"]);
            let walls = draw_walls(&mut stream, 5, 1, (2, 4), compat);
            let down = walls.iter().all(|cell| cell.x == walls.iter().next().unwrap().x);
            *count += usize::from(walls.iter().any(|cell| if down { cell.y == 4 } else { cell.x == 4 }));
        }
    }
    assert_eq!(last.0, 0);
    assert!(last.1 > 400, "{last:?}"); // 1/4, 1/3 and 1/2 of the lengths 2, 3, 4: about 722 of 2000
}
