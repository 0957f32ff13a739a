//! Checks that need the weights: does the model know its language, and is a shared evaluation that of single prompts.

use datasets::interfaces::choose;
use datasets::{Normalisation, Said};
use models::{EngineFacts, Job, Reply, Request, Score, Scored, Segment};

use super::Check;

/// A text that every language model has seen in some form.
const OPENING: &str = "The sun";
const SENTENCE: &str =
    " rises in the east and sets in the west. There are seven days in a week and twelve months in a year.";
/// Perplexity that no working model has on it; a model that knows nothing has that of its vocabulary size.
const PERPLEXITY_BOUND: f64 = 200.0;
/// Median difference of a label's log-probability, packed against alone, that rounding does not explain.
const MEDIAN_BOUND: f64 = 0.5;

/// The job of [`sanity`].
pub(super) fn sentence(add_bos: bool) -> Job {
    let prompt = vec![Segment::text(OPENING, false)];
    let request = Request::Score(Score { continuations: vec![SENTENCE.into()], ..Score::default() });
    Job { id: 0, prompt, add_bos, request, follow_up: false }
}

/// A plain sentence is no surprise to the model.
pub(super) fn sanity(reply: &Reply, facts: &EngineFacts) -> Check {
    const NAME: &str = "sanity";
    const REMEDY: &str = "the weights, their quantisation or this build are broken, or it is no model of English: \
                          try another file of the model, or another build";
    let Reply::Scored(Scored { labels, .. }) = reply else {
        return Check::fail(NAME, format!("a plain sentence gets no score: {reply:?}"), REMEDY);
    };
    let logprobs: Vec<f64> = labels.iter().flat_map(|label| &label.logprobs).map(|&p| f64::from(p)).collect();
    let perplexity = (-logprobs.iter().sum::<f64>() / logprobs.len() as f64).exp();
    let finding = format!(
        "perplexity {perplexity:.1} on a plain sentence of {} tokens (bound {PERPLEXITY_BOUND}; knowing nothing gives {})",
        logprobs.len(),
        facts.vocab_tokens
    );
    // NaN is no pass.
    match perplexity <= PERPLEXITY_BOUND {
        true => Check::ok(NAME, finding),
        false => Check::fail(NAME, finding, REMEDY),
    }
}

/// The same prompts alone, alone again, and packed.
pub(super) fn parity(
    jobs: &[Job],
    alone: &[Reply],
    again: &[Reply],
    packed: &[Reply],
    normalisation: Normalisation,
) -> Check {
    const NAME: &str = "parity";
    const EXACT: &str = "run with `mode = \"exact\"` in [engine], and report it with the model's name";
    let mut differences = Vec::new();
    let (mut flips, mut repeats) = (0, true);
    for (index, job) in jobs.iter().enumerate() {
        let (Reply::Scored(a), Reply::Scored(b)) = (&alone[index], &packed[index]) else {
            return Check::fail(
                NAME,
                format!("prompt {index} gets no score: {:?} alone, {:?} packed", alone[index], packed[index]),
                EXACT,
            );
        };
        if let Some(Reply::Scored(second)) = again.get(index) {
            repeats &= second.labels == a.labels;
        }
        differences.extend(a.labels.iter().zip(&b.labels).map(|(a, b)| (a.sum() - b.sum()).abs()));
        flips += usize::from(said(job, a, normalisation) != said(job, b, normalisation));
    }
    if differences.iter().any(|difference| !difference.is_finite()) {
        return Check::fail(NAME, "some log-probabilities are not finite", EXACT);
    }
    differences.sort_by(f64::total_cmp);
    let (median, most) = (differences[differences.len() / 2], differences[differences.len() - 1]);
    let finding = format!(
        "{} prompts, alone against packed: median difference of a label's log-probability {median:.3}, largest {most:.3}, {flips} other answers; \
         noise floor {most:.3}: answers closer than that are not told apart; alone twice: {}",
        jobs.len(),
        if repeats { "the same bits" } else { "NOT the same bits" }
    );
    match (median <= MEDIAN_BOUND, repeats) {
        (false, _) => Check::fail(NAME, finding, EXACT),
        (true, false) => {
            Check::warn(NAME, finding, "this build does not repeat itself: do not compare single items")
        }
        (true, true) => Check::ok(NAME, finding),
    }
}

fn said(job: &Job, scored: &Scored, normalisation: Normalisation) -> Option<Said> {
    match &job.request {
        Request::Score(score) => Some(choose(scored, &score.continuations, normalisation)),
        Request::Generate(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use models::LabelScore;

    fn scored(labels: &[&[f32]]) -> Reply {
        let labels = labels
            .iter()
            .map(|logprobs| LabelScore {
                tokens: vec![1; logprobs.len()],
                logprobs: logprobs.to_vec(),
                rank: 1,
            })
            .collect();
        Reply::Scored(Scored { labels, ..Scored::default() })
    }

    fn job(labels: usize) -> Job {
        let continuations = (0..labels).map(|label| label.to_string()).collect();
        Job {
            id: 0,
            prompt: vec![],
            add_bos: false,
            request: Request::Score(Score { continuations, ..Score::default() }),
            follow_up: false,
        }
    }

    #[test]
    fn num_04_a_model_that_finds_every_token_equally_likely_fails_the_sanity_sentence() {
        let facts = EngineFacts { vocab_tokens: 50_000, ..EngineFacts::default() };
        // Uniform over 50 000 tokens: perplexity 50 000.
        let uniform = [-(50_000f32.ln()); 24];
        assert_eq!(sanity(&scored(&[&uniform]), &facts).level, Level::Fail);
        // e^3 = 20.1 on average.
        let check = sanity(&scored(&[&[-2.0, -4.0, -3.0]]), &facts);
        assert_eq!(check.level, Level::Ok);
        assert!(check.finding.contains("perplexity 20.1"), "{}", check.finding);
        assert_eq!(sanity(&scored(&[&[f32::NAN, -1.0]]), &facts).level, Level::Fail, "NUM-05");
        assert_eq!(sanity(&Reply::TooLong { needed: 2, context: 1 }, &facts).level, Level::Fail);
    }

    #[test]
    fn kvc_04_a_shared_evaluation_that_answers_otherwise_fails_and_rounding_does_not() {
        let jobs = [job(2), job(2), job(2)];
        let alone = [scored(&[&[-1.0], &[-1.05]]), scored(&[&[-1.0], &[-2.0]]), scored(&[&[-3.0], &[-0.5]])];
        // Differences: 0.1 and five times none; one answer flips.
        let packed = [scored(&[&[-1.1], &[-1.05]]), alone[1].clone(), alone[2].clone()];
        let check = parity(&jobs, &alone, &alone, &packed, Normalisation::Sum);
        assert_eq!(check.level, Level::Ok);
        assert!(
            check
                .finding
                .contains("median difference of a label's log-probability 0.000, largest 0.100, 1 other")
        );
        let broken = [scored(&[&[-9.0], &[-0.1]]), scored(&[&[-8.0], &[-0.1]]), scored(&[&[-0.1], &[-7.0]])];
        assert_eq!(parity(&jobs, &alone, &alone, &broken, Normalisation::Sum).level, Level::Fail);
        assert_eq!(parity(&jobs, &alone, &packed, &alone, Normalisation::Sum).level, Level::Warn);
        let infinite = [scored(&[&[f32::NEG_INFINITY], &[-1.0]]), alone[1].clone(), alone[2].clone()];
        assert_eq!(parity(&jobs, &alone, &alone, &infinite, Normalisation::Sum).level, Level::Fail, "NUM-03");
    }
}
