//! Calls on files that others write meanwhile. What an id shows is of one committed state of its file; where that is
//! gone, the file moves on to its newest state and the call is made once more, if all ids that the program has
//! mean the same there. Else it is `ESTALE`: `nc_sync` shows the newest state, with ids of its own.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::handle;
use crate::model::OpenFile;
use crate::status::Status;

/// How often a call is made anew, though there is no newer state, before its error is told.
const MOST_TRIES: u32 = 200;
/// For how long it is where there is a newer state each time.
const MOST_TIME: Duration = Duration::from_secs(60);
/// After how many of them writers are asked for time.
const FREE_TRIES: u32 = 8;
/// What is waited where the file has changed, but has no newer state to be seen yet.
const PAUSE: Duration = Duration::from_millis(1);

thread_local! {
    /// The file of which the engine said since the last call that it has changed.
    static CHANGED: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// The status of a call that met a file that has changed.
const STALE: c_int = libc::ESTALE;

/// The same, and the file remembered: other statuses of that number are not those of a file that has changed.
pub(crate) fn changed(file: &Arc<str>) -> Status {
    CHANGED.set(Some(Arc::clone(file)));
    Status(STALE)
}

/// Whether files are shown as they were when they were opened (`ISOTACH_SNAPSHOT=1`).
pub(crate) fn is_snapshot() -> bool {
    static IS_SET: OnceLock<bool> = OnceLock::new();
    *IS_SET.get_or_init(|| std::env::var_os("ISOTACH_SNAPSHOT").is_some_and(|value| value == "1"))
}

/// Makes a call whose status may be that of a file which has changed.
#[inline]
pub(crate) fn settled(mut call: impl FnMut() -> c_int) -> c_int {
    match call() {
        STALE => settled_later(call),
        status => status,
    }
}

#[cold]
fn settled_later(mut call: impl FnMut() -> c_int) -> c_int {
    let (mut status, mut turns) = (STALE, Vec::new());
    let (mut tries, mut in_vain, begun) = (0, 0, Instant::now());
    while in_vain < MOST_TRIES && begun.elapsed() < MOST_TIME {
        let Some(file) = CHANGED.take().filter(|_| status == STALE && !is_snapshot()) else {
            break;
        };
        if tries == FREE_TRIES {
            turns.extend(concerned(&file).iter().filter_map(|file| file.turn()));
        }
        match move_on(&file) {
            Ok(true) => {}
            Ok(false) => {
                in_vain += 1;
                std::thread::sleep(PAUSE);
            }
            Err(()) => break,
        }
        tries += 1;
        status = call();
    }
    status
}

/// Has the ids of a file that is only read show its newest state, or all that are open where it is none of them but
/// one that they lead to; whether one of them has another state. An error where ids would mean something else there.
fn move_on(name: &str) -> Result<bool, ()> {
    let outcomes: Vec<_> = concerned(name).iter().map(|file| file.move_on()).collect();
    match outcomes.as_slice() {
        [Err(_)] => Err(()),
        outcomes => Ok(outcomes.iter().any(|outcome| matches!(outcome, Ok(true)))),
    }
}

/// The files of that name that are open, or all where it is none of them.
fn concerned(name: &str) -> Vec<Arc<OpenFile>> {
    let mut concerned = handle::all();
    if concerned.iter().any(|file| file.is_called(name)) {
        concerned.retain(|file| file.is_called(name));
    }
    concerned
}
