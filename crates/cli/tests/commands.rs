//! The built command, on a small file that is made here and on files of the corpus.

mod support;

use std::process::{Command, Stdio};

use support::{classic, corpus, isotach};

/// Runs the command on a file and expects that exit code.
fn run(arguments: &[&str], path: &std::path::Path, code: i32) -> support::Ended {
    let path = path.to_string_lossy();
    // The file stands behind the options, and before what `explain` is asked.
    let behind = usize::from(arguments[0] == "explain" && arguments.len() > 1);
    let mut all = arguments.to_vec();
    all.insert(arguments.len() - behind, &path);
    let ended = isotach(&all);
    assert_eq!(ended.code, Some(code), "{all:?}: {}{}", ended.text(), ended.stderr);
    ended
}

#[test]
fn info_is_a_table() {
    let path = classic::written("info.nc", &classic::bytes());
    let text = run(&["info"], &path, 0).text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with("info.nc: classic netCDF (CDF-1), 152 B"), "{text}");
    assert_eq!(lines[2], "/  (0 attributes)");
    assert_eq!(lines[3], "  dimensions: time = 2, lon = 3");
    assert_eq!(lines[4], "  variable   type    dimensions   shape   storage      size");
    assert_eq!(lines[6], "  temp       float   time, lon    2×3     contiguous   24 B");
    assert_eq!(lines.len(), 7);
}

#[test]
fn info_is_json() {
    let path = classic::written("info_json.nc", &classic::bytes());
    let told = run(&["info", "--json"], &path, 0).json();
    let variable = &told["root"]["variables"][0];
    assert_eq!(variable["name"], "temp");
    assert_eq!(variable["shape"], serde_json::json!([2, 3]));
    assert_eq!(variable["stored_bytes"], 24);
    assert_eq!(told["root"]["dimensions"][1]["name"], "lon");
}

#[test]
fn dump_is_cdl() {
    let path = classic::written("dump.nc", &classic::bytes());
    let text = run(&["dump"], &path, 0).text();
    let expected = "netcdf dump {\ndimensions:\n\ttime = 2 ;\n\tlon = 3 ;\nvariables:\n\
        \tfloat temp(time, lon) ;\n\t\ttemp:units = \"K\" ;\ndata:\n\n temp =\n  \
        0.5, 1.5, 2.5,\n  3.5, 4.5, 5.5 ;\n}\n";
    assert_eq!(text, expected);
}

#[test]
fn dump_is_json() {
    let path = classic::written("dump_json.nc", &classic::bytes());
    let text = run(&["dump", "--json"], &path, 0).text();
    let expected = r#"{
  "dimensions": {
    "time": 2,
    "lon": 3
  },
  "variables": {
    "temp": {
      "shape": ["time", "lon"],
      "type": "float",
      "attributes": {
        "units": "K"
      },
      "data": [[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]
    }
  }
}
"#;
    assert_eq!(text, expected);
    for options in [&["dump", "--json", "-h"][..], &["dump", "--json", "-c"]] {
        let told = run(options, &path, 0).json();
        assert_eq!(told["variables"]["temp"]["attributes"]["units"], "K");
        assert_eq!(told["variables"]["temp"].get("data"), None);
    }
    run(&["dump", "--json", "-x"], &path, 2);
    run(&["dump", "--json", "-v", "nope"], &path, 1);
}

#[test]
fn json_tells_what_cannot_be_read() {
    let Some(root) = corpus() else { return };
    let damaged = root.join("malformed/mutants/m0037_h5fc_edge_v3.h5");
    let told = run(&["dump", "--json"], &damaged, 1).json();
    let variable = &told["variables"]["DSET_EDGE"];
    assert_eq!(variable.get("data"), None);
    assert!(variable["error"].as_str().unwrap().contains("the file ends before that"), "{told}");
    let damaged = root.join("malformed/mutants/m0140_tmany.h5");
    let told = run(&["dump", "--json"], &damaged, 1).json();
    assert!(told["groups"]["g2"]["error"].is_string(), "{told}");
    assert!(told["groups"]["g3"].get("error").is_none(), "{told}");
}

