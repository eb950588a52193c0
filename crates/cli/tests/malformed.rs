//! `isotach check` on every malformed file of the corpus: it ends, in 20 seconds of a processor and 2 GiB.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use support::{corpus, ended};

const CPU_SECONDS: u64 = 20;
/// For what waits without working, on whatever machine.
const PATIENCE: Duration = Duration::from_secs(300);
const MEMORY_KIB: u64 = 2 << 20;

fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![root.join("malformed"), root.join("drivers")];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let about = path.extension().is_some_and(|end| end == "csv" || end == "json");
            match path.is_dir() {
                true => waiting.push(path),
                false if about => {}
                false => found.push(path.to_string_lossy().into_owned()),
            }
        }
    }
    found
}

#[test]
fn malformed_files_are_survived() {
    let Some(root) = corpus() else { return };
    let files = files(&root);
    assert!(files.len() > 350, "only {} malformed files in the corpus", files.len());
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            // The limits are the shell's, which then becomes the command.
            let limits = format!("ulimit -v {MEMORY_KIB} && ulimit -t {CPU_SECONDS}");
            let script = format!("{limits} && exec \"$0\" check --json \"$1\"");
            let mut command = Command::new("sh");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_isotach"), file]);
            let ended = ended(&mut command, PATIENCE);
            let told: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap_or_default();
            let findings = told["findings"].as_array().map(Vec::len);
            let is_right = match (ended.code, findings) {
                (Some(0), Some(0)) => true,
                (Some(1 | 3), Some(count)) => count > 0,
                _ => false,
            };
            if !is_right || !ended.stderr.is_empty() {
                let why = format!("{file}: {:?}, {}", ended.code, ended.stderr);
                wrong.lock().unwrap().push(why);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
