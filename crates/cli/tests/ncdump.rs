//! Every file of the corpus: `isotach dump` beside Debian's `ncdump`, byte for byte.
//!
//! Where the two differ for a reason, the reason stands in `ncdump_differs.txt`; see
//! `support/differences.rs`. Each run tries every file and all options, but not all of them with
//! each other (`ncdump_options.rs` does); `ISOTACH_MORE_CASES=1` tries more than twice as many pairs.

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use support::differences::{Case, Difference, How, Tried, compare, files, listed};
use support::{Ended, corpus, ended, has_ncdump, tries_more};

/// Options for every second netCDF file, the others for those between.
const FOR_ALL: [&str; 6] = ["-h", "", "-s -h", "-c", "-k", "-t -h"];
/// Options for every 14th netCDF file, each for others. `VARS` and `GROUP` stand for the first
/// variables and the first group of the file; where it has none the case is left out.
const SAMPLES: [&str; 21] = [
    "-f c",
    "-f f",
    "-b c",
    "-b f -l 60",
    "-p 3",
    "-p 9,17",
    "-l 40",
    "-n other-name",
    "-x",
    "-x -h",
    "-t",
    "-i",
    "-i -t -c",
    "-t -i -p 4,8",
    "-F -s",
    "-v VARS",
    "-v VARS -b c -t",
    "-v VARS -g GROUP",
    "-g GROUP",
    "-g GROUP -s -f c",
    "-w",
];
const SAMPLED: usize = 14;
/// Options for the other HDF5 files, one for each file.
const FOR_HDF5: [&str; 4] = ["-h", "-s -h", "", "-s -F -h"];
/// Their shapes alone make the dump endless.
const ENDLESS: [&str; 2] = ["hdf5-1.10.8/bounds_sel_latest_latest.h5", "hdf5-1.14.5/tbigdims.h5"];
/// For both programs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// For ncdump where it is known to hang: it follows some cycles of links for ever.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);

fn netcdf_cases(files: &[Tried]) -> Vec<Case<'_>> {
    let netcdf = files.iter().filter(|file| file.is(&["classic", "netcdf4"]));
    let mut cases = Vec::new();
    for (index, file) in netcdf.enumerate() {
        let is_tried = |at: usize, every: usize| (at + index).is_multiple_of(every);
        let (common_every, sampled_every) = if tries_more() { (1, 7) } else { (2, SAMPLED) };
        let common = FOR_ALL.iter().enumerate().filter(|(at, _)| is_tried(*at, common_every));
        // Few files have groups: all of them are tried.
        let sampled = SAMPLES
            .iter()
            .enumerate()
            .filter(|(at, options)| is_tried(*at, sampled_every) || options.contains("GROUP"));
        cases.extend(common.chain(sampled).map(|(_, options)| (*options, file)));
    }
    cases
}

fn hdf5_cases(files: &[Tried]) -> Vec<Case<'_>> {
    let hdf5 = files.iter().filter(|file| file.is(&["hdf5"]));
    let mut cases = Vec::new();
    for (index, file) in hdf5.enumerate() {
        let is_endless = ENDLESS.contains(&file.path.as_str());
        let tried = FOR_HDF5.iter().enumerate().filter(|(at, options)| {
            // Of files whose elements have no end there are only headers.
            let is_sampled = (at + index).is_multiple_of(FOR_HDF5.len()) || is_endless;
            (tries_more() || is_sampled) && (!is_endless || options.contains("-h"))
        });
        cases.extend(tried.map(|(_, options)| (*options, file)));
    }
    cases
}

/// Runs both programs.
fn difference(root: &Path, (template, file): Case<'_>, patience: Duration) -> Difference {
    let options = file.options(template)?;
    let path = root.join(&file.path);
    let run = |program: &str, first: &[&str], patience: Duration| -> Ended {
        let mut command = Command::new(program);
        command.args(first).args(&options).arg(&path);
        ended(&mut command, patience)
    };
    let theirs = run("ncdump", &[], patience);
    let ours = run(env!("CARGO_BIN_EXE_isotach"), &["dump"], PATIENCE);
    assert!(ours.code.is_some(), "{options:?} {}: ours dies or does not end", file.path);
    let how = match (theirs.code == Some(0), ours.code == Some(0)) {
        (true, true) if theirs.stdout == ours.stdout => return None,
        // Neither writes as NcML what it cannot say.
        (false, false) if theirs.stdout == ours.stdout => return None,
        (_, false) => How::Both,
        (false, true) if ours.stdout.starts_with(&theirs.stdout) => match theirs.in_time {
            true => How::Fails,
            false => How::Hangs,
        },
        _ => How::Errs,
    };
    Some((how, theirs.why()))
}

fn compare_with_ncdump(root: &Path, cases: &[Case<'_>]) {
    let listed = listed(include_str!("ncdump_differs.txt"));
    compare(cases, &listed, |case| {
        let hangs = listed.iter().any(|entry| entry.0 == How::Hangs && entry.2 == case.1.path);
        difference(root, case, if hangs { SHORT_PATIENCE } else { PATIENCE })
    });
}

#[test]
fn netcdf_files_dump_as_ncdump_dumps_them() {
    let Some(root) = corpus().filter(|_| has_ncdump()) else { return };
    let files = files(&root);
    let cases = netcdf_cases(&files);
    assert!(cases.len() > 1000, "only {} cases in the corpus", cases.len());
    compare_with_ncdump(&root, &cases);
}

#[test]
fn hdf5_files_dump_as_ncdump_dumps_them() {
    let Some(root) = corpus().filter(|_| has_ncdump()) else { return };
    let files = files(&root);
    let cases = hdf5_cases(&files);
    assert!(cases.len() > 400, "only {} cases in the corpus", cases.len());
    compare_with_ncdump(&root, &cases);
}