#[test]
fn json_has_user_defined_types() {
    let Some(root) = corpus() else { return };
    let told = run(&["dump", "--json"], &root.join("tds/test_struct_nested.nc"), 0).json();
    let class = serde_json::json!({
        "class": "compound", "members": { "field1": { "type": "s1_t" }, "field2": { "type": "s1_t" } }
    });
    assert_eq!(told["types"]["s2_t"], class);
    assert_eq!(told["variables"]["x"]["data"]["field1"], serde_json::json!({ "x": 1, "y": -2 }));
    let told = run(&["dump", "--json"], &root.join("tds/test_enum_1.nc"), 0).json();
    assert_eq!(told["types"]["cloud_class_t"]["members"]["Missing"], 127);
    assert_eq!(told["variables"]["primary_cloud"]["type"], "cloud_class_t");
    assert!(told["variables"]["primary_cloud"]["data"].is_string(), "{told}");
}

#[test]
fn explain_tells_what_is_read() {
    let path = classic::written("explain.nc", &classic::bytes());
    let told = run(&["explain", "--json", "--run", "temp[1,::2]"], &path, 0).json();
    assert_eq!(told["elements"], 2);
    assert_eq!(told["wanted_bytes"], 8);
    assert_eq!(told["reads"], 1);
    assert!(told["seconds"].as_f64().unwrap() > 0.0);
    let text = run(&["explain", "temp[:, 0:2]"], &path, 0).text();
    assert!(text.contains("shape       2×3, of which 2×2"), "{text}");
    assert!(text.contains("wanted      4 elements, 16 B"), "{text}");
    assert!(text.contains("expected    "), "{text}");
    assert!(!text.contains("took"), "{text}");
}

#[test]
fn explain_tells_which_chunks_are_decoded() {
    let Some(root) = corpus() else { return };
    let path = root.join("derived/plugins.h5");
    let told = run(&["explain", "--json", "zstd[40, :]"], &path, 0).json();
    // Of 3 x 2 chunks of 32 x 32 floats, those of the second row.
    assert_eq!((&told["chunks"], &told["reads"]), (&2.into(), &2.into()));
    assert_eq!(told["decoded_bytes"], 2 * 32 * 32 * 4);
    assert_eq!(told["cached_chunks"], 0);
    // JSON has what the text has.
    assert_eq!((&told["type"], &told["shape"]), (&"float".into(), &serde_json::json!([96, 64])));
    assert_eq!(told["chunk_shape"], serde_json::json!([32, 32]));
    assert_eq!(told["result_shape"], serde_json::json!([64]));
}

#[test]
fn check_finds_nothing_where_nothing_is_wrong() {
    let path = classic::written("check.nc", &classic::bytes());
    let text = run(&["check"], &path, 0).text();
    assert!(text.ends_with("nothing is wrong\n"), "{text}");
    let told = run(&["check", "--json"], &path, 0).json();
    assert_eq!(told["element_bytes"], 24);
    assert_eq!(told["findings"], serde_json::json!([]));
}

#[test]
fn check_tells_what_is_wrong_and_what_can_be_read() {
    let mut bytes = classic::bytes();
    bytes.truncate(classic::DATA_BEGIN + 20);
    let path = classic::written("truncated.nc", &bytes);
    let text = run(&["check"], &path, 1).text();
    assert!(text.contains("readable: 1 group, 1 variable, 1 attribute"), "{text}");
    assert!(text.contains("/temp: the file ends 4 B before the elements"), "{text}");
    assert!(text.ends_with("1 finding\n"), "{text}");
    let told = run(&["check", "--json"], &path, 1).json();
    assert_eq!(told["findings"][0]["path"], "/temp");
}

#[test]
fn check_decodes_every_chunk() {
    let Some(root) = corpus() else { return };
    let whole = root.join("hdf5-1.14.5/h5fc_edge_v3.h5");
    let told = run(&["check", "--json"], &whole, 0).json();
    assert_eq!((&told["chunks"], &told["unreadable_chunks"]), (&6.into(), &0.into()));
    let damaged = root.join("malformed/mutants/m0037_h5fc_edge_v3.h5");
    let told = run(&["check", "--json"], &damaged, 1).json();
    assert_eq!((&told["chunks"], &told["unreadable_chunks"]), (&6.into(), &6.into()));
}

