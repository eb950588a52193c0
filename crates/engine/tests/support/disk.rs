//! A file and its space in memory, which check what a writer does with them.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use isotach::storage::{Storage, WritableStorage};
use isotach::write::data::Allocate;

/// Bytes that can be written; every call is recorded.
#[derive(Default)]
pub struct Disk {
    bytes: Mutex<Vec<u8>>,
    /// Address and length of every read.
    reads: Mutex<Vec<(u64, u64)>>,
    /// Address and length of every write.
    writes: Mutex<Vec<(u64, u64)>>,
    /// Writes that still succeed, where that is bounded.
    left: Mutex<Option<u64>>,
}

impl Disk {
    pub fn take_reads(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }

    pub fn take_writes(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.writes.lock().unwrap())
    }

    /// Lets only so many writes succeed; `None` for all.
    pub fn fail_after(&self, successes: Option<u64>) {
        *self.left.lock().unwrap() = successes;
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

impl Storage for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().unwrap().len() as u64)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.reads.lock().unwrap().push((offset, into.len() as u64));
        let bytes = self.bytes.lock().unwrap();
        let from = bytes.get(offset as usize..).and_then(|rest| rest.get(..into.len()));
        Ok(into.write_copy_of_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?))
    }
}

impl WritableStorage for Disk {
    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        if let Some(left) = self.left.lock().unwrap().as_mut() {
            *left = left.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        }
        self.writes.lock().unwrap().push((offset, from.len() as u64));
        let mut bytes = self.bytes.lock().unwrap();
        let end = offset as usize + from.len();
        if bytes.len() < end {
            bytes.resize(end, 0xEE);
        }
        bytes[offset as usize..end].copy_from_slice(from);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.bytes.lock().unwrap().resize(len as usize, 0xEE);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Space that knows what it gave out. What was given out since the last commit is given out again
/// as soon as it is free, what a commit has only after the next one.
#[derive(Default)]
pub struct Space {
    state: Mutex<SpaceState>,
}

#[derive(Default)]
struct SpaceState {
    end: u64,
    /// What is in use: length by address, and whether it was given out before the last commit.
    used: BTreeMap<u64, (u64, bool)>,
    free: Vec<(u64, u64)>,
    free_after_commit: Vec<(u64, u64)>,
}

impl Space {
    /// Bytes in use.
    pub fn used_bytes(&self) -> u64 {
        self.state.lock().unwrap().used.values().map(|(len, _)| len).sum()
    }

    /// What the last commit has: address and length.
    pub fn committed(&self) -> Vec<(u64, u64)> {
        let state = self.state.lock().unwrap();
        let in_use = state.used.iter().filter(|(_, (_, committed))| *committed);
        let freed = state.free_after_commit.iter().copied();
        let mut committed: Vec<_> = in_use.map(|(at, (len, _))| (*at, *len)).chain(freed).collect();
        committed.sort_unstable();
        committed
    }

    pub fn commit(&self) {
        let state = &mut *self.state.lock().unwrap();
        state.used.values_mut().for_each(|(_, committed)| *committed = true);
        state.free.append(&mut state.free_after_commit);
    }
}

impl Allocate for Space {
    fn allocate(&self, bytes: u64) -> u64 {
        assert!(bytes > 0, "nothing was asked for");
        let state = &mut *self.state.lock().unwrap();
        let fitting = state.free.iter().position(|(_, len)| *len >= bytes);
        let address = match fitting {
            Some(at) => {
                let (address, len) = state.free.swap_remove(at);
                if len > bytes {
                    state.free.push((address + bytes, len - bytes));
                }
                address
            }
            None => {
                state.end += bytes;
                state.end - bytes
            }
        };
        state.used.insert(address, (bytes, false));
        address
    }

    fn free(&self, address: u64, bytes: u64) {
        let state = &mut *self.state.lock().unwrap();
        let (mut at, end) = (address, address + bytes);
        while at < end {
            let (&first, &(len, committed)) =
                state.used.range(..=at).next_back().expect("freed what was not given out");
            assert!(at < first + len, "freed twice: {at}");
            let taken = (first + len).min(end) - at;
            state.used.remove(&first);
            if first < at {
                state.used.insert(first, (at - first, committed));
            }
            if at + taken < first + len {
                state.used.insert(at + taken, (first + len - at - taken, committed));
            }
            let free = if committed { &mut state.free_after_commit } else { &mut state.free };
            free.push((at, taken));
            at += taken;
        }
    }
}
