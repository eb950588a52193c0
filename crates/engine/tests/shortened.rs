//! Files that another program makes shorter under a reader: values as they were, or an error, and never zeros.

use std::fs::{FileTimes, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::{CreateOptions, ErrorKind, File, FilterRequest, Format, Variable, VariableOptions};

const RECORDS: u64 = 40;
const WIDTH: u64 = 300;
const CLASSIC: [Format; 3] = [Format::Classic, Format::Offset64Bit, Format::Data64Bit];

/// What stands at each place: the negative of it in a file that was written anew.
fn values(which: usize, records: u64, sign: i32) -> Vec<i32> {
    let value = |at| sign * (which as i32 * 1_000_000 + at as i32 + 1);
    (0..records * WIDTH).map(value).collect()
}

/// Variables along the records; of netCDF-4 files contiguous, chunked and deflated ones.
fn create(path: &Path, format: Format, records: u64, sign: i32) {
    let writer = CreateOptions::new(format).create(path).unwrap();
    let root = writer.root();
    let is_classic = format != Format::NetCdf4;
    let time = root.define_dimension("time", if is_classic { None } else { Some(records) });
    let dimensions = [time.unwrap(), root.define_dimension("x", Some(WIDTH)).unwrap()];
    for (which, name) in ["a", "b", "c"].into_iter().enumerate() {
        let chunk_shape = (!is_classic && which > 0).then(|| vec![3, WIDTH]);
        let deflate = vec![FilterRequest::Deflate { level: 1 }];
        let filters = if !is_classic && which > 1 { deflate } else { Vec::new() };
        let options = VariableOptions { chunk_shape, filters, ..VariableOptions::default() };
        let variable = root.define_variable(name, Atomic::Int, &dimensions, options).unwrap();
        let all = Selection::all(&[records, WIDTH]);
        variable.write(&all, &Values::I32(values(which, records, sign))).unwrap();
    }
    writer.close().unwrap();
}

fn variables(file: &File) -> Vec<Variable> {
    file.root().variables().unwrap()
}

/// Reads all, row by row and as a whole: how many requests gave values, those of either sign, and how many errors.
fn look(variables: &[Variable]) -> (usize, usize) {
    let (mut read, mut refused) = (0, 0);
    for (which, variable) in variables.iter().enumerate() {
        let right = [values(which, RECORDS, 1), values(which, RECORDS, -1)];
        let rows = (0..RECORDS).map(|row| Axis::range(row, 1, 1));
        for axis in rows.chain([Axis::all(RECORDS), Axis::range(0, 10, 4)]) {
            let selection = Selection { axes: vec![axis.clone(), Axis::all(WIDTH)] };
            let Ok(Values::I32(found)) = variable.read(&selection) else {
                refused += 1;
                continue;
            };
            let Axis::Range { start, count, stride } = axis else { panic!() };
            let rows = (0..count).map(|at| start + at * stride.unsigned_abs());
            for (row, found) in rows.zip(found.chunks(WIDTH as usize)) {
                let place = (row * WIDTH) as usize..((row + 1) * WIDTH) as usize;
                assert!(right.iter().any(|right| right[place.clone()] == *found), "row {row}");
            }
            read += 1;
        }
    }
    (read, refused)
}

fn file_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("file.nc")
}

#[test]
fn a_file_that_is_cut_off_under_a_reader_gives_errors() {
    for format in CLASSIC.into_iter().chain([Format::NetCdf4]) {
        let folder = tempfile::tempdir().unwrap();
        let path = file_in(&folder);
        create(&path, format, RECORDS, 1);
        let whole = std::fs::read(&path).unwrap();
        let mut refused = 0;
        for len in [0, 1, 40, 600, whole.len() / 3, whole.len() / 2, whole.len() - WIDTH as usize] {
            std::fs::write(&path, &whole).unwrap();
            let unread = File::open(&path).unwrap();
            let file = File::open(&path).unwrap();
            let known = variables(&file);
            assert_eq!(look(&known).1, 0);
            let opened = OpenOptions::new().write(true).open(&path).unwrap();
            opened.set_len(len as u64).unwrap();
            let (_, now) = look(&known);
            // Chunks that were decoded before are those of the state, and so is what stands before the cut.
            let is_kept = format == Format::NetCdf4;
            assert!(is_kept || now > 0, "{format} cut to {len}");
            refused += now;
            if let Ok(variables) = unread.root().variables() {
                let (_, now) = look(&variables);
                assert!(now > 0, "{format} cut to {len}, not read before");
            }
        }
        assert!(refused > 0, "{format}");
    }
}

#[test]
fn a_classic_file_that_is_written_anew_and_shorter_gives_its_values_or_errors() {
    for format in CLASSIC {
        let folder = tempfile::tempdir().unwrap();
        let path = file_in(&folder);
        let other = folder.path().join("other.nc");
        create(&path, format, RECORDS, 1);
        create(&other, format, RECORDS / 4, -1);
        let mut file = File::open(&path).unwrap();
        let known = variables(&file);
        assert_eq!(look(&known).1, 0);
        std::fs::write(&path, std::fs::read(&other).unwrap()).unwrap();
        let (_, refused) = look(&known);
        assert!(refused > 0, "{format}");
        file.refresh().unwrap();
        let Values::I32(found) =
            file.variable("b").unwrap().read(&Selection::all(&[RECORDS / 4, WIDTH])).unwrap()
        else {
            panic!()
        };
        assert_eq!(found, values(1, RECORDS / 4, -1));
    }
}

/// A program that knows nothing of states puts another file of the same length and structure in the place of the one
/// that is read, and gives it its times or not.
#[test]
fn a_netcdf4_file_that_is_written_anew_gives_its_values_or_errors() {
    for keeps_times in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (file_in(&folder), folder.path().join("other.nc"));
        create(&path, Format::NetCdf4, RECORDS, 1);
        create(&other, Format::NetCdf4, RECORDS, -1);
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        let opened = OpenOptions::new().write(true).open(&other).unwrap();
        opened.set_times(FileTimes::new().set_modified(long_ago)).unwrap();
        let file = File::open(&path).unwrap();
        let known = variables(&file);
        let row = |at| Selection { axes: vec![Axis::range(at, 1, 1), Axis::all(WIDTH)] };
        known.iter().for_each(|variable| drop(variable.read(&row(0)).unwrap()));
        let mut other = std::fs::File::open(&other).unwrap();
        let mut opened = OpenOptions::new().write(true).open(&path).unwrap();
        std::io::copy(&mut other, &mut opened).unwrap();
        if keeps_times {
            let modified = other.metadata().unwrap().modified().unwrap();
            opened.set_times(FileTimes::new().set_modified(modified)).unwrap();
        }
        // Such programs are looked for every millisecond.
        std::thread::sleep(Duration::from_millis(2));
        let mut refused = 0;
        for (which, variable) in known.iter().enumerate() {
            for at in 0..RECORDS {
                match variable.read(&row(at)) {
                    Ok(Values::I32(found)) => {
                        let place = (at * WIDTH) as usize..((at + 1) * WIDTH) as usize;
                        assert_eq!(found, values(which, RECORDS, 1)[place], "{which}, row {at}");
                    }
                    Ok(_) => panic!(),
                    Err(error) => {
                        assert!(matches!(error.kind, ErrorKind::Changed), "{error}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 100, "{refused} of 120");
    }
}
