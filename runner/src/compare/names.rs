//! Names of sides: the models' own, with their runs' folders where two are called alike.

use super::side::Side;

/// Makes the names differ.
pub(super) fn distinct(mut sides: Vec<Side>) -> Vec<Side> {
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        if names.iter().enumerate().any(|(other, name)| other != at && *name == side.name) {
            let folder = side.dir.file_name().unwrap_or(side.dir.as_os_str()).to_string_lossy().into_owned();
            side.name = format!("{} @ {folder}", side.name);
        }
    }
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        // Folders of one name in different places.
        if names.iter().enumerate().any(|(other, name)| other != at && *name == side.name) {
            side.name = format!("{} ({})", side.name, at + 1);
        }
    }
    sides
}
