//! Readers and a writer in processes, any of which is killed at any moment: what a reader shows is one committed state,
//! and never an earlier one than before.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use isotach::{EditOptions, ErrorKind, File, OpenOptions};
use isotach_testkit::Random;

#[path = "support/records.rs"]
mod records;
use records::{WIDTH, by_hand, create, look, put};

/// Says which part a process has that this test starts: `writer`, or how a reader reads.
const ROLE: &str = "ISOTACH_TEST_ROLE";
const PATH: &str = "ISOTACH_TEST_PATH";
/// Switches locks off, as on a file system where they do not reach everybody.
const LOCKS: &str = "ISOTACH_RANGE_LOCKS";
const READERS: [&str; 4] = ["fresh", "held", "refreshing", "snapshot"];
/// Records, of which a commit writes all anew and may add some.
const FEWEST: u64 = 4;

fn seconds() -> Duration {
    let long = std::env::var("ISOTACH_LONG_TESTS").ok().map(|text| text.parse().unwrap_or(60));
    Duration::from_secs(long.unwrap_or(3))
}

/// What one of the processes does, until it is killed; as a test, nothing.
#[test]
fn part() {
    let (Ok(role), Ok(path)) = (std::env::var(ROLE), std::env::var(PATH)) else { return };
    match role.as_str() {
        "writer" => write(Path::new(&path)),
        _ => read(Path::new(&path), &role),
    }
}

/// Sessions of a few commits each, one after the other.
fn write(path: &Path) -> ! {
    let mut random = Random::new(u64::from(std::process::id()));
    loop {
        let options = EditOptions { lock: false, ..by_hand() };
        let writer = options.open(path).unwrap();
        let found = writer.file().root().attribute("number").unwrap().unwrap().values().unwrap();
        let isotach::model::Values::I32(found) = found else { panic!("{found:?}") };
        let mut number = found[0];
        for _ in 0..1 + random.below(5) {
            number += 1;
            put(&writer, FEWEST + (number as u64 / 16).min(20), number).unwrap();
            writer.commit().unwrap();
            println!("w {number}");
        }
        if random.below(4) > 0 {
            writer.close().unwrap();
        } else {
            writer.discard().unwrap();
        }
    }
}

/// Tells of each look what it met.
fn read(path: &Path, role: &str) -> ! {
    let options = OpenOptions { snapshot: role == "snapshot", ..OpenOptions::default() };
    let open = || {
        let begun = Instant::now();
        loop {
            match options.open(path) {
                Err(error) if matches!(error.kind, ErrorKind::Changed) => {
                    assert!(begun.elapsed() < Duration::from_secs(30), "{error}");
                }
                opened => return opened.unwrap(),
            }
        }
    };
    let mut file = open();
    // The number that was seen last, in this handle or, where it moves on, in those before.
    let (mut last, mut looks) = (0, 0);
    let moves_on = matches!(role, "fresh" | "refreshing");
    // Where nobody holds a state by a lock, a snapshot may be told that it is gone.
    let may_change = role != "snapshot" || std::env::var_os(LOCKS).is_some_and(|it| it == "off");
    loop {
        looks += 1;
        match role {
            "fresh" => file = open(),
            "refreshing" => drop(file.refresh()),
            _ if looks % 20 == 0 => (file, last) = (open(), 0),
            _ => {}
        }
        match look(&file) {
            Ok((count, number)) => {
                assert!(number >= last, "{number} after {last}");
                assert!(moves_on || last == 0 || number == last, "{number} after {last}");
                last = number;
                println!("o {}", count * 3);
            }
            Err(error) if matches!(error.kind, ErrorKind::Changed) && may_change => {
                println!("c 0");
                file = open();
                last = if moves_on { last } else { 0 };
            }
            Err(error) => panic!("{error}"),
        }
        let _ = std::io::stdout().flush();
    }
}

struct Part {
    role: &'static str,
    child: Child,
}

fn start(path: &Path, role: &'static str, locks: &str) -> Part {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "part", "--nocapture"])
        .env(ROLE, role)
        .env(PATH, path)
        .env(LOCKS, locks);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    Part { role, child }
}

#[derive(Debug, Default)]
struct Count {
    commits: u64,
    looks: u64,
    rows: u64,
    changed: u64,
    killed: u64,
    complaints: Vec<String>,
}

impl Count {
    fn add(&mut self, line: &str) {
        match line.split_once(' ') {
            Some(("w", _)) => self.commits += 1,
            Some(("o", rows)) => {
                self.looks += 1;
                self.rows += rows.parse::<u64>().unwrap_or(0);
            }
            Some(("c", _)) => self.changed += 1,
            _ => {}
        }
    }
}

/// Lets a part work for a while, kills it, and starts it again; until time is up.
fn keep(path: &Path, role: &'static str, locks: &str, seed: u64, count: &Mutex<Count>) {
    let mut random = Random::new(seed);
    let begun = Instant::now();
    while begun.elapsed() < seconds() {
        let mut part = start(path, role, locks);
        let out = BufReader::new(part.child.stdout.take().unwrap());
        let pause = Duration::from_millis(200 + random.below(600));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for line in out.lines().map_while(Result::ok) {
                    count.lock().unwrap().add(&line);
                }
            });
            std::thread::sleep(pause);
            let ended = part.child.try_wait().unwrap();
            part.child.kill().unwrap();
            let output = part.child.wait_with_output().unwrap();
            let mut count = count.lock().unwrap();
            match ended {
                Some(status) => {
                    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
                    count.complaints.push(format!("{}: {status}: {complaint}", part.role));
                }
                None => count.killed += 1,
            }
        });
    }
}

/// Has all of them at work, with locks that work or not.
fn hammer(locks: &str) -> Count {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("file.nc");
    let writer = create(&path);
    put(&writer, FEWEST, 1).unwrap();
    writer.close().unwrap();
    let count = Mutex::new(Count::default());
    std::thread::scope(|scope| {
        for (seed, role) in ["writer"].into_iter().chain(READERS).enumerate() {
            let (path, count) = (&path, &count);
            scope.spawn(move || keep(path, role, locks, seed as u64, count));
        }
    });
    let count = count.into_inner().unwrap();
    println!("{count:?}, {WIDTH} values in a row, {} bytes", path.metadata().unwrap().len());
    assert!(count.complaints.is_empty(), "{}", count.complaints.join("\n"));
    look(&File::open(&path).unwrap()).unwrap();
    count
}

#[test]
fn whoever_is_killed_readers_see_one_state() {
    let count = hammer("on");
    assert!(count.commits > 3 && count.looks > 20 && count.killed > 5, "{count:?}");
}

#[test]
fn where_locks_do_not_work_readers_see_one_state() {
    let count = hammer("off");
    assert!(count.commits > 3 && count.killed > 5, "{count:?}");
}
