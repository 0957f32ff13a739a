//! A program that prints a line for each sample: started once, read beside the sampler, ended with its whole group.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::Clock;

/// Longest line that is looked at.
const LINE_BYTES: usize = 1024;
/// Samples that wait for the sampler at the most.
const WAITING: usize = 256;
/// How long a program has to end by itself.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a program said.
pub(super) struct Lines<T: Copy + Send + 'static> {
    child: Child,
    waiting: Arc<Mutex<heapless::Deque<(u64, T), WAITING>>>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    garbage: AtomicU64,
    ended: AtomicU64,
}

impl<T: Copy + Send + 'static> Lines<T> {
    /// Starts the program; `parse` makes a sample of a line, or nothing of one that is none.
    pub(super) fn start(
        mut command: Command,
        clock: Arc<dyn Clock>,
        mut parse: impl FnMut(&str) -> Option<T> + Send + 'static,
    ) -> std::io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A shell's children must end with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let mut output = child.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        let waiting = Arc::new(Mutex::new(heapless::Deque::new()));
        let counts = Arc::new(Counts::default());
        let (queue, count) = (Arc::clone(&waiting), Arc::clone(&counts));
        std::thread::Builder::new().name("meter".into()).stack_size(256 << 10).spawn(move || {
            let mut splitter = Splitter { line: [0; LINE_BYTES], length: 0, overlong: false };
            let mut buffer = [0; LINE_BYTES];
            while let Ok(got @ 1..) = output.read(&mut buffer) {
                let at = clock.now().mono_us;
                splitter.push(&buffer[..got], &mut |line| match line.and_then(&mut parse) {
                    Some(sample) => {
                        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                        if queue.is_full() {
                            queue.pop_front();
                        }
                        let _ = queue.push_back((at, sample));
                    }
                    None => drop(count.garbage.fetch_add(1, Ordering::Relaxed)),
                });
            }
            count.ended.store(1, Ordering::Relaxed);
        })?;
        Ok(Lines { child, waiting, counts })
    }

    /// Hands over what has come, oldest first. Allocates nothing.
    pub(super) fn take(&self, each: &mut dyn FnMut(u64, T)) {
        loop {
            // The lock is held for one sample: the reader is never kept from its pipe.
            let next = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                Some((at, sample)) => each(at, sample),
                None => return,
            }
        }
    }

    /// Whether the program has closed its output.
    pub(super) fn has_ended(&self) -> bool {
        self.counts.ended.load(Ordering::Relaxed) != 0
    }

    /// Lines that were no samples.
    pub(super) fn garbage(&self) -> u64 {
        self.counts.garbage.load(Ordering::Relaxed)
    }

    /// Waits for the first sample, which stays in its place.
    pub(super) fn first(&self, limit: Duration) -> Option<T> {
        let started = Instant::now();
        loop {
            // Whether the program has ended is asked first: its last words may be a sample.
            let last = started.elapsed() >= limit || self.has_ended();
            let first = self
                .waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .front()
                .map(|(_, sample)| *sample);
            if first.is_some() || last {
                return first;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the program and all that it started.
    pub(super) fn stop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) && self.has_ended() {
            return;
        }
        self.signal(false);
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if matches!(self.child.try_wait(), Ok(Some(_))) && self.has_ended() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.signal(true);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    #[cfg(unix)]
    fn signal(&self, hard: bool) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = if hard { Signal::KILL } else { Signal::TERM };
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl<T: Copy + Send + 'static> Drop for Lines<T> {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Splitter {
    line: [u8; LINE_BYTES],
    length: usize,
    overlong: bool,
}

impl Splitter {
    /// Gives whole lines to `each`; a line that is too long or no text is `None`.
    fn push(&mut self, bytes: &[u8], each: &mut dyn FnMut(Option<&str>)) {
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::str::from_utf8(&self.line[..self.length]).ok().filter(|_| !self.overlong);
                if line.is_none_or(|line| !line.trim().is_empty()) {
                    each(line);
                }
                (self.length, self.overlong) = (0, false);
            } else if let Some(place) = self.line.get_mut(self.length) {
                *place = byte;
                self.length += 1;
            } else {
                self.overlong = true;
            }
        }
    }
}
