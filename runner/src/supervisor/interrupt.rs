//! Stopping on request: the first signal ends after the group at hand, the second one at once.

use tokio::sync::watch;

/// Counts requests to stop.
#[derive(Clone, Debug)]
pub struct Interrupt {
    count: watch::Receiver<u32>,
    /// Keeps the channel open when nothing listens to signals (tests).
    _sender: std::sync::Arc<watch::Sender<u32>>,
}

impl Interrupt {
    /// Nobody asks to stop.
    pub fn never() -> Self {
        let (sender, count) = watch::channel(0);
        Interrupt { count, _sender: std::sync::Arc::new(sender) }
    }

    /// Listens to Ctrl-C and the termination signal. Needs a running tokio runtime.
    pub fn on_signals() -> std::io::Result<Self> {
        let (sender, count) = watch::channel(0);
        let sender = std::sync::Arc::new(sender);
        let raise = std::sync::Arc::clone(&sender);
        use tokio::signal::unix::{SignalKind, signal};
        let mut ctrl_c = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = ctrl_c.recv() => {}
                    _ = terminate.recv() => {}
                }
                raise.send_modify(|count| *count += 1);
            }
        });
        Ok(Interrupt { count, _sender: sender })
    }

    /// Whether the run should end after the group at hand.
    pub fn is_asked(&self) -> bool {
        *self.count.borrow() > 0
    }

    /// Returns when the run should end at once.
    pub async fn at_once(&self) {
        let mut count = self.count.clone();
        if count.wait_for(|&count| count > 1).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
