//! Models in several files (GGUF-04).

use std::path::PathBuf;

use super::*;

/// Three parts in a folder, one tensor each.
fn parts(folder: &Path) -> Vec<PathBuf> {
    (1..=3)
        .map(|number: u32| {
            let path = folder.join(format!("m-{number:05}-of-00003.gguf"));
            let head = if number == 1 { small() } else { Writer::default() };
            let head = head.count("split.no", number - 1).count("split.count", 3);
            std::fs::write(&path, head.tensor(&format!("t{number}"), &[8], 0, 32).finish()).expect("written");
            path
        })
        .collect()
}

#[test]
fn gguf_04_any_part_opens_the_whole_with_a_note() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = parts(folder.path());
    let whole = Header::open(&paths[0]).expect("whole");
    assert_eq!(whole.tensors.len(), 5);
    assert_eq!(whole.files(), paths);
    let sizes = paths.iter().map(|path| std::fs::metadata(path).expect("there").len());
    assert_eq!(whole.file_bytes, sizes.sum::<u64>());
    assert!(whole.notes.is_empty());
    let second = Header::open(&paths[1]).expect("whole");
    assert_eq!(second.path, paths[0]);
    assert_eq!(second.notes, ["part 2 of 3 was given; part 1 is opened"]);
}

#[test]
fn a_tensor_lies_in_its_own_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = parts(folder.path());
    let whole = Header::open(&paths[0]).expect("whole");
    // The writer fills a file's first tensor with ones, its second with twos, and so on.
    let expected =
        [("token_embd.weight", 0, 1), ("output_norm.weight", 0, 2), ("t1", 0, 3), ("t2", 1, 1), ("t3", 2, 1)];
    for (tensor, (name, part, fill)) in whole.tensors.iter().zip(expected) {
        let (path, start) = whole.place(tensor).expect("a place");
        assert_eq!((tensor.name.as_str(), path), (name, &*paths[part]));
        let bytes = std::fs::read(path).expect("read");
        let data = &bytes[start as usize..(start + tensor.bytes) as usize];
        assert!(data.iter().all(|byte| *byte == fill), "{name}");
        assert_ne!(bytes[start as usize - 1], fill, "{name} begins there");
    }
}

#[test]
fn gguf_04_missing_parts_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = parts(folder.path());
    std::fs::remove_file(&paths[0]).expect("removed");
    std::fs::remove_file(&paths[2]).expect("removed");
    let error = Header::open(&paths[1]).expect_err("missing");
    let missing = vec!["m-00001-of-00003.gguf".to_owned(), "m-00003-of-00003.gguf".to_owned()];
    assert_eq!(error.fault, Fault::MissingShards { count: 3, missing });
}

#[test]
fn gguf_04_joined_parts_are_a_second_header_in_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = parts(folder.path());
    let read = |path: &PathBuf| std::fs::read(path).expect("read");
    let first = read(&paths[0]);
    let joined: Vec<u8> = paths.iter().flat_map(read).collect();
    assert_eq!(fault(&joined), Fault::SecondHeader { at: first.len() as u64 });
}

#[test]
fn gguf_04_a_renamed_part_says_what_to_call_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = parts(folder.path());
    let renamed = folder.path().join("model.gguf");
    std::fs::rename(&paths[1], &renamed).expect("renamed");
    let error = Header::open(&renamed).expect_err("renamed");
    assert_eq!(error.fault, Fault::RenamedShard { number: 2, count: 3 });
}

#[test]
fn gguf_04_a_damaged_part_is_named_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = parts(folder.path());
    std::fs::write(&paths[2], b"").expect("emptied");
    let error = Header::open(&paths[0]).expect_err("empty");
    assert_eq!((error.path, error.fault), (paths[2].clone(), Fault::Empty));
}
