//! Checks of prompts as tokens: begin-of-sequence, ends of turns, control tokens that item text spells.

use models::gguf::Header;
use models::template::{Renderer, TemplateError};
use models::{Generate, Job, Prompt, Request, Role, Sampling, Segment, Token, Tokenised, Turn};

use super::Check;
use crate::supervisor::{Link, LinkError};

/// The model's turn in the probe conversation.
const REPLY: &str = "qreplyprobe";
/// Control tokens that the probe of item text spells, at the most.
const SPELLED: usize = 16;

/// Why the prompts could not be looked at.
pub(super) enum Trouble {
    /// The template refused.
    Template(TemplateError),
    /// The worker failed.
    Link(LinkError),
}

impl From<LinkError> for Trouble {
    fn from(error: LinkError) -> Self {
        Trouble::Link(error)
    }
}

impl From<TemplateError> for Trouble {
    fn from(error: TemplateError) -> Self {
        Trouble::Template(error)
    }
}

/// All checks of this file.
pub(super) async fn check(
    link: &mut Link,
    renderer: &Renderer,
    header: &Header,
) -> Result<Vec<Check>, Trouble> {
    let chat = chat_prompt(renderer);
    let spelled = spellings(header);
    let jobs = vec![
        job(renderer, renderer.render(&chat)?),
        job(renderer, renderer.render(&item_text("alpha beta"))?),
        job(renderer, renderer.render(&item_text(&spelled.join(" ")))?),
    ];
    let texts: Vec<String> =
        jobs.iter().map(|job| job.prompt.iter().map(|segment| segment.text.as_str()).collect()).collect();
    let tokens = link.tokenise(jobs.clone()).await?;
    let named = named_tokens(link, header).await?;
    Ok(vec![
        begin(renderer, header, &jobs[0], &texts[0], &tokens[0]),
        special(renderer, header, &named, &tokens[0]),
        spelled_text(&spelled, &tokens[1], &tokens[2]),
    ])
}

/// A conversation with everything that tasks use and this template keeps.
fn chat_prompt(renderer: &Renderer) -> Prompt {
    let mut turns = vec![Turn { role: Role::System, text: "Answer briefly.".into(), pictures: Vec::new() }];
    if renderer.facts().keeps_history {
        turns.extend([Turn::user("Is water wet?"), Turn::assistant(REPLY)]);
    }
    turns.push(Turn::user("Is fire cold?"));
    Prompt { turns, ..Prompt::default() }
}

fn item_text(what: &str) -> Prompt {
    let text = format!("Which of these is a word of everyday language: {what}?");
    Prompt { turns: vec![Turn::user(text)], ..Prompt::default() }
}

fn job(renderer: &Renderer, prompt: Vec<Segment>) -> Job {
    plain(prompt, renderer.facts().add_bos)
}

fn plain(prompt: Vec<Segment>, add_bos: bool) -> Job {
    let generate = Generate {
        max_tokens: 1,
        stop: vec![],
        sampling: Sampling::Greedy,
        loop_guard: None,
        thinking: None,
    };
    Job { id: 0, prompt, add_bos, request: Request::Generate(generate), follow_up: false }
}

/// The begin-of-sequence token stands exactly as often as was decided, and the tokens spell the rendered text.
fn begin(renderer: &Renderer, header: &Header, job: &Job, text: &str, tokens: &Tokenised) -> Check {
    const NAME: &str = "chat";
    let facts = renderer.facts();
    let bos = header.token_id("bos").and_then(|id| i32::try_from(id).ok());
    let is_bos = |token: &Token| Some(token.id) == bos;
    let leading = tokens.prompt.iter().take_while(|token| is_bos(token)).count();
    let expected = usize::from(facts.add_bos || facts.writes_bos);
    // Some families open every turn with the same token, so the rest of the prompt may hold more of them.
    let all = tokens.prompt.iter().filter(|token| is_bos(token)).count();
    let bos_text = header.token_text("bos").filter(|text| !text.is_empty());
    let controls = job.prompt.iter().filter(|segment| segment.control);
    let written: usize =
        bos_text.map_or(0, |bos| controls.map(|segment| segment.text.matches(bos).count()).sum::<usize>());
    let by_whom = match (facts.add_bos, facts.writes_bos) {
        (true, _) => "put by the tokenizer",
        (false, true) => "written by the template",
        (false, false) => "as the vocabulary asks for none",
    };
    if leading != expected || all != written + usize::from(facts.add_bos) {
        return Check::fail(
            NAME,
            format!(
                "{leading} begin-of-sequence tokens stand first and {all} in all; {expected} {by_whom} and {written} in the template's text were meant"
            ),
            "give another template with --template FILE",
        );
    }
    let added = usize::from(facts.add_bos);
    let spelled: String = tokens.prompt.iter().skip(added).map(|token| token.piece.as_str()).collect();
    // SentencePiece vocabularies put a space before a text; it is part of what the model was trained on.
    if spelled != text && spelled.trim_start() != text.trim_start() {
        return Check::fail(
            NAME,
            format!("the tokens of the probe chat spell {:?} and not {:?}", tail(&spelled), tail(text)),
            "the vocabulary does not hold what the template writes: get another file or template",
        );
    }
    Check::ok(
        NAME,
        format!(
            "{} tokens spell the rendered text; {expected} begin-of-sequence first, {by_whom}{}",
            tokens.prompt.len(),
            if facts.folds_system { "; system text goes into the user's turn" } else { "" }
        ),
    )
}

