//! `ISOTACH_TRACE`: what a program does stands in the file, call by call.

mod support;

use std::path::Path;
use std::ptr::null;

use serde_json::{Value, json};
use support::*;

/// Writes six numbers along an unlimited dimension and reads some of them.
fn work(path: &Path) {
    let path = c_path(path);
    let (mut id, mut dimension, mut variable) = (0, 0, 0);
    let mut values = [1, 2, 3, 4, 5, 6];
    let mut value = 0.0;
    // SAFETY: strings, places for ids, and lists with an entry for the one dimension; memory for all
    // values that are asked for.
    unsafe {
        assert_eq!(nc_create(path.as_ptr(), NC_NETCDF4, &mut id), 0);
        assert_eq!(nc_def_dim(id, c"x".as_ptr(), NC_UNLIMITED, &mut dimension), 0);
        assert_eq!(nc_def_var(id, c"v".as_ptr(), NC_INT, 1, &dimension, &mut variable), 0);
        assert_eq!(nc_put_vara_int(id, variable, &0, &6, values.as_ptr()), 0);
        assert_eq!(nc_close(id), 0);
        assert_eq!(nc_open(path.as_ptr(), 0, &mut id), 0);
        assert_eq!(nc_get_vars_int(id, variable, &1, &2, &3, values.as_mut_ptr()), 0);
        assert_eq!(nc_get_vars_int(id, variable, &9, &2, null(), values.as_mut_ptr()), -40);
        for index in 0..2 {
            assert_eq!(nc_get_var1_double(id, variable, &index, &mut value), 0);
        }
        assert_eq!(nc_close(id), 0);
        assert_eq!(nc_close(id), -33);
    }
    assert_eq!((values[..2].to_vec(), value), (vec![2, 5], 2.0));
}

#[test]
fn calls_are_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, path) = (folder.path().join("trace.jsonl"), folder.path().join("v.nc"));
    // SAFETY: this is the only test of the program, and nothing looked at the environment yet.
    unsafe { std::env::set_var("ISOTACH_TRACE", &trace) };
    work(&path);
    let text = std::fs::read_to_string(&trace).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<(&str, &Value)> =
        lines.iter().map(|line| (line["event"].as_str().unwrap(), line)).collect();
    let kinds: Vec<&str> = told.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        kinds,
        [
            "begin", "create", "variable", "write", "close", "open", "variable", "read", "read",
            "read", "close",
        ]
    );
    assert!(lines.iter().all(|line| line["process"] == std::process::id()));
    for (line, members) in [
        (0, json!({ "version": 1 })),
        (1, json!({ "file": 1, "path": path.to_str(), "format": "netCDF-4", "writable": true })),
        (2, json!({ "variable": "/v", "type": "int", "shape": [0], "filters": [] })),
        (3, json!({ "start": [0], "count": [6], "stride": null, "bytes": 24, "status": 0 })),
        (4, json!({ "file": 1, "status": 0 })),
        (5, json!({ "file": 2, "writable": false })),
        (6, json!({ "shape": [6] })),
        (7, json!({ "start": [1], "count": [2], "stride": [3], "bytes": 8, "chunks": 1 })),
        (8, json!({ "start": [0], "count": [1], "bytes": 8, "decoded": 0 })),
        (9, json!({ "start": [1], "count": [1] })),
    ] {
        for (name, value) in members.as_object().unwrap() {
            assert_eq!(&lines[line][name], value, "{name} of {}", lines[line]);
        }
    }
    let calls = told.iter().filter(|(kind, _)| !["begin", "variable"].contains(kind));
    let times: Vec<u64> = calls
        .map(|(_, line)| {
            assert!(line["nanoseconds"].as_u64() > Some(0), "{line}");
            line["at"].as_u64().unwrap()
        })
        .collect();
    assert!(times.is_sorted(), "{times:?}");
}
