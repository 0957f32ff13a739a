//! Progress for people: a bar on a terminal, plain lines elsewhere, nothing when quiet.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use models::Advance;

use super::talk;
use crate::supervisor::Progress;

/// Shortest time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The bar on the screen, if there is one: whoever writes a line must take it away for that moment.
#[derive(Clone, Default)]
pub(super) struct Bar(Arc<Mutex<Option<ProgressBar>>>);

impl Bar {
    fn get(&self) -> Option<ProgressBar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another bar in its place; gives the one before.
    fn replace(&self, bar: Option<ProgressBar>) -> Option<ProgressBar> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), bar)
    }

    /// Writes a line above the bar.
    pub(super) fn talk(&self, line: &str) {
        match self.get() {
            Some(bar) => bar.suspend(|| talk(line)),
            None => talk(line),
        }
    }
}

/// Tells how a run goes.
pub(super) struct Teller {
    quiet: bool,
    bar: Bar,
    model: String,
    task: String,
    items: u64,
    done: u64,
    /// Items of the group at hand that are answered.
    ahead: u64,
    tokens: u64,
    tokens_before: u64,
    started: Instant,
    last_line: Instant,
}

impl Teller {
    pub(super) fn new(quiet: bool) -> Self {
        let now = Instant::now();
        Teller {
            quiet,
            bar: Bar::default(),
            model: String::new(),
            task: String::new(),
            items: 0,
            done: 0,
            ahead: 0,
            tokens: 0,
            tokens_before: 0,
            started: now,
            last_line: now,
        }
    }

    /// The bar, for lines that come from elsewhere.
    pub(super) fn bar(&self) -> Bar {
        self.bar.clone()
    }

    /// Removes the bar.
    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.replace(None) {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self) {
        let tokens = self.tokens_before + self.tokens;
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = if seconds > 0.0 { tokens as f64 / seconds } else { 0.0 };
        let done = (self.done + self.ahead).min(self.items);
        if let Some(bar) = self.bar.get() {
            bar.set_position(done);
            bar.set_message(format!("{} {rate:.0} tok/s", self.task));
            return;
        }
        if self.quiet || self.last_line.elapsed() < LINE_EVERY {
            return;
        }
        self.last_line = Instant::now();
        let left = match done {
            0 => "?".to_owned(),
            done => format!("{:.0} s", seconds / done as f64 * (self.items - done) as f64),
        };
        talk(&format!(
            "{}: {done}/{} items, {} {rate:.0} tok/s, {left} left",
            self.model, self.items, self.task
        ));
    }
}

impl Progress for Teller {
    fn model(&mut self, name: &str, items: u64) {
        self.finish();
        self.model = name.to_owned();
        (self.items, self.done, self.ahead, self.tokens, self.tokens_before) = (items, 0, 0, 0, 0);
        self.started = Instant::now();
        if self.quiet {
            return;
        }
        if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(items);
            let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {msg}, {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.set_prefix(name.to_owned());
            bar.enable_steady_tick(Duration::from_millis(500));
            self.bar.replace(Some(bar));
        } else {
            talk(&format!("{name}: {items} items to do"));
        }
    }

    fn group(&mut self, task: &str) {
        self.task = task.to_owned();
        self.tokens_before += self.tokens;
        (self.ahead, self.tokens) = (0, 0);
        self.show();
    }

    fn advance(&mut self, advance: Advance) {
        self.ahead = u64::from(advance.jobs);
        self.tokens = advance.tokens;
        self.show();
    }

    fn done(&mut self, items: u64) {
        self.done += items;
        self.ahead = 0;
        self.show();
    }

    fn say(&mut self, line: &str) {
        if !self.quiet {
            self.bar.talk(line);
        }
    }
}
