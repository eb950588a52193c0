//! How much a thread has worked, whatever else the machine was doing meanwhile.

use std::time::{Duration, Instant};

/// Measures the time that the calling thread spends on a processor.
#[derive(Debug)]
pub struct Work {
    begun: Instant,
    before: Option<Duration>,
}

impl Work {
    /// Measures from now on.
    pub fn begin() -> Self {
        Self { begun: Instant::now(), before: on_processor() }
    }

    /// What the thread has worked since; where the system does not tell, the time that went by.
    pub fn done(&self) -> Duration {
        match (self.before, on_processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.begun.elapsed(),
        }
    }
}

/// The first number of Linux's `schedstat`: nanoseconds on a processor.
fn on_processor() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_no_work() {
        // A virtual machine that is stopped for a while counts that as work of whoever was on a processor.
        let waits = || {
            let work = Work::begin();
            std::thread::sleep(Duration::from_millis(50));
            work.done() < Duration::from_millis(50)
        };
        assert!(on_processor().is_none() || (0..10).any(|_| waits()));
        let work = Work::begin();
        let before = work.done();
        // It ends as soon as any work is counted.
        while work.done() <= before {
            std::hint::black_box((0..1000_u64).fold(0_u64, |sum, step| sum.rotate_left(5) ^ step));
        }
    }
}
