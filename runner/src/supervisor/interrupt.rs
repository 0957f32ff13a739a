//! Stopping on request: the first signal ends after the group at hand, the second one at once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// Counts requests to stop.
#[derive(Clone, Debug)]
pub struct Interrupt {
    count: watch::Receiver<u32>,
    /// Keeps the channel open when nothing listens to signals (tests).
    asking: Arc<Asking>,
}

/// The other end.
struct Asking {
    count: watch::Sender<u32>,
    answer: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count.fmt(f)
    }
}

impl Asking {
    fn ask(&self) {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // People hear first: the run may end as soon as it knows.
        if let Some(answer) = answer {
            answer();
        }
        self.count.send_modify(|count| *count += 1);
    }
}

impl Interrupt {
    /// Nobody asks to stop.
    pub fn never() -> Self {
        let (sender, count) = watch::channel(0);
        Interrupt { count, asking: Arc::new(Asking { count: sender, answer: Mutex::default() }) }
    }

    /// Listens to Ctrl-C and the termination signal from now until the process ends, on a thread of its own: what is done before a
    /// run has a runtime can be stopped too.
    pub fn on_signals() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = Interrupt::never();
        let asking = Arc::clone(&interrupt.asking);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let inside = runtime.enter();
        let mut ctrl_c = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        drop(inside);
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            runtime.block_on(async move {
                loop {
                    tokio::select! {
                        _ = ctrl_c.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    asking.ask();
                }
            })
        })?;
        Ok(interrupt)
    }

    /// What is done when the next request comes, before anything else hears of it.
    pub fn answer(&self, answer: impl FnOnce() + Send + 'static) {
        *self.asking.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(answer));
    }

    /// Whether the run should end after the group at hand.
    pub fn is_asked(&self) -> bool {
        *self.count.borrow() > 0
    }

    /// Returns when somebody asks to stop.
    pub async fn asked(&self) {
        self.times(1).await;
    }

    /// Returns when the run should end at once.
    pub async fn at_once(&self) {
        self.times(2).await;
    }

    async fn times(&self, times: u32) {
        let mut count = self.count.clone();
        if count.wait_for(|&count| count >= times).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_is_answered_once_and_before_the_run_knows_of_it() {
        let interrupt = Interrupt::never();
        let (heard, of) = (Arc::new(Mutex::new(Vec::new())), interrupt.clone());
        let hears = Arc::clone(&heard);
        interrupt.answer(move || hears.lock().unwrap().push(of.is_asked()));
        interrupt.asking.ask();
        interrupt.asking.ask();
        assert_eq!(*heard.lock().unwrap(), [false]);
        assert!(interrupt.is_asked());
    }
}
