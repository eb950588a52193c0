//! How structures are fetched: how many reads, how many bytes, and what becomes of damaged ones.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use isotach::ErrorKind;
use isotach::storage::{
    GrowingMemory, LocalFile, Memory, MetadataReader, Storage, WritableStorage,
};
use isotach_format::Cursor;
use isotach_testkit::{CountingStorage, FailingStorage};

const LOCAL: u64 = 16 << 10;
const REMOTE: u64 = 1 << 20;

fn file(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + at / 251) as u8).collect()
}

fn reader(storage: Arc<dyn Storage>) -> MetadataReader {
    MetadataReader::new("made up".into(), storage).unwrap()
}

#[test]
fn opening_is_one_small_read() {
    let bytes = file(10 << 20);
    let storage = Arc::new(CountingStorage::new(bytes.clone(), LOCAL));
    let reader = reader(storage.clone());
    assert_eq!(storage.take_reads(), []);
    assert_eq!(reader.fetch(0, 48).unwrap()[..], bytes[..48]);
    assert_eq!(reader.fetch(48, 500).unwrap()[..], bytes[48..548]);
    assert_eq!(storage.take_reads(), [(0, 2048)]);
}

#[test]
fn structures_that_lie_together_come_in_few_reads() {
    let bytes = file(6 << 20);
    // Reads of four times the cost (of a MiB at most), and those before them that grow up to that.
    for (cost, most_reads) in [(LOCAL, 96 + 6), (REMOTE, 6 + 3)] {
        for backwards in [false, true] {
            let storage = Arc::new(CountingStorage::new(bytes.clone(), cost));
            let reader = reader(storage.clone());
            let mut addresses: Vec<usize> = (0..bytes.len() - 600).step_by(523).collect();
            if backwards {
                addresses.reverse();
            }
            for at in addresses {
                assert_eq!(reader.fetch(at as u64, 523).unwrap()[..], bytes[at..at + 523]);
            }
            let reads = storage.take_reads();
            let read_bytes: u64 = reads.iter().map(|(_, length)| length).sum();
            assert!(reads.len() <= most_reads, "{cost} {backwards}: {} reads", reads.len());
            assert!(read_bytes < bytes.len() as u64 * 11 / 10, "{cost} {backwards}: {reads:?}");
        }
    }
}

#[test]
fn structures_far_apart_bring_little_else_along() {
    let storage = Arc::new(CountingStorage::new(file(20 << 20), LOCAL));
    let reader = reader(storage.clone());
    for at in (0..20).rev() {
        reader.fetch(at << 20, 100).unwrap();
    }
    assert!(storage.take_reads().iter().all(|(_, length)| *length == 2048));
}

#[test]
fn what_was_read_piece_by_piece_is_not_read_again() {
    let bytes = file(4 << 20);
    for (cost, most_bytes) in [(LOCAL, 5 << 20), (REMOTE, 6 << 20)] {
        let storage = Arc::new(CountingStorage::new(bytes.clone(), cost));
        let reader = reader(storage.clone());
        // Index nodes all over the file, then headers one after another.
        let scattered = (0..100).map(|step| step * 7919 * 512 % (4 << 20) as u64);
        let in_order = (0..(4 << 20) / 600).map(|step| step * 600);
        for at in scattered.chain(in_order) {
            let range = at as usize..at as usize + 512;
            assert_eq!(reader.fetch(at, 512).unwrap()[..], bytes[range]);
        }
        let read_bytes: u64 = storage.take_reads().iter().map(|(_, length)| length).sum();
        assert!(read_bytes <= most_bytes, "{cost}: {read_bytes}");
    }
}

#[test]
fn islands_over_a_costly_storage_bring_at_most_two_calls_worth_along() {
    const COST: u64 = 128 << 10;
    const GAP: u64 = 512 << 10;
    let bytes = file(32 << 20);
    let islands = 60;
    // Five structures each, of which the first to be asked for lies in the middle.
    let addresses = (0..islands).map(|island| (island * 37 + 1) % 60 * GAP + 100_000);
    let addresses =
        addresses.flat_map(|middle| [0, 900, -3000, 2000, -600].map(|by| middle as i64 + by));
    for (expected, objects) in [(false, 0), (true, 0), (true, islands), (true, 5 * islands)] {
        let storage = Arc::new(CountingStorage::new(bytes.clone(), COST));
        let reader = reader(storage.clone());
        if expected {
            reader.expect(addresses.clone().map(|at| (at as u64, 512)));
            reader.expect_objects(objects);
        }
        for at in addresses.clone() {
            let range = at as usize..at as usize + 512;
            assert_eq!(reader.fetch(at as u64, 512).unwrap()[..], bytes[range]);
        }
        let reads = storage.take_reads();
        let read_bytes: u64 = reads.iter().map(|(_, length)| length).sum();
        println!("{expected} {objects}: {} reads, {read_bytes} bytes", reads.len());
        assert!(reads.len() as u64 <= 2 * islands, "{} reads", reads.len());
        assert!(read_bytes <= 2 * COST * islands, "{read_bytes} bytes");
    }
}

