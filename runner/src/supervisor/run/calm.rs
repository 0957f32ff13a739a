//! Waiting beside a run: for idle power, for a calm machine, for one that has cooled down.

use std::time::{Duration, Instant};

use super::{Runner, Stop};
use crate::telemetry::record::Stretch;
use crate::telemetry::settle::{Calm, Settle, has_cooled};

/// How often is looked.
const LOOK: Duration = Duration::from_millis(100);

impl Runner<'_> {
    /// Measures the power of an idle machine, where there is something to measure it with.
    pub(super) async fn idle(&mut self, stretch: Stretch, model: usize) -> Result<(), Stop> {
        let wait = Duration::from_secs(self.plan.config.telemetry.idle_s);
        if wait.is_zero() || !self.measuring.has_power() {
            return Ok(());
        }
        self.progress.say(&format!("measuring idle power for {} s", wait.as_secs()));
        let window = self.measuring.begin(stretch, model as u16, None);
        let started = Instant::now();
        while started.elapsed() < wait {
            self.look().await?;
        }
        self.measuring.end(window);
        Ok(())
    }

    /// Waits, as far as it is wanted, until the machine has cooled down from the model before and is calm.
    pub(super) async fn calm(&mut self, first: bool) -> Result<(), Stop> {
        let choice = &self.plan.config.telemetry;
        let (cool, settle) = (Duration::from_secs(choice.cool_down_s), Duration::from_secs(choice.settle_s));
        if !first {
            let cooled = self.wait(cool, "the machine cools down", |_, now, begin| match begin {
                Some(begin) => has_cooled(begin, now),
                None => Calm::Unknown,
            });
            cooled.await?;
        }
        let mut watch = Settle::default();
        self.wait(settle, "temperature and clocks are stable", |at, now, _| watch.see(at, now)).await
    }

    async fn wait(
        &mut self,
        limit: Duration,
        until: &str,
        mut calm: impl FnMut(
            u64,
            &crate::telemetry::sample::State,
            Option<&crate::telemetry::sample::State>,
        ) -> Calm,
    ) -> Result<(), Stop> {
        if limit.is_zero() {
            return Ok(());
        }
        let started = Instant::now();
        self.progress.say(&format!("waiting until {until}, at most {} s", limit.as_secs()));
        while started.elapsed() < limit {
            self.look().await?;
            let at = self.measuring.now().mono_us;
            let (now, begin) = self.measuring.state();
            // The first sample comes within a second.
            let sampled = begin.is_some() || started.elapsed() > Duration::from_secs(2);
            match calm(at, &now, begin.as_ref()) {
                Calm::Yes => {
                    self.progress.say(&format!("{until}, after {:.0} s", started.elapsed().as_secs_f64()));
                    return Ok(());
                }
                Calm::Unknown if sampled => {
                    self.progress.say("there is no thermometer and no clock to tell by: not waiting");
                    return Ok(());
                }
                Calm::Unknown | Calm::No => {}
            }
        }
        self.progress
            .say(&format!("going on after {} s, although it is not so that {until}", limit.as_secs()));
        Ok(())
    }

    async fn look(&mut self) -> Result<(), Stop> {
        let interrupt = self.interrupt.clone();
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = interrupt.at_once() => return Err(Stop::Interrupted),
        }
        self.measuring.drain();
        if self.interrupt.is_asked() { Err(Stop::Interrupted) } else { Ok(()) }
    }
}