#[test]
fn exit_codes_and_errors_in_one_line_that_names_the_file() {
    let path = classic::written("errors.nc", &classic::bytes());
    let text = classic::written("text.nc", b"This is no array file.");
    let none = path.with_file_name("there-is-none.nc");
    for (arguments, path, code, expected) in [
        (&["info"][..], &none, 1, "cannot be opened: No such file or directory (os error 2)"),
        (&["dump"], &text, 1, "neither classic netCDF nor HDF5: begins with \"This is "),
        (&["dump", "-v", "nope"], &path, 1, "no variable \"nope\""),
        (&["dump", "-g", "nope"], &path, 1, "is of the classic model"),
        (&["explain", "nope"], &path, 1, "no variable \"nope\""),
        (&["explain", "temp[2]"], &path, 1, "index 2 is out of bounds"),
        (&["explain", "temp[0"], &path, 1, "a bracket without its partner"),
        (&["explain", "temp[x]"], &path, 1, "\"x\" is not an integer"),
    ] {
        let ended = run(arguments, path, code);
        let begin = format!("isotach: {}: ", path.display());
        assert!(ended.stderr.starts_with(&begin), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{arguments:?}: {}", ended.stderr);
    }
    let ended = run(&["check"], &none, 3);
    assert!(ended.text().contains("there-is-none.nc: cannot be opened"), "{}", ended.text());
    assert_eq!(run(&["check", "--json"], &none, 3).json()["opened"], false);
    run(&["dump", "-p", "0"], &path, 2);
    run(&["info", "--nonsense"], &path, 2);
}

#[test]
fn a_pipe_that_is_closed_early_ends_it_quietly() {
    // Some 2 MB of text, more than a pipe holds.
    let mut bytes = classic::bytes();
    bytes.truncate(classic::DATA_BEGIN);
    let len_at = bytes.windows(4).position(|window| window == b"lon\0").unwrap() + 4;
    bytes[len_at..len_at + 4].copy_from_slice(&100_000u32.to_be_bytes());
    bytes.resize(classic::DATA_BEGIN + 800_000, 7);
    let path = classic::written("long.nc", &bytes);
    let mut child = Command::new(env!("CARGO_BIN_EXE_isotach"))
        .args(["dump".as_ref(), path.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert_eq!(ended.status.code(), Some(0));
}

/// `isotach info /dev/stdin`, and `check`, on what comes through a pipe, and on a file without a byte.
#[test]
fn what_cannot_be_read_is_told_for_what_it_is() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_isotach"))
        .args(["info", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(told.contains("/dev/stdin: cannot be opened: Illegal seek"), "{told}");
    assert_eq!(ended.status.code(), Some(1));
    let empty = classic::written("empty.nc", b"");
    let told = run(&["info"], &empty, 1).stderr;
    assert!(told.ends_with("neither classic netCDF nor HDF5: there is not one byte\n"), "{told}");
    assert_eq!(run(&["check", "--json"], &empty, 3).json()["opened"], false);
}

#[test]
fn info_tells_external_files_and_names_of_types() {
    let Some(root) = corpus() else { return };
    let path = root.join("derived/external_raw.h5");
    let told = run(&["info", "--json"], &path, 0).json();
    assert_eq!(told["bytes"], std::fs::metadata(&path).unwrap().len());
    let external = told["root"]["variables"].as_array().unwrap();
    let storage = |name: &str| {
        external.iter().find(|variable| variable["name"] == name).unwrap()["storage"].clone()
    };
    assert_eq!(storage("ext"), "external");
    let named = run(&["info"], &root.join("hdf5-json/namedtype.h5"), 0).text();
    let expected = "  left out: /dtype_simple: netCDF has no type for a committed f4le\n";
    assert!(named.ends_with(expected), "{named}");
}

#[test]
fn copies_have_what_was_asked_of_them_or_say_why_not() {
    let path = classic::written("copied.nc", &classic::bytes());
    let copy = path.with_file_name("copy.nc");
    let copied = |options: &[&str], code: i32| {
        let _was_there = std::fs::remove_file(&copy);
        let files = [path.to_str().unwrap(), copy.to_str().unwrap()];
        let ended = isotach(&[&["copy"], options, &files].concat());
        assert_eq!(ended.code, Some(code), "{options:?}: {}", ended.stderr);
        assert_eq!(copy.exists(), code == 0);
        ended.stderr
    };
    let kind = || run(&["dump", "-k"], &copy, 0).text();
    for (options, expected) in [
        (&[][..], "classic\n"),
        (&["-d", "0"], "classic\n"),
        (&["-d", "1"], "netCDF-4 classic model\n"),
        (&["-c", "lon/2"], "netCDF-4 classic model\n"),
        (&["-k", "netCDF-4", "-d", "1", "-s"], "netCDF-4\n"),
    ] {
        copied(options, 0);
        assert_eq!(kind(), expected, "{options:?}");
    }
    let told = copied(&["-k", "cdf5", "-d", "1"], 1);
    assert!(told.contains("classic files have neither chunks nor compression"), "{told}");
    assert!(copied(&["-c", "nope/2"], 1).contains("no dimension \"nope\""));
}

#[test]
fn completions_name_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let ended = isotach(&["completions", shell]);
        assert_eq!(ended.code, Some(0));
        for word in ["info", "dump", "explain", "check", "json"] {
            assert!(ended.text().contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(isotach(&["completions", "dos"]).code, Some(2));
    assert_eq!(isotach(&["completion", "bash"]).code, Some(2));
}

#[test]
fn help_tells_all_options_and_exit_codes() {
    let text = isotach(&["--help"]).text();
    assert!(text.contains("Exit codes:\n  0  all went well"), "{text}");
    let dump = isotach(&["dump", "--help"]).text();
    for option in "hcvtksxfblnpig".chars() {
        assert!(dump.contains(&format!("\n  -{option}")), "-{option} is not in {dump}");
    }
    assert!(isotach(&["check", "--help"]).text().contains("3  the file cannot be opened"));
}

#[test]
fn trace_sums_up() {
    let lines = [
        r#"{"event":"begin","process":7,"version":1,"arguments":["program","in.nc"],"time":1.5}"#,
        r#"{"event":"open","process":7,"file":1,"path":"in.nc","format":"netCDF-4","nanoseconds":2000}"#,
        r#"{"event":"variable","process":7,"file":1,"variable":"/v","type":"float","shape":[10,8],"chunk_shape":[10,4],"filters":["deflate"]}"#,
        r#"{"event":"read","process":7,"file":1,"variable":"/v","start":[0,0],"count":[1,8],"bytes":32,"decoded":2,"nanoseconds":3000000}"#,
        r#"{"event":"read","process":7,"file":1,"variable":"/v","start":[1,0],"count":[1,8],"bytes":32,"decoded":2,"nanoseconds":1000000}"#,
        r#"{"event":"close","process":7,"file":1,"nanoseconds":1000}"#,
    ];
    let path = classic::written("trace.jsonl", lines.join("\n").as_bytes());
    let text = run(&["trace"], &path, 0).text();
    let shown: Vec<&str> = text.lines().collect();
    assert_eq!(shown[0], "program in.nc");
    assert_eq!(shown[2], "in.nc: netCDF-4; 1 × close 1 µs, 1 × open 2 µs");
    assert_eq!(shown[3], "  /v  float 10×8, chunks 10×4 deflate");
    assert!(shown[4].contains("2 × [1, :]"), "{text}");
    assert_eq!(shown[5], "    2 chunks touched, 4 decoded, 2 of them again: 2.0 ms lost");

    let told = run(&["trace", "--json"], &path, 0).json();
    let variable = &told["files"][0]["variables"][0];
    assert_eq!(variable["patterns"][0]["calls"], 2);
    assert_eq!(variable["chunks"]["nanoseconds_lost"], 2_000_000);

    let path = classic::written("empty_trace.jsonl", b"");
    assert_eq!(run(&["trace"], &path, 0).text(), "nothing is recorded\n");
    let path = classic::written("no_trace.jsonl", b"{}");
    let ended = run(&["trace"], &path, 1);
    assert!(ended.stderr.contains("line 1 is not of a trace"), "{}", ended.stderr);
}
