//! What the tests of the command share: the corpus, and running a program with a time limit.
#![allow(dead_code, unused_imports, reason = "each test file uses its part")]

pub mod classic;
pub mod differences;
pub mod texts;

pub use isotach_testkit::corpus;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The command under test.
pub fn isotach(arguments: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isotach"));
    ended(command.args(arguments), Duration::from_secs(60))
}

/// Whether there is the `ncdump` to compare with.
pub fn has_ncdump() -> bool {
    let version = Command::new("ncdump").stderr(Stdio::piped()).output();
    let told = version.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    let has = told.is_ok_and(|told| told.contains("netcdf library version 4.9.0"));
    if !has {
        eprintln!("LEFT OUT: there is no ncdump 4.9.0 (Debian's netcdf-bin)");
    }
    has
}

/// A program to compare with. What it shows of memory that it never wrote is the same each time, and it
/// finds the filters that hdf5plugin brings.
pub fn rival(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("MALLOC_PERTURB_", "85");
    if let Some(folder) = plugins() {
        command.env("HDF5_PLUGIN_PATH", folder);
    }
    command
}

/// Where hdf5plugin's filters are, in the virtual environment that `make` makes.
pub fn plugins() -> Option<PathBuf> {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let pythons = fs::read_dir(packages).into_iter().flatten().flatten();
    let mut folders = pythons.map(|found| found.path().join("site-packages/hdf5plugin/plugins"));
    folders.find(|folder| folder.is_dir())
}

/// Whether there is time for more cases.
pub fn tries_more() -> bool {
    std::env::var_os("ISOTACH_MORE_CASES").is_some_and(|value| value != "0")
}

/// What a program left behind.
#[derive(Debug)]
pub struct Ended {
    /// `None` where a signal or the time limit ended it.
    pub code: Option<i32>,
    pub in_time: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ended {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| {
            panic!("{error}: {}\n{}", self.text(), self.stderr);
        })
    }

    /// Its own words for why it failed, in one line.
    pub fn why(&self) -> String {
        match (self.code, self.in_time) {
            (_, false) => "does not end".to_owned(),
            (None, _) => format!("dies: {}", self.stderr.lines().next().unwrap_or("by a signal")),
            (Some(_), _) => self.stderr.lines().next().unwrap_or("says nothing").to_owned(),
        }
    }
}

/// Runs a command to its end, or kills it when its time is over.
pub fn ended(command: &mut Command, patience: Duration) -> Ended {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = read_aside(child.stdout.take().unwrap());
    let stderr = read_aside(child.stderr.take().unwrap());
    let (code, in_time) = wait(&mut child, patience);
    let stdout = stdout.join().unwrap();
    let stderr = String::from_utf8_lossy(&stderr.join().unwrap()).into_owned();
    Ended { code, in_time, stdout, stderr }
}

fn read_aside(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

fn wait(child: &mut Child, patience: Duration) -> (Option<i32>, bool) {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), true);
        }
        if begin.elapsed() > patience {
            child.kill().unwrap();
            child.wait().unwrap();
            return (None, false);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