#[test]
fn what_is_expected_and_lies_together_comes_together() {
    const COST: u64 = 512 << 10;
    let bytes = file(20 << 20);
    // Two stretches of structures 200 KB apart, asked for in no order.
    let near = (0..30).map(|step| step * 7 % 30 * 200_000);
    let far = (0..20).map(|step| 15_000_000 + step * 7 % 20 * 200_000);
    let storage = Arc::new(CountingStorage::new(bytes.clone(), COST));
    let reader = reader(storage.clone());
    reader.expect(near.clone().chain(far.clone()).map(|at| (at, 512)));
    for at in near.chain(far) {
        assert_eq!(reader.fetch(at, 512).unwrap()[..], bytes[at as usize..at as usize + 512]);
    }
    let reads = storage.take_reads();
    let read_bytes: u64 = reads.iter().map(|(_, length)| length).sum();
    assert!(reads.len() <= 4, "{reads:?}");
    assert!(read_bytes <= 50 * 200_000 + 2 * COST, "{reads:?}");
}

#[test]
fn no_number_of_objects_makes_a_file_be_read_over_and_over() {
    const COST: u64 = 512 << 10;
    let len = 80 << 20;
    let storage = Arc::new(CountingStorage::new(file(len), COST));
    let reader = reader(storage.clone());
    reader.expect_objects(u64::MAX);
    // More than is kept: every one of them is a miss.
    for step in 0..400 {
        reader.fetch(step * 48_611_333 % (len as u64 - 512), 512).unwrap();
    }
    let read_bytes: u64 = storage.take_reads().iter().map(|(_, length)| length).sum();
    assert!(read_bytes <= 2 * len as u64 + 400 * COST, "{read_bytes} bytes");
    assert!(reader.fetch(len as u64, 0).unwrap().is_empty());
}

#[test]
fn memory_is_served_as_it_lies() {
    let bytes: Arc<[u8]> = file(1000).into();
    let reader = reader(Arc::new(Memory::new(Arc::clone(&bytes))));
    let fetched = reader.fetch(10, 20).unwrap();
    assert_eq!(fetched.as_ptr(), bytes[10..].as_ptr());
    assert_eq!(fetched.slice(5..10)[..], bytes[15..20]);
    assert_eq!(fetched.slice(15..99)[..], bytes[25..30]);
    assert!(fetched.slice(30..40).is_empty());
}

#[test]
fn a_structure_gets_the_bytes_it_asks_for() {
    let mut bytes = file(100_000);
    bytes[5..9].copy_from_slice(&50_000u32.to_le_bytes());
    let reader = reader(Arc::new(CountingStorage::new(bytes.clone(), LOCAL)));
    let mut rounds = 0;
    let decoded = reader.structure(5, 2, |bytes| {
        rounds += 1;
        let mut cursor = Cursor::new(bytes, "block", 5);
        let len = cursor.u32()?;
        Ok(cursor.take(len as usize)?.to_vec())
    });
    assert_eq!((decoded.unwrap(), rounds), (bytes[9..50_009].to_vec(), 3));
}

#[test]
fn what_the_file_does_not_have_is_truncated() {
    let reader = reader(Arc::new(CountingStorage::new(file(100), LOCAL)));
    for (address, length) in [(90, 20), (100, 1), (u64::MAX, 8)] {
        let structure = reader.structure(address, 8, |bytes| {
            Cursor::new(bytes, "block", address).take(length).map(<[u8]>::to_vec)
        });
        let error = structure.unwrap_err();
        let ErrorKind::Structure(fault) = &error.kind else { panic!("{error}") };
        assert!(matches!(fault.kind, isotach_format::ErrorKind::Truncated { .. }), "{error}");
        assert!(matches!(
            reader.fetch(address, length as u64).unwrap_err().kind,
            ErrorKind::Storage { .. }
        ));
    }
    // A decoder that asks for what it has is not asked for ever.
    let stuck = reader.structure(0, 8, |bytes| {
        let kind = isotach_format::ErrorKind::NeedMore { bytes: bytes.len() as u64 };
        Err::<(), _>(isotach_format::Error { structure: "block", address: 0, kind })
    });
    assert!(stuck.is_err());
}

#[test]
fn failing_storage_is_an_error_and_no_more() {
    let reader = reader(Arc::new(FailingStorage::new(file(100_000), 1)));
    assert!(reader.fetch(0, 10).is_ok());
    let error = reader.fetch(50_000, 10).unwrap_err();
    assert!(error.to_string().contains("told to fail"), "{error}");
    assert!(reader.fetch(20, 10).is_ok());
}

#[test]
fn nothing_is_read_of_another_state_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changing");
    std::fs::write(&path, vec![1; 100_000]).unwrap();
    let writer = std::fs::File::options().write(true).open(&path).unwrap();
    // So long ago that another change shows in its times.
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(10);
    writer.set_modified(before).unwrap();
    let reader = reader(Arc::new(LocalFile::open(&path).unwrap()));
    let first = || reader.fetch(0, 4).unwrap().to_vec();
    assert_eq!(first(), [1; 4]);
    writer.write_at(&[2; 4], 0).unwrap();
    assert_eq!(first(), [1; 4], "of one state with all else that is kept");
    for _ in 0..2 {
        let error = reader.fetch(90_000, 4).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Changed), "{error}");
    }
    assert_eq!(first(), [1; 4]);
}

#[test]
fn what_is_cut_off_meanwhile_is_missed_where_it_is_wanted_only() {
    let storage = Arc::new(GrowingMemory::new(file(3000)));
    let reader = reader(Arc::clone(&storage) as _);
    storage.set_len(100).unwrap();
    assert_eq!(reader.fetch(0, 48).unwrap()[..], file(3000)[..48]);
    assert_eq!(reader.fetch(52, 48).unwrap()[..], file(3000)[52..100]);
    let error = reader.fetch(60, 48).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Storage { .. }), "{error}");
}
