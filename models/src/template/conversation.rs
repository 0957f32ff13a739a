//! A prompt's turns in the shape that templates accept: system text first or folded, roles in strict alternation.

use super::error::TemplateError;
use crate::{Prompt, Role};

/// Stands between texts that are put into one turn.
pub(crate) const JOINT: &str = "\n\n";

/// Puts the turns in shape. Adjacent turns of one role become one. With `fold`, and always for system text that is
/// not first, system text goes before the text of the next user turn.
pub(crate) fn shape(prompt: &Prompt, fold: bool) -> Result<Vec<(Role, String)>, TemplateError> {
    let mut turns: Vec<(Role, String)> = Vec::new();
    let mut waiting: Vec<&str> = Vec::new();
    for turn in &prompt.turns {
        let first = turns.iter().all(|(role, _)| *role == Role::System);
        match turn.role {
            Role::System if fold || !first => waiting.push(&turn.text),
            Role::User => {
                waiting.push(&turn.text);
                put(&mut turns, Role::User, &waiting.join(JOINT));
                waiting.clear();
            }
            role => put(&mut turns, role, &turn.text),
        }
    }
    match turns.last() {
        Some((Role::User, _)) if waiting.is_empty() => Ok(turns),
        Some(_) => Err(TemplateError::Prompt("its last turn is not a user's".to_owned())),
        None => Err(TemplateError::Prompt("it has no turns".to_owned())),
    }
}

fn put(turns: &mut Vec<(Role, String)>, role: Role, text: &str) {
    match turns.last_mut() {
        Some((last, before)) if *last == role => {
            before.push_str(JOINT);
            before.push_str(text);
        }
        _ => turns.push((role, text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Turn;

    fn prompt(turns: &[(Role, &str)]) -> Prompt {
        let turns = turns
            .iter()
            .map(|&(role, text)| Turn { role, text: text.to_owned(), pictures: Vec::new() })
            .collect();
        Prompt { turns, ..Prompt::default() }
    }

    fn shaped(turns: &[(Role, &str)], fold: bool) -> Vec<(Role, String)> {
        shape(&prompt(turns), fold).expect("a sound prompt")
    }

    #[test]
    fn adjacent_turns_of_one_role_become_one() {
        let turns = shaped(&[(Role::User, "a"), (Role::User, "b")], false);
        assert_eq!(turns, [(Role::User, "a\n\nb".to_owned())]);
    }

    #[test]
    fn system_text_is_folded_only_when_asked_or_out_of_place() {
        let turns = [(Role::System, "s"), (Role::User, "a")];
        assert_eq!(shaped(&turns, false), [(Role::System, "s".to_owned()), (Role::User, "a".to_owned())]);
        assert_eq!(shaped(&turns, true), [(Role::User, "s\n\na".to_owned())]);
        let late = [(Role::User, "a"), (Role::Assistant, "b"), (Role::System, "s"), (Role::User, "c")];
        assert_eq!(shaped(&late, false)[2], (Role::User, "s\n\nc".to_owned()));
    }

    #[test]
    fn a_prompt_must_end_with_a_question() {
        for turns in
            [&[][..], &[(Role::User, "a"), (Role::Assistant, "b")], &[(Role::User, "a"), (Role::System, "s")]]
        {
            assert!(matches!(shape(&prompt(turns), false), Err(TemplateError::Prompt(_))), "{turns:?}");
        }
    }
}
