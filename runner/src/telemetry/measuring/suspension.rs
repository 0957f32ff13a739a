//! Whether the machine slept: no figure of such a stretch holds.

/// Time that the machine was suspended since its boot, in microseconds, where the system tells.
pub(super) fn suspended_us() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        use rustix::time::{ClockId, clock_gettime};
        let us = |id| {
            let time = clock_gettime(id);
            u64::try_from(time.tv_sec * 1_000_000 + time.tv_nsec / 1000).ok()
        };
        us(ClockId::Boottime)?.checked_sub(us(ClockId::Monotonic)?)
    }
    #[cfg(not(target_os = "linux"))]
    None
}
