//! The C interface on files of which any single read fails: each answer is the one that it always is, or an error
//! with the operating system's number; and after that, the same id has the whole file.

mod support;

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::ptr::null_mut;

use isotach_testkit::{FailingFiles, ReadFault, corpus};
use support::*;

const FILES: [&str; 6] = [
    "netcdf-c/ref_nc_test_netcdf4_4_0.nc",
    "netcdf-c/nctest_netcdf4_classic.nc",
    "netcdf4-python/test_gold.nc",
    "derived/groups_latest.h5",
    "derived/types_latest.h5",
    "derived/alltypes_cdf5.nc",
];
/// Reads that fail, one at a time, of each; all of them with `ISOTACH_LONG_TESTS`.
const POSITIONS: u64 = 16;
/// Names the file that this program shows, when it runs itself.
const SHOWN: &str = "ISOTACH_TEST_SHOWN";
const EIO: c_int = 5;

#[test]
fn each_answer_is_the_same_or_an_error() {
    if let Some(path) = std::env::var_os(SHOWN) {
        print!("{}", shown_twice(Path::new(&path)));
        return;
    }
    let Some(root) = corpus() else { return };
    let (mut tried, mut failed, mut findings) = (0, 0, Vec::new());
    for name in FILES {
        let path = root.join(name);
        let Some(files) = FailingFiles::new(&[&path]) else { return };
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "each_answer_is_the_same_or_an_error", "--nocapture"]);
        program.env(SHOWN, &path).env("ISOTACH_THREADS", "1");
        let expected = files.run(&mut program, None);
        let [once, again] = both(&expected.output.stdout);
        assert!(!once.contains("FAILED") && once == again && once.lines().count() > 5, "{once}");
        let is_long = std::env::var_os("ISOTACH_LONG_TESTS").is_some();
        let step = if is_long { 1 } else { expected.reads.div_ceil(POSITIONS) };
        for position in (1..=expected.reads).step_by(step as usize) {
            for fault in ReadFault::ALL {
                let ended = files.run(&mut program, Some((position, fault)));
                tried += 1;
                let mut find = |what: &str| {
                    findings.push(format!("{name}, read {position}, {fault:?}: {what}"));
                };
                if !ended.output.status.success() {
                    find(&String::from_utf8_lossy(&ended.output.stderr));
                    continue;
                }
                let [first, second] = both(&ended.output.stdout);
                let told = match fault {
                    ReadFault::Once | ReadFault::ForEver => EIO,
                    ReadFault::Short => Status::EIO.0,
                };
                let mut has_failed = false;
                for shown in [&first, &second] {
                    match shown.lines().find_map(|line| line.strip_prefix("FAILED ")) {
                        // One read fails: what comes after that has to be right.
                        Some(_) if has_failed && fault != ReadFault::ForEver => {
                            find("fails ever after");
                        }
                        Some(status) if status.parse() == Ok(told) => has_failed = true,
                        Some(status) => find(&format!("status {status}")),
                        None if *shown != once => find("another file"),
                        None => {}
                    }
                }
                failed += u64::from(has_failed);
            }
        }
    }
    println!("{tried} tries, {failed} failed, {} findings", findings.len());
    assert!(findings.is_empty(), "{} of {tried}:\n{}", findings.len(), findings.join("\n"));
    assert!(tried > 100 && failed > tried / 4, "{failed} of {tried}");
}

/// What the program showed first, and then.
fn both(output: &[u8]) -> [String; 2] {
    let text = String::from_utf8_lossy(output);
    let mut parts = text.split("SHOWN\n").skip(1);
    [(); 2].map(|()| parts.next().unwrap_or_default().split("END\n").next().unwrap().to_owned())
}

/// All that the interface tells of a file, twice by the same id. Where the file does not open, it is opened again.
fn shown_twice(path: &Path) -> String {
    let mut out = String::new();
    let mut id = None;
    for _ in 0..2 {
        out.push_str("SHOWN\n");
        let told = match id {
            Some(id) => show(id, &mut out),
            None => opened(path).and_then(|opened| {
                id = Some(opened);
                show(opened, &mut out)
            }),
        };
        if let Err(status) = told {
            writeln!(out, "FAILED {status}").unwrap();
        }
        out.push_str("END\n");
    }
    out
}

fn opened(path: &Path) -> Result<c_int, c_int> {
    let (path, mut id) = (c_path(path), 0);
    // SAFETY: a string and a place for an id.
    ok(unsafe { nc_open(path.as_ptr(), 0, &mut id) })?;
    Ok(id)
}

