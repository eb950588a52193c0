//! Any bytes at all, opened for writing, edited, and closed or left.
//!
//! ```text
//! length of the script (1 byte), the script, the file
//! ```
//! However damaged a file is: what is refused changes nothing in it, who changes nothing leaves every byte as it
//! was, and what was to be seen and was not edited is to be seen afterwards. How much is written follows from what
//! the file has and what is edited, not from what the file says.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use isotach::storage::{GrowingMemory, Memory, Storage, WritableStorage};
use isotach::{AllowExternal, EditOptions, Error, ErrorKind, MissingBytes, OpenOptions};

use super::edits::{Editor, Touched, View, differences, seen};
use super::script::Script;

const STEPS: usize = 8;
/// Bytes that a file may grow by: there is no room for more.
const ROOM_BYTES: u64 = 32 << 20;
/// Bytes that may be written, for each of the file and beside that: what is edited is small, but values may have to
/// move, twice, and new ones may fill the room.
const WRITTEN_FOR_EACH: u64 = 16;
const WRITTEN_BYTES: u64 = 4 * ROOM_BYTES;

/// Edits a file by a script.
///
/// # Panics
/// Where one of the promises is broken.
pub fn open_to_write(data: &[u8]) {
    let parts = data.split_first().and_then(|(&len, rest)| rest.split_at_checked(len.into()));
    if let Some((script, file)) = parts {
        open_to_write_with(script, file);
    }
}

/// The same; whether the file could be opened for writing.
pub fn open_to_write_with(script: &[u8], file: &[u8]) -> bool {
    let before = view(file);
    let storage = Arc::new(Watched::new(file.to_vec()));
    let options = EditOptions { commit_interval: None, read: reading(), ..EditOptions::default() };
    let Ok(writer) = options.open_in("edited", Arc::clone(&storage) as _) else {
        assert!(storage.take_bytes() == file, "opening failed, and changed the file");
        return false;
    };
    let mut script = Script::new(script);
    let ends = script.below(4);
    let mut touched = Vec::new();
    let mut has_commit = false;
    for _ in 0..STEPS {
        if script.is_over() {
            break;
        }
        match script.below(14) {
            13 => {
                has_commit = true;
                let _ = writer.commit();
            }
            kind => {
                let edit = Editor { writer: &writer }.edit(kind, &mut script);
                touched.extend(edit.map(|(_, touched)| touched));
            }
        }
    }
    let ended = match ends {
        0 => writer.clone().discard(),
        1 => writer.commit(),
        _ => writer.clone().close(),
    };
    // A commit that failed may have been one, and who drops a writer tries again. One that was made may tell that
    // some values are lost.
    let is_refused = |error: &Error| matches!(error.kind, ErrorKind::NotCommitted { .. });
    has_commit |= ends == 1 || ends != 0 && !ended.as_ref().is_err_and(is_refused);
    drop(writer);
    storage.check(file.len() as u64);
    let after = storage.take_bytes();
    if touched.is_empty() {
        assert!(after == file, "nothing was edited, and the file is another one");
    }
    if !has_commit {
        assert_eq!(after.len(), file.len(), "nothing was committed ({ended:?}, {touched:?})");
    }
    match (before, view(&after)) {
        (Ok(before), Ok(after)) => compare(&before, &after, &touched),
        (Ok(_), Err(error)) => panic!("the file cannot be listed any more: {error}; {touched:?}"),
        (Err(_), _) => {}
    }
    true
}

fn compare(before: &View, after: &View, touched: &[Touched]) {
    for path in differences(before, after).filter(|path| before.contains_key(*path)) {
        let (old, new) = (&before[path], after.get(path));
        // What could not be read may be readable now.
        if old.contains("unreadable") {
            continue;
        }
        // Another name of what was edited shows the same.
        let is_twin = |touched: &Touched| {
            let edited = match touched {
                Touched::Attributes(path) => format!("attributes {path}"),
                Touched::Values(path, _) => format!("values {path}"),
                // A link leads to a name that is gone.
                Touched::Below(_) => return new.is_none(),
                Touched::Anything => return true,
            };
            // The name by which it was edited may be gone since.
            let now = after.get(&edited);
            new.is_some() && (now.is_none() || now == new)
        };
        // A dimension that is found by its length may be a new one of the same, as libnetcdf finds it; values tell the shape.
        let kind = |text: &str| text.split(" along ").next().map(str::to_owned);
        let is_by_length = path.starts_with("variable ")
            && new.is_some_and(|new| kind(new) == kind(old))
            && touched.iter().any(|touched| matches!(touched, Touched::Below(_)));
        let is_touched = is_by_length
            || touched.iter().any(|touched| touched.covers_by_name(path) || is_twin(touched));
        let (old, new) = (clipped(old), new.map(|new| clipped(new)));
        assert!(is_touched, "{path} was {old:?} and is {new:?}; edited: {touched:?}");
    }
}

/// As much of it as a message needs.
fn clipped(text: &str) -> String {
    text.chars().take(200).collect()
}

/// What a reader sees; an error where the file cannot be listed.
fn view(bytes: &[u8]) -> Result<View, Error> {
    let storage = Arc::new(Memory::new(bytes.to_vec()));
    seen(&reading().open_storage("seen", storage)?)
}

/// Files that were cut short are opened for writing, too.
fn reading() -> OpenOptions {
    OpenOptions {
        allow_external: Some(AllowExternal::No),
        missing_bytes: Some(MissingBytes::Zeros),
        ..OpenOptions::default()
    }
}

/// Memory that counts what is written to it.
struct Watched {
    memory: GrowingMemory,
    written: AtomicU64,
}

impl Watched {
    fn new(bytes: Vec<u8>) -> Self {
        let limit = bytes.len() as u64 + ROOM_BYTES;
        Self { memory: GrowingMemory::with_limit(bytes, limit), written: AtomicU64::new(0) }
    }

    fn take_bytes(&self) -> Vec<u8> {
        self.memory.take_bytes()
    }

    fn check(&self, file_len: u64) {
        let written = self.written.load(Relaxed);
        let most = file_len * WRITTEN_FOR_EACH + WRITTEN_BYTES;
        assert!(written <= most, "{written} bytes were written to a file of {file_len}");
    }
}

impl Storage for Watched {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.memory.read_at(offset, into)
    }
}

impl WritableStorage for Watched {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.written.fetch_add(bytes.len() as u64, Relaxed);
        self.memory.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.memory.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn beneath(&self) -> Option<&dyn WritableStorage> {
        Some(&self.memory)
    }
}
