use std::io::Read;
use std::path::Path;

use super::*;
use crate::parcel::{Base, Kind, Material, write};

/// A parcel behind the executable of this test, for nothing but its members.
fn parcel(dir: &Path, members: Vec<Material<'_>>) -> Parcel {
    let base = dir.join("base");
    let mut bytes = [0; 120];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    std::fs::write(&base, &bytes[..64]).unwrap();
    let out = dir.join("out");
    write(&Base::of(&base).unwrap(), members, &out, &mut |_| ()).unwrap();
    Parcel::of(&out).unwrap().unwrap()
}

fn file(path: &str, member: &str) -> DataFile {
    DataFile { path: path.to_owned(), member: member.to_owned() }
}

#[test]
fn carried_files_are_read_whole_and_in_pieces_by_the_paths_of_the_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let mut stored = Material::bytes("bundle/data/1", *b"picture");
    stored.kind = Kind::Stored;
    let parcel = parcel(dir.path(), vec![Material::bytes("bundle/data/0", *b"a,b\n1,2\n"), stored]);
    let manifest = Manifest {
        files: vec![
            file("../d/t.csv", "bundle/data/0"),
            file("/p.png", "bundle/data/1"),
            file("gone", "bundle/data/2"),
        ],
        folders: vec![Folder { path: "../d".into(), names: vec!["t.csv".into()] }],
        ..Manifest::default()
    };
    let carried = Carried::of(parcel, &manifest);
    let mut text = String::new();
    carried.open("../d/t.csv").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "a,b\n1,2\n");
    assert_eq!(carried.stretch("../d/t.csv", 4, 3).unwrap(), b"1,2");
    assert_eq!(carried.stretch("/p.png", 0, 4).unwrap(), b"pict");
    assert!(carried.stretch("../d/t.csv", 4, 9).unwrap_err().contains("ends before byte 13"));
    assert!(carried.stretch("/p.png", u64::MAX, 9).is_err());
    assert_eq!(carried.list("../d").unwrap(), ["t.csv"]);
    assert!(carried.list("d").unwrap_err().contains("no such folder"));
    assert!(carried.open("t.csv").is_err_and(|reason| reason.contains("no such file")));
    assert!(carried.open("gone").is_err());
}

#[test]
fn a_manifest_with_a_path_for_a_name_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (name, good) in [("w.gguf", true), ("../w.gguf", false), ("/w", false), ("a/b", false), ("", false)] {
        let model = BundledModel {
            choice: crate::config::ModelChoice::of("w.gguf".into()),
            memory_budget: None,
            files: vec![WeightFile { name: name.into(), member: None, bytes: None, sha256: None }],
            mmproj: None,
        };
        let manifest = Manifest { models: vec![model], ..Manifest::default() };
        let json = serde_json::to_vec(&manifest).unwrap();
        let parcel = parcel(dir.path(), vec![Material::bytes(MANIFEST, json)]);
        assert_eq!(Manifest::read(&parcel).is_ok(), good, "{name:?}");
    }
    let parcel = parcel(dir.path(), vec![Material::bytes(MANIFEST, *b"{")]);
    assert!(Manifest::read(&parcel).unwrap_err().message.contains("manifest cannot be used"));
}

#[test]
fn results_go_beside_the_bundle_where_that_can_be_written_else_to_the_current_folder() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("here")).unwrap();
    let cache = Some(at("cache"));
    let places = Places::find(&at("here/field"), &at("."), cache.clone()).unwrap();
    assert_eq!((&places.home, &places.results), (&at("here"), &at("here")));
    assert_eq!(
        places.weights,
        [at("here/edge-eval-models"), at("cache/edge-eval"), at("./edge-eval-models")]
    );
    let places = Places::find(&at("gone/field"), &at("here"), cache).unwrap();
    assert_eq!(places.results, at("here"));
    let failure = Places::find(&at("gone/field"), &at("lost"), None).unwrap_err();
    assert_eq!(failure.exit, Exit::Disk);
    assert_eq!(std::fs::read_dir(at("here")).unwrap().count(), 0);
}
