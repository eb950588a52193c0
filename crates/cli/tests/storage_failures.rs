//! The command on files of which any single read fails: it says what it always says, or that it failed.

mod support;

use std::path::PathBuf;
use std::process::Command;

use isotach_testkit::{FailingFiles, ReadFault};
use support::corpus;

/// Files of each kind, and those that they refer to.
const FILES: [&[&str]; 9] = [
    &["netcdf-c/ref_nc_test_netcdf4_4_0.nc"],
    &["netcdf-c/nctest_netcdf4_classic.nc"],
    &["netcdf-c/ref_groups.h5"],
    &["netcdf-c/tdset.h5"],
    &["netcdf4-python/test_gold.nc"],
    &["derived/groups_latest.h5"],
    &["derived/alltypes_cdf5.nc"],
    &["derived/external_raw.h5", "derived/raw1.bin", "derived/raw2.bin"],
    &["derived/vds.h5", "derived/vds_src0.h5", "derived/vds_src1.h5", "derived/vds_src2.h5"],
];
/// Reads that fail, one at a time, of each; all of them with `ISOTACH_LONG_TESTS`.
const POSITIONS: u64 = 8;

#[test]
fn the_command_says_the_same_or_fails() {
    let Some(root) = corpus() else { return };
    let (mut tried, mut failed, mut findings) = (0, 0, Vec::new());
    for (number, names) in FILES.iter().enumerate() {
        let paths: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
        let all: Vec<_> = paths.iter().map(PathBuf::as_path).collect();
        let Some(files) = FailingFiles::new(&all) else { return };
        let subcommands: [&[&str]; 4] =
            [&["dump", "-h"], &["dump"], &["info"], &["dump", "--json"]];
        // Each file with one way to show it; the long test takes all.
        let is_long = std::env::var_os("ISOTACH_LONG_TESTS").is_some();
        let chosen = if is_long { &subcommands[..] } else { &subcommands[number % 4..][..1] };
        for arguments in chosen {
            let mut command = Command::new(env!("CARGO_BIN_EXE_isotach"));
            command.args(*arguments).arg(&paths[0]).env("ISOTACH_THREADS", "1");
            let expected = files.run(&mut command, None);
            assert!(expected.reads > 0, "{names:?}: nothing was read with pread64");
            let step = if is_long { 1 } else { expected.reads.div_ceil(POSITIONS) };
            for position in (1..=expected.reads).step_by(step as usize) {
                for fault in ReadFault::ALL {
                    let ended = files.run(&mut command, Some((position, fault)));
                    tried += 1;
                    let told = String::from_utf8_lossy(&ended.output.stderr);
                    let words =
                        if fault == ReadFault::Short { "fewer bytes" } else { "os error 5" };
                    if ended.output.status.code() == Some(1) && told.contains(words) {
                        failed += 1;
                    } else if ended.output != expected.output {
                        let what =
                            format!("{arguments:?} {}, read {position}, {fault:?}", names[0]);
                        findings.push(format!("{what}: {}, {told}", ended.output.status));
                    }
                }
            }
        }
    }
    println!("{tried} tries, {failed} failed, {} findings", findings.len());
    assert!(findings.is_empty(), "{} of {tried}:\n{}", findings.len(), findings.join("\n"));
    assert!(tried > 100 && failed > tried / 4, "{failed} of {tried}");
}
