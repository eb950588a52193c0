//! Damages files at random, opens them for writing, edits them: `open_to_write COUNT SEED FOLDER FINDINGS`.
//!
//! `open_to_write FINDING` tries one again. FOLDER has the files, in whatever depth. What breaks a promise (`hostile::open_to_write`), or takes longer than
//! some seconds, is written to the folder FINDINGS in the form that the fuzz target of the same name takes.

use std::error::Error;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use isotach_testkit::Random;
use isotach_testkit::hostile::{open_to_write, open_to_write_with};

/// Longer files are left out.
const FILE_BYTES: u64 = 200 << 10;
/// An unoptimised build on a busy machine takes less for all that is well.
const MOST_TIME: Duration = Duration::from_secs(20);
/// Numbers that sizes, counts and addresses like to go wrong with.
const NUMBERS: [u64; 12] = [
    0,
    1,
    2,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 32,
    1 << 40,
    1 << 44,
    1 << 62,
    u64::MAX,
    u64::MAX - 1,
    i64::MAX as u64,
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().ok_or_else(|| format!("which {what}?"));
    let first = next("count")?;
    if let Ok(finding) = std::fs::read(&first) {
        open_to_write(&finding);
        return Ok(());
    }
    let count: u64 = first.parse()?;
    let seed: u64 = next("seed")?.parse()?;
    let (folder, findings) = (next("folder")?, PathBuf::from(next("folder for findings")?));
    let mut paths = Vec::new();
    collect(Path::new(&folder), &mut paths)?;
    paths.sort();
    println!("{} files", paths.len());
    std::fs::create_dir_all(&findings)?;
    let (mut random, mut opened, mut found) = (Random::new(seed), 0, 0);
    let began = Instant::now();
    for number in 0..count {
        let file = std::fs::read(&paths[random.below(paths.len() as u64) as usize])?;
        let damaged = damage(file, &mut random);
        let len = random.below(24) as usize;
        let script = random.bytes(len);
        let input = [&[script.len() as u8], &script[..], &damaged].concat();
        match run(script, damaged) {
            Ok(was_opened) => opened += u64::from(was_opened),
            Err(reason) => {
                found += 1;
                let path = findings.join(format!("{seed}-{number}"));
                println!("{}: {reason}", path.display());
                std::fs::write(path, input)?;
            }
        }
    }
    println!("{count} tried, {opened} opened, {found} found, {:?}", began.elapsed());
    Ok(())
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.metadata()?.len() <= FILE_BYTES && is_array_file(&std::fs::read(&path)?) {
            into.push(path);
        }
    }
    Ok(())
}

fn is_array_file(bytes: &[u8]) -> bool {
    bytes.starts_with(b"CDF") || bytes.windows(8).take(4096).any(|at| at == b"\x89HDF\r\n\x1a\n")
}

/// What becomes of one input; a thread that never ends is left behind.
fn run(script: Vec<u8>, damaged: Vec<u8>) -> Result<bool, String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let outcome = catch_unwind(|| open_to_write_with(&script, &damaged));
        let _ = sender.send(outcome.map_err(|reason| match reason.downcast::<String>() {
            Ok(text) => text.chars().take(300).collect(),
            Err(_) => "a panic".to_owned(),
        }));
    });
    match receiver.recv_timeout(MOST_TIME) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => Err("takes too long".into()),
        Err(RecvTimeoutError::Disconnected) => Err("the thread is gone".into()),
    }
}

fn damage(mut file: Vec<u8>, random: &mut Random) -> Vec<u8> {
    // Headers are where the damage counts.
    let reach = match random.below(3) {
        0 => 256.min(file.len()),
        1 => 4096.min(file.len()),
        _ => file.len(),
    };
    for _ in 0..random.below(4) {
        if file.is_empty() {
            break;
        }
        let at = random.below(reach.min(file.len()).max(1) as u64) as usize;
        match random.below(6) {
            0 => file[at] ^= 1 << random.below(8),
            1 => file[at] = random.number() as u8,
            2 => put(&mut file, at, &NUMBERS[random.below(12) as usize].to_be_bytes()),
            3 => put(&mut file, at, &NUMBERS[random.below(12) as usize].to_le_bytes()),
            4 => put(&mut file, at, &(NUMBERS[random.below(12) as usize] as u32).to_be_bytes()),
            _ if random.below(3) == 0 => {
                let len = random.below(file.len() as u64) as usize;
                file.truncate(len);
            }
            _ => {
                let number = random.below(file.len() as u64 * 2);
                put(&mut file, at, &number.to_le_bytes());
            }
        }
    }
    if random.below(10) == 0 {
        let len = random.below(2000) as usize;
        file.extend(random.bytes(len));
    }
    file
}

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    let len = bytes.len().min(file.len() - at);
    file[at..at + len].copy_from_slice(&bytes[..len]);
}
