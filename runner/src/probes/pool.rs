//! Independent pieces of work on a few threads, their results in order: how many threads there are changes no figure.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most threads: each holds a table of states.
const THREADS: usize = 4;

/// Does the work of every number below `count`.
pub(super) fn each<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(count);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let result = work(at);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_order_and_nothing_is_left_out() {
        assert_eq!(super::each(37, |at| at * at), (0..37).map(|at| at * at).collect::<Vec<_>>());
        assert!(super::each(0, |at| at).is_empty());
    }
}
