//! Stretches of the run in figures: what the machine was like while a model was idle, loaded, at work.

use std::collections::BTreeMap;

use crate::report::RunLog;
use crate::report::cost_views::significant;
use crate::report::costs::headline;
use crate::report::html::markup::{Markup, table as markup_table};
use crate::telemetry::missing::Missing;
use crate::telemetry::record::{Stretch, Window};

fn word(stretch: Stretch) -> &'static str {
    match stretch {
        Stretch::IdleUnloaded => "idle, before loading",
        Stretch::Load => "loading",
        Stretch::IdleLoaded => "idle, loaded",
        Stretch::Group => "groups",
        Stretch::Timed => "items alone",
        Stretch::IdleAfter => "idle, afterwards",
    }
}

#[derive(Default)]
struct Sum {
    count: usize,
    span_us: u64,
    energy_uj: f64,
    energy_us: u64,
    missing: Option<Missing>,
    hottest_mc: Option<i64>,
    clock_khz: (i64, i64),
    available: Option<i64>,
    private: Option<i64>,
    file: Option<i64>,
    others: (i64, i64),
    throttled: usize,
}

/// One row per model and kind of stretch; `None` without stretches.
pub(super) fn table(run: &RunLog) -> Option<Markup> {
    let mut sums: BTreeMap<(u16, Stretch), Sum> = BTreeMap::new();
    let alone = run.measured.timed.iter().map(|(session, timed)| (*session, &timed.window));
    for (session, window) in
        run.measured.windows.iter().map(|(session, window)| (*session, window)).chain(alone)
    {
        let began = session.checked_sub(1).and_then(|session| run.measured.began.get(session));
        let index = began.and_then(|began| Some(headline(began)?.0));
        let why = began.and_then(|began| began.missing);
        sums.entry((window.model, window.stretch)).or_default().add(window, index, why);
    }
    let rows: Vec<Vec<String>> =
        sums.into_iter().map(|((model, stretch), sum)| sum.row(run, model, stretch)).collect();
    let headings = [
        "model",
        "stretch",
        "number",
        "s",
        "mean W",
        "hottest, C",
        "mean MHz",
        "least available, MiB",
        "worker private, MiB",
        "worker files, MiB",
        "others' load, %",
        "throttled",
    ];
    (!rows.is_empty()).then(|| markup_table("The machine by stretches", &headings, 2, &rows))
}

impl Sum {
    fn add(&mut self, window: &Window, index: Option<usize>, why: Option<Missing>) {
        let span_us = window.end.since_us(window.begin);
        self.count += 1;
        self.span_us += span_us;
        let energy = index.and_then(|index| window.energy.get(index));
        match energy.and_then(|energy| energy.energy_uj).filter(|_| !window.suspended) {
            Some(uj) => {
                self.energy_uj += uj;
                self.energy_us += span_us;
            }
            None => self.missing = energy.and_then(|energy| energy.missing).or(why).or(self.missing),
        }
        let state = &window.state;
        let most = |own: &mut Option<i64>, value: Option<i64>| *own = (*own).max(value);
        most(&mut self.hottest_mc, state.hottest_mc.iter().flatten().max().copied());
        most(&mut self.private, state.worker_private_bytes);
        most(&mut self.file, state.worker_file_bytes);
        self.available = match (self.available, state.available_bytes) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
        let clocks: Vec<i64> = state.clock_khz.iter().flatten().copied().collect();
        if !clocks.is_empty() {
            let mean = clocks.iter().sum::<i64>() / clocks.len() as i64;
            self.clock_khz = (self.clock_khz.0 + mean, self.clock_khz.1 + 1);
        }
        if let Some(others) = state.others_permille {
            self.others = (self.others.0 + others, self.others.1 + 1);
        }
        self.throttled += usize::from(state.throttled());
    }

    fn row(&self, run: &RunLog, model: u16, stretch: Stretch) -> Vec<String> {
        let name = run.header.models.get(usize::from(model)).map_or("-", |model| model.name.as_str());
        let shown = |value: Option<f64>| value.map_or("-".to_owned(), significant);
        let mean =
            |(sum, count): (i64, i64), unit: f64| (count > 0).then(|| sum as f64 / count as f64 / unit);
        let mib = |bytes: Option<i64>| bytes.map_or("-".to_owned(), |bytes| (bytes >> 20).to_string());
        let watts = match self.energy_us {
            0 => self.missing.unwrap_or(Missing::NotLogged).word().to_owned(),
            us => significant(self.energy_uj / us as f64),
        };
        vec![
            name.to_owned(),
            word(stretch).to_owned(),
            self.count.to_string(),
            significant(self.span_us as f64 / 1e6),
            watts,
            shown(self.hottest_mc.map(|mc| mc as f64 / 1e3)),
            shown(mean(self.clock_khz, 1e3)),
            mib(self.available),
            mib(self.private),
            mib(self.file),
            shown(mean(self.others, 10.0)),
            self.throttled.to_string(),
        ]
    }
}
