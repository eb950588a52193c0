//! Programs whose reads of some files fail, as `strace` has the kernel answer them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::ReadFault;

/// Files of which single reads fail.
pub struct FailingFiles {
    files: Vec<PathBuf>,
    log: tempfile::TempDir,
}

/// What a program did.
pub struct Ended {
    /// What it printed, and how it ended.
    pub output: Output,
    /// How often it read one of the files.
    pub reads: u64,
}

impl FailingFiles {
    /// `None`, said aloud, where there is no `strace`, or it may not look at programs.
    pub fn new(files: &[&Path]) -> Option<Self> {
        let is_there = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
        if !is_there.is_ok_and(|tried| tried.status.success()) {
            eprintln!("LEFT OUT: there is no strace that can trace a program");
            return None;
        }
        let files = files.iter().map(|file| file.to_path_buf()).collect();
        Some(Self { files, log: tempfile::tempdir().expect("a folder for a log") })
    }

    /// Runs a program of which the read with that number fails, the first being 1.
    pub fn run(&self, program: &mut Command, fault: Option<(u64, ReadFault)>) -> Ended {
        let log = self.log.path().join("log");
        let mut traced = Command::new("strace");
        traced.arg("-f").arg("-o").arg(&log);
        for file in &self.files {
            traced.arg("-P").arg(file);
        }
        traced.args(["-e", "trace=pread64"]);
        if let Some((number, fault)) = fault {
            let (answer, from) = match fault {
                ReadFault::Once => ("error=EIO", ""),
                ReadFault::ForEver => ("error=EIO", "+"),
                ReadFault::Short => ("retval=0", ""),
            };
            traced.args(["-e", &format!("inject=pread64:{answer}:when={number}{from}")]);
        }
        traced.arg(program.get_program()).args(program.get_args());
        let set =
            program.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsString::from)));
        for (name, value) in set {
            match value {
                Some(value) => traced.env(name, value),
                None => traced.env_remove(name),
            };
        }
        let output = traced.output().expect("strace was there before");
        let log = std::fs::read_to_string(&log).expect("strace writes its log");
        Ended { output, reads: log.lines().filter(|line| line.contains("pread64(")).count() as u64 }
    }
}
