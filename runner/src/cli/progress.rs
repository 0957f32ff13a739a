//! Progress for people: a bar on a terminal, plain lines elsewhere, nothing when quiet.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use models::Advance;

use super::talk;
use crate::count::counted;
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
            bar.set_message(self.how(done, rate, seconds));
            return;
        }
        if self.quiet || self.last_line.elapsed() < LINE_EVERY {
            return;
        }
        self.last_line = Instant::now();
        talk(&format!("{}: {done}/{} items{}", self.model, self.items, self.how(done, rate, seconds)));
    }

    /// `, logic 120 tok/s, 5 s left`: what is known so far.
    fn how(&self, done: u64, rate: f64, seconds: f64) -> String {
        let mut text = String::new();
        if !self.task.is_empty() {
            text.push_str(&format!(", {}", self.task));
            if rate > 0.0 {
                text.push_str(&format!(" {rate:.0} tok/s"));
            }
        }
        if done > 0 {
            let left_s = seconds / done as f64 * self.items.saturating_sub(done) as f64;
            text.push_str(&format!(", {left_s:.0} s left"));
        }
        text
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
            let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len}{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.set_prefix(name.to_owned());
            bar.enable_steady_tick(Duration::from_millis(500));
            self.bar.replace(Some(bar));
        } else {
            talk(&format!("{name}: {} to do", counted(items, "item")));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_yet_is_not_told() {
        let mut teller = Teller::new(true);
        teller.model("m", 60);
        assert_eq!(teller.how(0, 0.0, 0.0), "");
        teller.group("logic");
        assert_eq!(teller.how(0, 0.0, 1.0), ", logic");
        assert_eq!(teller.how(20, 7.0, 10.0), ", logic 7 tok/s, 20 s left");
    }
}