fn ok(status: c_int) -> Result<(), c_int> {
    if status == 0 { Ok(()) } else { Err(status) }
}

/// A place for a name.
type Name = [c_char; 257];

fn text(name: &Name) -> String {
    // SAFETY: the interface ends names with a zero.
    unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned()
}

fn show(group: c_int, out: &mut String) -> Result<(), c_int> {
    let (mut dimensions, mut variables, mut attributes, mut unlimited) = (0, 0, 0, 0);
    // SAFETY: places for numbers.
    ok(unsafe { nc_inq(group, &mut dimensions, &mut variables, &mut attributes, &mut unlimited) })?;
    writeln!(out, "{dimensions} {variables} {attributes} {unlimited}").unwrap();
    let mut ids = vec![0; dimensions as usize];
    // SAFETY: places for as many ids as there are.
    ok(unsafe { nc_inq_dimids(group, &mut dimensions, ids.as_mut_ptr(), 0) })?;
    for id in ids {
        let (mut name, mut len) = ([0; 257], 0);
        // SAFETY: room for a name, a place for a length.
        ok(unsafe { nc_inq_dim(group, id, name.as_mut_ptr(), &mut len) })?;
        writeln!(out, "dimension {id} {} {len}", text(&name)).unwrap();
    }
    show_attributes(group, NC_GLOBAL, attributes, out)?;
    for id in 0..variables {
        show_variable(group, id, out)?;
    }
    let mut count = 0;
    // SAFETY: a place for a count, and then for as many ids.
    ok(unsafe { nc_inq_grps(group, &mut count, null_mut()) })?;
    let mut groups = vec![0; count as usize];
    // SAFETY: as above.
    ok(unsafe { nc_inq_grps(group, &mut count, groups.as_mut_ptr()) })?;
    for below in groups {
        let mut name = [0; 257];
        // SAFETY: room for a name.
        ok(unsafe { nc_inq_grpname(below, name.as_mut_ptr()) })?;
        writeln!(out, "group {}", text(&name)).unwrap();
        show(below, out)?;
    }
    Ok(())
}

fn show_variable(group: c_int, id: c_int, out: &mut String) -> Result<(), c_int> {
    let mut name: Name = [0; 257];
    let (mut kind, mut rank, mut count) = (0, 0, 0);
    let mut along = [0; 1024];
    // SAFETY: room for a name and for the ids of as many dimensions as there can be, places for numbers.
    ok(unsafe {
        let name = name.as_mut_ptr();
        nc_inq_var(group, id, name, &mut kind, &mut rank, along.as_mut_ptr(), &mut count)
    })?;
    let along = &along[..rank as usize];
    writeln!(out, "variable {} {kind} {along:?}", text(&name)).unwrap();
    show_attributes(group, id, count, out)?;
    let mut elements = 1;
    for &dimension in along {
        let mut len = 0;
        // SAFETY: a place for a length.
        ok(unsafe { nc_inq_dimlen(group, dimension, &mut len) })?;
        elements *= len;
    }
    // Numbers only, and not too many.
    if (3..=11).contains(&kind) && elements < 5000 {
        let mut values = vec![0.0_f64; elements];
        // SAFETY: memory for all elements.
        match unsafe { nc_get_var_double(group, id, values.as_mut_ptr()) } {
            0 | ERANGE => writeln!(out, "  {values:?}").unwrap(),
            status => return Err(status),
        }
    }
    Ok(())
}

fn show_attributes(
    group: c_int,
    variable: c_int,
    count: c_int,
    out: &mut String,
) -> Result<(), c_int> {
    for number in 0..count {
        let mut name: Name = [0; 257];
        let (mut kind, mut len) = (0, 0);
        // SAFETY: room for a name, places for a type and a length.
        ok(unsafe { nc_inq_attname(group, variable, number, name.as_mut_ptr()) })?;
        // SAFETY: as above.
        ok(unsafe { nc_inq_att(group, variable, name.as_ptr(), &mut kind, &mut len) })?;
        writeln!(out, "  {}: {kind} {len}", text(&name)).unwrap();
        if kind == NC_CHAR {
            let mut chars = vec![0_u8; len + 1];
            // SAFETY: memory for all chars.
            ok(unsafe {
                nc_get_att_text(group, variable, name.as_ptr(), chars.as_mut_ptr().cast())
            })?;
            writeln!(out, "    {:?}", String::from_utf8_lossy(&chars)).unwrap();
        }
    }
    Ok(())
}
