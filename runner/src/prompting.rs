//! From what an interface asks to the job that an engine gets.

use models::template::{Renderer, TemplateError, marks};
use models::{Generate, Job, Prompt, Request, States};
use sha2::{Digest, Sha256};

/// A job with the identity of its prompt.
pub struct Rendered {
    /// The job.
    pub job: Job,
    /// First 8 bytes of the SHA-256 over the rendered prompt.
    pub prompt_hash: [u8; 8],
}

/// Renders a prompt: labels are scored where an answer is due, text is generated where the model goes on.
pub fn job(
    renderer: &Renderer,
    id: u32,
    prompt: &Prompt,
    request: &Request,
) -> Result<Rendered, TemplateError> {
    let segments = match request {
        Request::Score(_) => renderer.render_for_answer(prompt)?,
        Request::Generate(_) => renderer.render(prompt)?,
    };
    let mut hash = Sha256::new();
    for segment in &segments {
        hash.update([u8::from(segment.control)]);
        hash.update((segment.text.len() as u64).to_le_bytes());
        hash.update(segment.text.as_bytes());
        // Nothing where there is none: prompts without pictures keep their hashes.
        hash.update(segment.picture.as_deref().unwrap_or_default().as_bytes());
    }
    let mut prompt_hash = [0; 8];
    prompt_hash.copy_from_slice(&hash.finalize()[..8]);
    let mut request = request.clone();
    if let Request::Generate(Generate { thinking: Some(cap), .. }) = &mut request {
        cap.inside = renderer.facts().opens_reasoning.as_ref().map(|block| block.close.clone());
        cap.marks = marks();
    }
    let job = Job { id, prompt: segments, add_bos: renderer.add_bos(prompt), request, follow_up: false };
    Ok(Rendered { job, prompt_hash })
}

/// A job that is asked for another reason than its answer needs no hidden states.
pub fn without_states(mut job: Job) -> Job {
    if let Request::Score(score) = &mut job.request {
        score.states = States::None;
    }
    job
}