fn tail(text: &str) -> String {
    let from = text.chars().count().saturating_sub(60);
    text.chars().skip(from).collect()
}

/// The tokens that the header names for ends, as the vocabulary parses them.
async fn named_tokens(
    link: &mut Link,
    header: &Header,
) -> Result<Vec<(&'static str, u64, Option<Token>)>, LinkError> {
    let mut all = Vec::new();
    for name in ["eos", "eot"] {
        let Some(id) = header.token_id(name) else { continue };
        let text = header.token_text(name).unwrap_or_default().to_owned();
        if text.is_empty() {
            all.push((name, id, None));
            continue;
        }
        let tokens = link.tokenise(vec![plain(vec![Segment::text(text, true)], false)]).await?;
        let found =
            tokens.into_iter().flat_map(|job| job.prompt).find(|token| u64::try_from(token.id) == Ok(id));
        all.push((name, id, found));
    }
    Ok(all)
}

/// The ends of texts and turns are known and end a generation.
fn special(
    renderer: &Renderer,
    header: &Header,
    named: &[(&'static str, u64, Option<Token>)],
    chat: &Tokenised,
) -> Check {
    const NAME: &str = "special tokens";
    if named.is_empty() {
        return Check::fail(
            NAME,
            "the header names neither an end-of-sequence nor an end-of-turn token: replies end at their cap only",
            "set `stop` in [asking], or get a file whose header names them",
        );
    }
    for (name, id, token) in named {
        match token {
            None => {
                return Check::fail(
                    NAME,
                    format!(
                        "{name} is token {id}, but its text {:?} is not parsed as that token",
                        header.token_text(name)
                    ),
                    "the vocabulary contradicts the header: get another file",
                );
            }
            Some(token) if !token.ends_generation => {
                return Check::fail(
                    NAME,
                    format!("{name} {:?} does not end a generation", token.piece),
                    "set `stop` in [asking], or get a file that marks it as a control token",
                );
            }
            Some(_) => {}
        }
    }
    let shown: Vec<String> = named
        .iter()
        .filter_map(|(name, id, token)| Some(format!("{name} {id} {:?}", token.as_ref()?.piece)))
        .collect();
    let known = format!("{} known to end a generation", shown.join(" and "));
    match turn_end(renderer, &chat.prompt) {
        None => Check::ok(NAME, known),
        Some(token) if token.ends_generation => Check::ok(
            NAME,
            format!("{known}; the template ends the model's turn with {:?}, which does too", token.piece),
        ),
        Some(token) => Check::warn(
            NAME,
            format!("{known}, but the template ends the model's turn with {:?}, which does not", token.piece),
            "set `stop` in [asking] to what ends a turn",
        ),
    }
}

/// The token that the template puts behind the model's turn; `None` where there is no template or no history.
fn turn_end<'t>(renderer: &Renderer, prompt: &'t [Token]) -> Option<&'t Token> {
    if renderer.facts().text.is_empty() || !renderer.facts().keeps_history {
        return None;
    }
    let mut text = String::new();
    let mut behind = false;
    for token in prompt {
        if behind && !token.piece.trim().is_empty() {
            return Some(token);
        }
        text.push_str(&token.piece);
        behind |= text.contains(REPLY);
    }
    None
}

/// Spellings of control tokens: those that the header names first, then others.
fn spellings(header: &Header) -> Vec<&str> {
    let mut all: Vec<&str> = header
        .vocabulary
        .named
        .values()
        .filter_map(|token| token.text.as_deref())
        .filter(|text| header.vocabulary.control_texts.contains(*text))
        .collect();
    all.extend(header.vocabulary.control_texts.iter().map(String::as_str));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|text| seen.insert(*text));
    all.truncate(SPELLED);
    all
}

/// Control tokens that item text spells stay text.
fn spelled_text(spelled: &[&str], without: &Tokenised, with: &Tokenised) -> Check {
    const NAME: &str = "item text";
    if spelled.is_empty() {
        return Check::skip(NAME, "the vocabulary has no control tokens");
    }
    let controls = |job: &Tokenised| job.prompt.iter().filter(|token| token.control).count();
    let (before, after) = (controls(without), controls(with));
    match before == after {
        true => Check::ok(
            NAME,
            format!(
                "a question that spells {} control tokens has {after} control ids, as one that spells none",
                spelled.len()
            ),
        ),
        false => Check::fail(
            NAME,
            format!(
                "a question that spells {} control tokens has {after} control ids, one that spells none {before}: item text acts on the model",
                spelled.len()
            ),
            "the vocabulary does not keep control tokens apart: report it, with the model's name",
        ),
    }
}
