//! HDF5 files whose writer was killed: opened as committed, and at no cost where there is nothing.

use std::path::PathBuf;
use std::sync::Arc;

use isotach::storage::{Durability, GrowingMemory, Memory, Storage};
use isotach::write::Committer;
use isotach::{AllowExternal, OpenOptions, Result};
use isotach_format::hdf5::superblock::Superblock;
use isotach_format::redo::{Change, Record};
use isotach_testkit::{CountingStorage, corpus};

/// What a listing of the root group in `storage` says.
fn listing(storage: Arc<dyn Storage>) -> Result<String> {
    let root = OpenOptions { allow_external: Some(AllowExternal::No), ..OpenOptions::default() }
        .open_storage("file", storage)?
        .root();
    let (names, groups) = (root.variable_names()?, root.group_names()?);
    Ok(format!("{names:?} {groups:?} {}", root.attributes()?.len()))
}

fn memory(bytes: &[u8]) -> Arc<dyn Storage> {
    Arc::new(Memory::new(bytes.to_vec()))
}

/// Small HDF5 files that are sound and end where their superblock says.
fn files() -> Vec<(PathBuf, Vec<u8>, Superblock)> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = corpus().into_iter().collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.metadata().unwrap().len() > 300_000 {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let Ok(superblock) = Superblock::decode(&bytes, 0) else { continue };
            let is_whole = superblock.end_of_file_address == bytes.len() as u64;
            if is_whole && listing(memory(&bytes)).is_ok() {
                files.push((path, bytes, superblock));
            }
        }
    }
    files
}

/// `bytes` before their last commit changed the root group's header, and with its record.
fn begun(bytes: &[u8], superblock: &Superblock) -> (Vec<u8>, Vec<u8>) {
    let at = superblock.root_address as usize;
    let after = bytes[at..at + 16].to_vec();
    let before: Vec<u8> = after.iter().map(|byte| !byte).collect();
    let mut begun = bytes.to_vec();
    begun[at..at + 16].copy_from_slice(&before);
    let changes = vec![Change { address: superblock.root_address, before, after }];
    (begun, Record { end: bytes.len() as u64, changes }.encode())
}

#[test]
fn what_was_committed_is_read_and_written() {
    let files = files();
    assert!(files.len() > 50 || corpus().is_none(), "{} files", files.len());
    for (path, bytes, superblock) in files {
        let path = path.display();
        let expected = listing(memory(&bytes)).unwrap();
        let (mut begun, record) = begun(&bytes, &superblock);
        assert!(listing(memory(&begun)).is_err(), "{path}");
        begun.extend(record);
        assert_eq!(listing(memory(&begun)).unwrap(), expected, "{path}");
        let storage = Arc::new(GrowingMemory::new(begun.clone()));
        let (name, end) = ("file".into(), bytes.len() as u64);
        let committer =
            Committer::open(&name, storage.clone(), 0, end, Durability::Process).unwrap();
        assert_eq!(listing(committer.storage()).unwrap(), expected, "{path}");
        assert_eq!(committer.storage().len().unwrap(), end);
        // Nothing changes before the first write.
        assert_eq!(storage.len().unwrap(), begun.len() as u64);
        committer.storage().write_at(end, &[]).unwrap();
        assert!(storage.take_bytes() == bytes, "{path}");
    }
}

#[test]
fn only_files_with_bytes_behind_their_end_cost_a_read() {
    for (path, mut bytes, superblock) in files() {
        let reads_of = |bytes: &[u8]| {
            let storage = Arc::new(CountingStorage::new(bytes.to_vec(), 1));
            listing(storage.clone()).unwrap();
            storage.take_reads()
        };
        let end = superblock.end_of_file_address;
        assert!(reads_of(&bytes).iter().all(|(at, len)| at + len <= end));
        bytes.extend([0; 100]);
        let reads = reads_of(&bytes);
        let behind = reads.iter().filter(|(at, _)| *at >= end);
        assert_eq!(behind.collect::<Vec<_>>(), [&(end, 16)], "{}", path.display());
    }
}
