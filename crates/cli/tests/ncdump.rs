//! Every file of the corpus: `isotach dump` beside Debian's `ncdump`, byte for byte.
//!
//! `ncdump` leaves out what netCDF has no type for, and ours shows it. Of files with such types, by the
//! corpus's answer from h5py, all that `ncdump` shows has to be in ours, in that order. Made-up names
//! have other numbers then. Two more rules hold for all files: ours tells the stored type of small
//! floats in a comment, and `ncdump -f f` counts a scalar's index from memory that it never wrote.
//!
//! Where the two differ for another reason, the reason stands in `ncdump_differs.txt`; see
//! `support/differences.rs`. Each run tries every file and all options, but not all of them with
//! each other (`ncdump_options.rs` does); `ISOTACH_MORE_CASES=1` tries more than twice as many pairs.

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use support::differences::{Case, Difference, How, Tried, compare, files, listed};
use support::{Ended, corpus, ended, has_ncdump, rival, tries_more};

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
/// What ours says of floats that are shown as wider ones.
const SMALL_FLOATS: [&str; 3] = ["float16", "bfloat16", "float8"];
/// Numbers as h5py tells of them, for which netCDF has types.
const NUMBERS: [&str; 20] = [
    "i1le", "i1be", "u1le", "u1be", "i2le", "i2be", "u2le", "u2be", "i4le", "i4be", "u4le", "u4be",
    "i8le", "i8be", "u8le", "u8be", "f4le", "f4be", "f8le", "f8be",
];
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
    let run = |mut command: Command, patience: Duration| -> Ended {
        ended(command.args(&options).arg(&path), patience)
    };
    let mut theirs = run(rival("ncdump"), patience);
    let mut isotach = Command::new(env!("CARGO_BIN_EXE_isotach"));
    isotach.arg("dump");
    let mut ours = run(isotach, PATIENCE);
    assert!(ours.code.is_some(), "{options:?} {}: ours dies or does not end", file.path);
    if template.contains("-f f") {
        theirs.stdout = with_index_of_scalars(&theirs.stdout, file);
    }
    ours.stdout = without_stored_types(&ours.stdout);
    let goes_on = ours.stdout.starts_with(&theirs.stdout);
    let how = match (theirs.code == Some(0), ours.code == Some(0)) {
        (true, true) if theirs.stdout == ours.stdout => return None,
        (true, true) if has_other_types(file) && is_part(&theirs.stdout, &ours.stdout) => {
            return None;
        }
        // Neither shows all of it.
        (false, false) if goes_on => return None,
        (_, false) => How::Lacks,
        (false, true) if goes_on && !theirs.in_time => How::Hangs,
        (false, true) if goes_on => How::Fails,
        _ => How::Errs,
    };
    Some((how, theirs.why()))
}

/// Lines without what ours says of floats of two bytes and less.
fn without_stored_types(shown: &[u8]) -> Vec<u8> {
    let line = |line: &[u8]| {
        let comments = SMALL_FLOATS.map(|name| format!(" // {name}").into_bytes());
        let comment = comments.iter().find(|comment| line.ends_with(comment));
        line[..line.len() - comment.map_or(0, Vec::len)].to_vec()
    };
    shown.split(|&byte| byte == b'\n').map(line).collect::<Vec<_>>().join(&b'\n')
}

/// Lines with 1 for the index of scalars.
fn with_index_of_scalars(shown: &[u8], file: &Tried) -> Vec<u8> {
    let variables = file.golden["netcdf"]["root"]["vars"].as_array();
    let scalars =
        variables.into_iter().flatten().filter(|one| one["shape"] == Value::Array(vec![]));
    let marks: Vec<Vec<u8>> = scalars
        .filter_map(|scalar| Some(format!("  // {}(", scalar["name"].as_str()?).into_bytes()))
        .collect();
    let line = |line: &[u8]| {
        let mark = marks.iter().find_map(|mark| {
            let at = line.windows(mark.len()).position(|window| window == mark)?;
            let index = line[at + mark.len()..].strip_suffix(b")")?;
            index.iter().all(u8::is_ascii_digit).then_some(at + mark.len())
        });
        mark.map_or_else(|| line.to_vec(), |at| [&line[..at], b"1)"].concat())
    };
    shown.split(|&byte| byte == b'\n').map(line).collect::<Vec<_>>().join(&b'\n')
}

/// Whether h5py tells of a type in the file that is no number and no string.
fn has_other_types(file: &Tried) -> bool {
    let is_other = |holder: &Value| {
        holder["type"].as_str().is_some_and(|name| {
            let is_string = name.starts_with("str[") || name.starts_with("vstr[");
            !is_string && !NUMBERS.contains(&name)
        })
    };
    let objects = file.golden["hdf5"]["objects"].as_object();
    objects.into_iter().flatten().any(|(_, object)| {
        let attributes = object["attrs"].as_object();
        is_other(object) || attributes.into_iter().flatten().any(|(_, found)| is_other(found))
    })
}

/// Whether all lines of one are among those of the other, in that order; but for the numbers of
/// dimensions and types that have no name in the file.
fn is_part(theirs: &[u8], ours: &[u8]) -> bool {
    let lines = |shown: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(shown).lines().map(without_made_up_numbers).collect()
    };
    let ours = lines(ours);
    let mut rest = ours.iter();
    lines(theirs).iter().all(|line| rest.any(|other| other == line))
}

fn without_made_up_numbers(line: &str) -> String {
    let mut line = line.to_owned();
    for made_up in ["phony_dim_", "_AnonymousCompound", "_AnonymousEnum", "_AnonymousVlen"] {
        let mut parts = line.split(made_up);
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        line = rest.fold(first, |line, part| line + made_up + part);
    }
    line
}

fn compare_with_ncdump(root: &Path, cases: &[Case<'_>]) {
    let listed = listed(include_str!("ncdump_differs.txt"));
    compare(cases, &listed, |case| {
        let hangs = listed.iter().any(|entry| entry.how == How::Hangs && entry.file == case.1.path);
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
