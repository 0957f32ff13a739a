//! Any reply is read without a panic, and what is found lies in it.

use datasets::Said;
use datasets::reading::{Found, boxed_contents, fold, opens_in_reasoning, read_any};

/// The first two bytes choose the rule and the circumstances, the rest is the reply.
pub(crate) fn check(bytes: &[u8]) {
    let found = read_any(bytes);
    let reply = String::from_utf8_lossy(&bytes[bytes.len().min(2)..]);
    sound(&found, &reply);
    assert_eq!(found, read_any(bytes), "the same reply reads differently");
    for content in boxed_contents(&reply) {
        assert!(reply.contains(content), "{content:?}");
    }
    fold(&reply);
    opens_in_reasoning(&reply);
}

fn sound(found: &Found, reply: &str) {
    let inside = |start: u32, end: u32| start <= end && reply.get(start as usize..end as usize).is_some();
    for candidate in &found.candidates {
        assert!(inside(candidate.start, candidate.end), "{candidate:?} in {reply:?}");
    }
    if let Some(span) = found.reasoning {
        assert!(inside(span.start, span.end), "{span:?} in {reply:?}");
    }
    if let Said::Choice(choice) = found.said {
        let named = found.candidates.iter().any(|candidate| candidate.label == Some(choice));
        assert!(named || found.candidates_dropped > 0, "{found:?}");
    }
    assert!(found.candidates.len() <= 64);
}
