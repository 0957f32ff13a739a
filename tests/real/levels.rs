//! The engine of this build against answers that it has had no part in.

use crate::support::{run, told};

#[test]
fn num_02_this_build_gives_the_known_answers() {
    let (code, out, errors) = told(&run(&["doctor", "levels", "--json"]));
    assert_eq!(code, Some(0), "{out}{errors}");
    let findings: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let checks = findings["checks"].as_array().expect("checks");
    // A development build carries no levels and is asked itself.
    assert_eq!((findings["model"].as_str(), checks.len()), (Some("own-build"), 1));
    assert_eq!(checks[0]["level"], "ok", "{findings}");
    for weights in ["F16", "Q8_0", "Q4_0"] {
        assert!(checks[0]["finding"].as_str().expect("text").contains(weights), "{findings}");
    }
}
