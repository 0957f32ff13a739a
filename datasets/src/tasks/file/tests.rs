//! The task that takes a file.

use super::*;
use crate::item::Gold;
use sha2::{Digest, Sha256};

const ROWS: &str = "id,question,hint,A,B,C,D,answer,category\nq1,Which?,,x,y,,,B,bio\nq2,Why?,Look.,p,q,r,s,D,\nq3,How?,,k,l,m,,A,bio\n";

fn resolved(params: &str) -> Result<Resolved, TaskError> {
    let params = Params(params.parse().unwrap());
    let read = |path: &str| match path {
        "items.csv" => Ok(ROWS.to_owned()),
        _ => Err("no such file".to_owned()),
    };
    FILE.resolved(&params, &mut crate::Texts(read))
}

#[test]
fn the_documented_parameters_are_the_defaults() {
    let documented: FileParams = Params(FILE.params.parse().unwrap()).read().unwrap();
    assert_eq!(documented, FileParams::default());
}

#[test]
fn a_file_becomes_items_that_need_no_file_any_more() {
    let resolved = resolved("path = 'items.csv'").unwrap();
    assert_eq!(resolved.notes[0], "items.csv: 3 rows, 3 items");
    // What is logged gives the same items again.
    let logged = Params(toml::to_string(&resolved.params.0).unwrap().parse().unwrap());
    let items = (FILE.items)(&logged, 1).unwrap();
    assert_eq!(items, (FILE.items)(&resolved.params, 1).unwrap());
    let golds: Vec<&Gold> = items.iter().map(|item| &item.first_question().gold).collect();
    assert_eq!(golds, [&Gold::Label(1), &Gold::Label(3), &Gold::Label(0)]);
    assert_eq!(items[0].tags["group"], "bio");
    assert_eq!((FILE.baselines[0].answers)(&items), [Some(0); 3]);
}

#[test]
fn items_stay_the_same_for_ever() {
    let params = resolved("path = 'items.csv'\n[show]\nshuffle = true\nlabels = 'numbers'").unwrap().params;
    let items = serde_json::to_vec(&(FILE.items)(&params, 1).unwrap()).unwrap();
    let hash = Sha256::digest(items).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    assert_eq!(hash, "96d78435debfd50378d8694aca7b7cad3999fbbf2d8e0d65fe4cc59c8081298e");
}

#[test]
fn faults_name_the_key_and_the_file() {
    let error = |params: &str| resolved(params).unwrap_err().to_string();
    assert_eq!(error("path = 'gone.csv'"), "path: gone.csv: no such file");
    assert!(error("path = 'items.txt'").contains("set params.format"));
    assert!(
        error("path = 'items.csv'\n[import]\nanswer-is = 'index-0'")
            .contains("line 2 (id q1): the answer `B` is no number")
    );
    let wrong_key = error("path = 'items.csv'\n[show]\nshufle = true");
    assert!(wrong_key.starts_with("params.show: unknown key `shufle`"), "{wrong_key}");
    let unknown = error("row = 3");
    assert!(
        unknown.contains("`path`") && !unknown.contains("rows") && !unknown.contains("sha256"),
        "{unknown}"
    );
    assert_eq!(error("path = 3"), "params.path is 3: give a text in quotes");
    let data = |params: &str| matches!(resolved(params), Err(TaskError::Data { .. }));
    assert!(data("path = 'gone.csv'") && data("path = 'items.csv'\n[import]\ntags = ['nope']"));
    assert!(!data("path = 'items.txt'") && !data("row = 3"));
    let items = |params: &str| (FILE.items)(&Params(params.parse().unwrap()), 1).unwrap_err().to_string();
    assert!(items("").starts_with("path: name a JSONL"));
    let ten = "rows = [{ id = 'q', question = 'Q', options = ['0','1','2','3','4','5','6','7','8','9'], gold = 2 }]";
    let refused = items(&format!("{ten}\n[show]\nlabels = 'numbers'"));
    assert!(refused.contains("item q has 10 options, and numbers serve 9"), "{refused}");
    assert!((FILE.items)(&Params(ten.parse().unwrap()), 1).is_ok());
    assert!(items("path = 'items.csv'").contains("has not been read"));
    assert!(
        items("rows = [{ id = 'q', question = 'Q', options = ['x', 'y'], gold = 2 }]").contains("item q")
    );
}
