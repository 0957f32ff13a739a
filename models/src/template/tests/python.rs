//! Expressions against what Python's Jinja 3.1 makes of them (`tests/templates/expressions.jsonl`, written by it).

use super::*;

#[test]
fn expressions_render_as_in_python() {
    let lines = include_str!("../../../tests/templates/expressions.jsonl");
    let mut wrong = Vec::new();
    for line in lines.lines() {
        let (expression, expected): (String, String) = serde_json::from_str(line).expect("a pair of texts");
        let template = format!("{{{{ messages[0].content }}}}|{{{{ {expression} }}}}");
        let found = match renderer(&template).and_then(|r| r.render(&question("Q"))) {
            Ok(segments) => joined(&segments)[2..].to_owned(),
            Err(error) => error.to_string(),
        };
        if found != expected {
            wrong.push(format!("{expression}: {found:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
