//! Bars on standard error for work that takes long.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes no longer than this has no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two pictures of a bar that moves by itself.
const TICK: Duration = Duration::from_millis(100);

/// Bytes that are done, as a bar that appears after a second and goes away in the end. There is
/// none where standard error is no terminal.
pub(crate) struct Progress {
    /// `None` where nothing is to be shown.
    bar: Option<ProgressBar>,
    begin: Instant,
}

impl Progress {
    /// Nothing is shown.
    pub(crate) fn hidden() -> Self {
        Self { bar: None, begin: Instant::now() }
    }

    /// A bar of so many bytes; they are only asked for where a bar can be shown.
    pub(crate) fn of(total_bytes: impl FnOnce() -> u64) -> Self {
        if !io::stderr().is_terminal() {
            return Self::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(total_bytes()), ProgressDrawTarget::hidden());
        let bar = bar
            .with_style(style("{bar:30} {decimal_bytes}/{decimal_total_bytes} {eta} {wide_msg}"));
        Self { bar: Some(bar), begin: Instant::now() }
    }

    /// What is being done.
    pub(crate) fn message(&self, message: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(message.to_owned());
        }
    }

    /// So many more bytes are done.
    pub(crate) fn advance(&self, bytes: u64) {
        let Some(bar) = &self.bar else { return };
        if bar.is_hidden() && self.begin.elapsed() > PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.inc(bytes);
    }

    /// So many bytes are done in all.
    pub(crate) fn set(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Does work that tells nothing of how far it is; after a second a line shows that it goes on.
pub(crate) fn waiting<T>(message: &str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner().with_style(style("{spinner} {elapsed} {msg}"));
            let bar = bar.with_elapsed(PATIENCE).with_message(message.to_owned());
            while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
            bar.finish_and_clear();
        });
        let outcome = work();
        drop(done);
        outcome
    })
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
