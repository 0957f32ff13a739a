//! Results of many conditions that never were: every share tells by its number what it is of.

use super::result::{
    ConditionResult, CorpusResult, CurvePoint, Native, ProbeResult, RepairRow, Share, ShortcutRow,
    ShortcutTable, Transfer,
};
use super::split::SplitBy;

/// Items that every share is of.
pub(crate) const N: u64 = 1000;

/// The plain conditions, then endings of `direct`.
pub(crate) fn names(count: usize) -> Vec<String> {
    let plain = ["direct", "cot-prefix"].map(str::to_owned);
    let varied = (2..count).map(|at| format!("direct+ending-{at}"));
    plain.into_iter().chain(varied).take(count).collect()
}

/// So many corpora of so many conditions and states. Learnt in condition a and tried in b, a probe has 10 a + b items right, an
/// update 400 more, a calibration 800 more; the probe of a layer has as many as its number, but 500 in layer 2. Counts above [`N`] begin anew.
pub(crate) fn result(corpora: usize, conditions: usize, states: usize) -> ProbeResult {
    let one = |at: usize| corpus(&format!("m{at}"), conditions, states);
    ProbeResult::new(1, (0..corpora).map(one).collect(), Vec::new())
}

fn corpus(model: &str, conditions: usize, states: usize) -> CorpusResult {
    let names = names(conditions);
    let share = |right: usize| Share::of(right as u64 % N, N);
    let pairs = move || (0..conditions).flat_map(move |a| (0..conditions).map(move |b| (a, b)));
    let repair = |(method, a, b): (&str, usize, usize)| RepairRow {
        method: method.to_owned(),
        rank: (method == "low-rank").then_some(4),
        train: names[a].clone(),
        test: names[b].clone(),
        before: share(b),
        after: share(if method == "low-rank" { 400 } else { 800 } + 10 * a + b),
    };
    let methods = |(a, b)| [("low-rank", a, b), ("affine", a, b)];
    let points = (0..states).flat_map(|state| names.iter().map(move |name| (state, name)));
    let table = |condition: &String| ShortcutTable {
        condition: condition.clone(),
        tag: "kind".to_owned(),
        kinds: vec!["odd".to_owned()],
        rows: vec![ShortcutRow { without: Vec::new(), by_kind: vec![share(3)], all: share(3) }],
    };
    CorpusResult {
        model: model.to_owned(),
        task: "t".to_owned(),
        dimension: 8,
        states,
        classes: ["A", "B"].map(str::to_owned).to_vec(),
        split: SplitBy::Family,
        items: [N; 3],
        chance: 0.5,
        majority: Some(0.5),
        conditions: names
            .iter()
            .enumerate()
            .map(|(at, name)| ConditionResult {
                condition: name.clone(),
                native: Native {
                    accuracy: share(at),
                    ma: Some(0.25),
                    rank: Some(at as f64),
                    ..Native::default()
                },
                probe: Some(share(11 * at)),
                shuffled: Some(share(7)),
                penalty: Some(0.1),
                validation_accuracy: None,
            })
            .collect(),
        transfer: pairs()
            .map(|(a, b)| Transfer {
                train: names[a].clone(),
                test: names[b].clone(),
                accuracy: share(10 * a + b),
            })
            .collect(),
        curve: points
            .map(|(state, name)| CurvePoint {
                layer: state + 1,
                normed: state + 1 == states,
                condition: name.clone(),
                probe: Some(share(if state == 1 { 500 } else { state + 1 })),
                lens: Some(share(0)),
            })
            .collect(),
        repair: pairs().flat_map(methods).map(repair).collect(),
        shortcut: names.iter().map(table).collect(),
        notes: Vec::new(),
    }
}
