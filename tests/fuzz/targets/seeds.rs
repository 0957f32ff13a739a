//! Inputs to start from, which a target writes itself: `FUZZ_SEEDS` names the folder.

use std::path::PathBuf;

pub(crate) fn write(inputs: fn() -> Vec<Vec<u8>>) {
    let Some(folder) = std::env::var_os("FUZZ_SEEDS").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).expect("the folder of seeds can be made");
    for (number, input) in inputs().iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number:04}")), input).expect("a seed can be written");
    }
}
