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

    /// Listens to Ctrl-C and the termination signal from now until the process ends, on a thread of its own: what is done before a
    /// run has a runtime can be stopped too.
    pub fn on_signals() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (sender, count) = watch::channel(0);
        let sender = std::sync::Arc::new(sender);
        let raise = std::sync::Arc::clone(&sender);
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
                    raise.send_modify(|count| *count += 1);
                }
            })
        })?;
        Ok(Interrupt { count, _sender: sender })
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
