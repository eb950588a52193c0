//! Storage that fails at any single read: the answer is the one that it always is, or an error that says so, and
//! when storage works again, the same handle has the whole file.

use std::fmt::Write;
use std::sync::Arc;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Field, UserClass, UserType, Values};
use isotach::storage::{GrowingMemory, Memory, Storage, WritableStorage};
use isotach::{
    Attribute, CreateOptions, Dimension, EditOptions, Fault, File, FilterRequest, Format, Group,
    Layout, OpenOptions, Readable, Result, Variable, VariableOptions, Writer,
};
use isotach_testkit::{FailingReads, ReadFault, corpus};

/// A local file's calls, and an object store's.
const CALL_COSTS: [u64; 2] = [16 << 10, 512 << 10];
/// Positions of the read that fails, spread over all; each one with `ISOTACH_LONG_TESTS`.
const POSITIONS: u64 = 10;
/// Larger variables are read in part.
const ELEMENTS: u64 = 1 << 12;

/// Of the corpus: one file of each kind that reading takes another way for.
const CORPUS: [&str; 48] = [
    // Symbol tables, new groups with an order and without, dense ones, links of all kinds.
    "netcdf-c/ref_groups.h5",
    "netcdf-c/tdset.h5",
    "hdf5-1.14.5/tmany.h5",
    "hdf5-1.14.5/tordergr.h5",
    "hdf5-1.14.5/thlink.h5",
    "hdf5-1.14.5/h5diff_softlinks.h5",
    "hdf5-1.14.5/tname-lt.h5",
    // Attributes: dense, shared, of all types.
    "hdf5-1.14.5/torderattr.h5",
    "hdf5-1.14.5/h5repack_attr.h5",
    "hdf5-1.14.5/tattr4_be.h5",
    "hdf5-1.14.5/h5stat_tsohm.h5",
    "hdf5-1.14.5/tstring-at.h5",
    // Types: user-defined, without a name, of variable length, references.
    "netcdf-c/ref_tst_compounds.nc",
    "netcdf-c/ref_tst_irish_rover.nc",
    "netcdf-c/ref_nc_test_netcdf4_4_0.nc",
    "hdf5-1.14.5/h5repack_named_dtypes.h5",
    "hdf5-1.14.5/h5repack_nested_8bit_enum_deflated.h5",
    "hdf5-1.14.5/tvldtypes2.h5",
    "hdf5-1.14.5/tvldtypes4.h5",
    "hdf5-1.14.5/tobjref.h5",
    "hdf5-1.14.5/tcompound_complex.h5",
    // Layouts and filters.
    "hdf5-1.14.5/h5repack_filters.h5",
    "hdf5-1.14.5/h5repack_layout2.h5",
    "hdf5-1.14.5/h5fc_ext3_isf.h5",
    "hdf5-1.14.5/tfvalues.h5",
    "hdf5-1.14.5/zerodim.h5",
    "hdf5-1.14.5/tnullspace.h5",
    "derived/chunks_earliest.h5",
    "derived/chunks_v110.h5",
    "derived/chunks_latest.h5",
    "derived/groups_earliest.h5",
    "derived/groups_latest.h5",
    "derived/types_earliest.h5",
    "derived/types_latest.h5",
    "derived/sohm.h5",
    "derived/plugins.h5",
    "derived/small_k_userblock_earliest.h5",
    "derived/fspace_page_persist.h5",
    // Dimensions: of the classic model, of others' making, numbered twice, in groups below.
    "netcdf-c/nctest_netcdf4_classic.nc",
    "netcdf-c/ref_hdf5_compat3.nc",
    "netcdf4-python/test_gold.nc",
    "netcdf-rust/nc4_groups.nc",
    "bmtk/stim_12_pulses.nwb",
    // Classic.
    "netcdf-c/ref_nctest_64bit_offset.nc",
    "netcdf-c/test_nc.sav",
    "derived/alltypes_cdf1.nc",
    "derived/alltypes_cdf2.nc",
    "derived/alltypes_cdf5.nc",
];

/// A file, and its name.
type Named = (String, Vec<u8>);

#[test]
fn no_read_that_fails_changes_what_a_file_of_the_corpus_is() {
    let Some(root) = corpus() else { return };
    let files = CORPUS.map(|name| (name.to_owned(), std::fs::read(root.join(name)).unwrap()));
    check(&files);
}

#[test]
fn no_read_that_fails_changes_what_a_new_file_is() {
    let formats = [Format::Classic, Format::Offset64Bit, Format::Data64Bit];
    let mut files: Vec<Named> =
        formats.map(|format| (format!("{format}"), made(format, Layout::Compatible))).into();
    for layout in [Layout::Compatible, Layout::Latest] {
        files.push((format!("{layout:?}"), made(Format::NetCdf4, layout)));
    }
    check(&files);
}

/// What is done in a session; tried again where it fails.
type Operation = fn(&Writer) -> Result<()>;

const SESSION: [Operation; 8] = [
    |writer| {
        let v1 = writer.root().variable("v1")?.unwrap();
        let rows = Selection { axes: vec![Axis::range(4, 3, 1), Axis::range(0, 7, 1)] };
        v1.write_as(&rows, &[5; 21]).map(drop)
    },
    |writer| writer.root().set_attribute("attribute 3", "of another type"),
    |writer| {
        let v3 = writer.root().variable("v3")?.unwrap();
        v3.write_as(&Selection { axes: vec![Axis::range(2, 2, 1)] }, &[-1, -2]).map(drop)
    },
    Writer::commit,
    |writer| {
        let root = writer.root();
        let x = root.find_dimension("x")?.unwrap();
        root.define_variable("new", Atomic::Int, &[x], VariableOptions::default()).map(drop)
    },
    |writer| writer.root().variable("v2")?.unwrap().rename("v2 by another name"),
    |writer| writer.root().variable("v4")?.unwrap().set_attribute("units", "kilometres"),
    Writer::commit,
];

#[test]
fn a_session_whose_reads_fail_loses_nothing() {
    let (mut tried, mut failed) = (0, 0);
    for format in [Format::Classic, Format::Data64Bit, Format::NetCdf4] {
        for layout in [Layout::Compatible, Layout::Latest] {
            let bytes = made(format, layout);
            let (storage, states) = states(&bytes);
            let reads = storage.reads();
            let step = if is_long() { 1 } else { reads.div_ceil(POSITIONS).max(1) };
            for position in (0..reads).step_by(step as usize) {
                for fault in ReadFault::ALL {
                    tried += 1;
                    let place = format!("{format}, {layout:?}, read {position}, {fault:?}");
                    failed += u64::from(fails_in_session(&bytes, &states, position, fault, &place));
                }
            }
        }
    }
    println!("{tried} sessions, {failed} with errors");
    assert!(tried > 100 && failed > tried / 2, "{failed} of {tried}");
}

/// What is in a file before a session and after each of its operations.
fn states(bytes: &[u8]) -> (Arc<FailingReads>, Vec<String>) {
    let storage = Arc::new(FailingReads::new(bytes.to_vec(), CALL_COSTS[0]));
    let mut states = vec![seen(&storage)];
    let writer = edited(&storage).unwrap();
    for operation in SESSION {
        operation(&writer).unwrap();
        states.push(seen(&storage));
    }
    writer.close().unwrap();
    assert!(states[3] != states[4] && states[7] != states[8], "commits show what was done");
    (storage, states)
}

/// Whether anything failed.
fn fails_in_session(
    bytes: &[u8],
    states: &[String],
    position: u64,
    fault: ReadFault,
    place: &str,
) -> bool {
    let storage = Arc::new(FailingReads::new(bytes.to_vec(), CALL_COSTS[0]));
    storage.fail_after(position, fault);
    let mut has_failed = false;
    let mut is_failure = |error: isotach::Error, place: &str| {
        has_failed = true;
        assert_eq!(error.fault(), Fault::Storage, "{place}: {error}");
        storage.works();
    };
    let writer = match edited(&storage) {
        Ok(writer) => writer,
        Err(error) => {
            is_failure(error, place);
            assert_eq!(seen(&storage), states[0], "{place}: opening changed the file");
            edited(&storage).unwrap()
        }
    };
    for (number, operation) in SESSION.iter().enumerate() {
        if let Err(error) = operation(&writer) {
            let place = format!("{place}, operation {number}");
            is_failure(error, &place);
            let now = seen(&storage);
            assert!(states[number..][..2].contains(&now), "{place}: {now}");
            operation(&writer).unwrap_or_else(|error| panic!("{place}, again: {error}"));
        }
        let (now, expected) = (seen(&storage), &states[number + 1]);
        assert!(now == *expected, "{place}, after {number}{}", difference(expected, &now));
    }
    storage.works();
    writer.close().unwrap();
    let now = seen(&storage);
    assert!(now == states[8], "{place}, at the end{}", difference(&states[8], &now));
    has_failed
}

fn edited(storage: &Arc<FailingReads>) -> Result<Writer> {
    let options = EditOptions { commit_interval: None, ..EditOptions::default() };
    options.open_in("made", Arc::clone(storage) as Arc<dyn WritableStorage>)
}

/// What a reader sees whose own reads succeed.
fn seen(storage: &FailingReads) -> String {
    let storage = Arc::new(Memory::new(storage.bytes()));
    by_listing(&OpenOptions::default().open_storage("made", storage).unwrap()).unwrap()
}

fn is_long() -> bool {
    std::env::var_os("ISOTACH_LONG_TESTS").is_some()
}

/// What was tried, and what came of it.
#[derive(Debug, Default)]
struct Count {
    tried: u64,
    errors: u64,
    wrong: Vec<String>,
}

fn check(files: &[Named]) {
    let mut count = Count::default();
    for (name, bytes) in files {
        for cost in CALL_COSTS {
            for look in [by_listing as Look, by_name] {
                check_file(name, bytes, cost, look, &mut count);
            }
        }
    }
    let Count { tried, errors, wrong } = count;
    println!("{tried} tries, {errors} errors, {} findings", wrong.len());
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    // Some reads are not needed for the answer; most are.
    assert!(tried > 24 * files.len() as u64 && errors > tried / 2, "{errors} of {tried}");
}

/// One way to look at all of a file: as text.
type Look = fn(&File) -> Result<String>;

fn check_file(name: &str, bytes: &[u8], cost: u64, look: Look, count: &mut Count) {
    let storage = || Arc::new(FailingReads::new(bytes.to_vec(), cost));
    let open = |storage: &Arc<FailingReads>| {
        let options = OpenOptions::default();
        options.open_storage(name, Arc::clone(storage) as Arc<dyn Storage>)
    };
    let working = storage();
    let expected = look(&open(&working).unwrap()).unwrap();
    let reads = working.reads();
    let step = if is_long() { 1 } else { reads.div_ceil(POSITIONS).max(1) };
    for position in (0..reads).step_by(step as usize) {
        for fault in ReadFault::ALL {
            let storage = storage();
            storage.fail_after(position, fault);
            let place = format!("{name}, calls of {cost}, read {position} of {reads}, {fault:?}");
            count.tried += 1;
            let mut find = |what: &str| count.wrong.push(format!("{place}: {what}"));
            let mut is_storage = |error: isotach::Error| {
                count.errors += 1;
                if error.fault() != Fault::Storage {
                    find(&format!("not told as a failure of storage: {error}"));
                }
            };
            let file = match open(&storage) {
                Ok(file) => file,
                Err(error) => {
                    is_storage(error);
                    storage.works();
                    open(&storage).unwrap()
                }
            };
            match look(&file) {
                Err(error) => is_storage(error),
                Ok(shown) if shown == expected => {}
                Ok(shown) => find(&format!("another file{}", difference(&expected, &shown))),
            }
            storage.works();
            match look(&file) {
                Ok(shown) if shown == expected => {}
                Ok(shown) => {
                    find(&format!("another file ever after{}", difference(&expected, &shown)));
                }
                Err(error) => find(&format!("fails ever after: {error}")),
            }
        }
    }
}

/// The first line that differs.
fn difference(expected: &str, shown: &str) -> String {
    let pairs = expected.lines().map(Some).chain([None]).zip(shown.lines().map(Some).chain([None]));
    let cut = |line: Option<&str>| line.map(|line| line.chars().take(100).collect::<String>());
    let different = pairs.into_iter().find(|(one, other)| one != other);
    different.map_or_else(String::new, |(one, other)| {
        format!(" ({:?} became {:?})", cut(one), cut(other))
    })
}

/// What was found, or what the file says is wrong; a failure of storage is an error.
fn told<T>(found: Result<T>, tell: impl FnOnce(T) -> String) -> Result<String> {
    Ok(match found.or_fault()? {
        Ok(found) => tell(found),
        Err(error) => format!("ERROR {error}"),
    })
}

/// Everything, group by group, as it is listed.
fn by_listing(file: &File) -> Result<String> {
    let mut out = told(file.format(), |format| format!("{format}\n"))?;
    list(&file.root(), &mut out)?;
    Ok(out)
}

fn list(group: &Group, out: &mut String) -> Result<()> {
    writeln!(out, "GROUP {}", group.path()).unwrap();
    let dimensions = group.dimensions()?;
    for dimension in dimensions.iter() {
        writeln!(out, "dimension {}", shown_dimension(dimension)?).unwrap();
    }
    writeln!(out, "unlimited {:?}", group.unlimited_ids()?).unwrap();
    for user in group.types()?.iter() {
        writeln!(out, "type {user:?}").unwrap();
    }
    writeln!(out, "attributes {}", told(group.attribute_count(), |count| count.to_string())?)
        .unwrap();
    attributes(group.attributes(), out)?;
    for name in group.variable_names()?.iter() {
        match group.variable(name)? {
            Some(variable) => show_variable(&variable, out)?,
            None => writeln!(out, "NO {name}").unwrap(),
        }
    }
    for left_out in group.left_out()?.iter() {
        writeln!(out, "left out {}: {}", left_out.path, left_out.reason).unwrap();
    }
    for below in group.groups()? {
        list(&below, out)?;
    }
    Ok(())
}

fn shown_dimension(dimension: &Dimension) -> Result<String> {
    let (id, len) = (dimension.id()?, dimension.len()?);
    Ok(format!("{} {id} {len} {}", dimension.path(), dimension.is_unlimited()))
}

fn attributes(found: Result<Arc<[Attribute]>>, out: &mut String) -> Result<()> {
    let Some(found) = found.readable()? else {
        out.push_str("no attributes\n");
        return Ok(());
    };
    for attribute in found.iter() {
        let values = told(attribute.values(), |values| format!("{values:?}"))?;
        writeln!(out, "  {}: {:?} {values}", attribute.name(), attribute.data_type()).unwrap();
    }
    Ok(())
}

fn show_variable(variable: &Variable, out: &mut String) -> Result<()> {
    writeln!(out, "variable {} {:?}", variable.path(), variable.data_type()).unwrap();
    let dimensions = variable.dimensions()?;
    for dimension in dimensions.iter() {
        writeln!(out, "  along {}", shown_dimension(dimension)?).unwrap();
    }
    attributes(variable.attributes(), out)?;
    writeln!(out, "  {}", told(variable.storage(), |storage| format!("{storage:?}"))?).unwrap();
    writeln!(out, "  {}", told(variable.fill_value(), |fill| format!("{fill:?}"))?).unwrap();
    let shape = variable.shape()?;
    if shape.iter().try_fold(1, |count: u64, &len| count.checked_mul(len)) <= Some(ELEMENTS) {
        let values = variable.read(&Selection::all(&shape));
        writeln!(out, "  {}", told(values, |values| format!("{values:?}"))?).unwrap();
    }
    Ok(())
}

/// Every variable by its path, the last one first, in a file of which nothing was listed; then its attributes by
/// name, and those of the root group.
fn by_name(file: &File) -> Result<String> {
    let mut paths = Vec::new();
    let listed = file.clone();
    names(&listed.root(), &mut paths)?;
    let mut out = String::new();
    let options = file.root();
    for name in ["_NCProperties", "_IsNetcdf4", "title", "no such attribute"] {
        let found = options.attribute(name).readable()?.flatten();
        let values = found.map(|found| told(found.values(), |values| format!("{values:?}")));
        writeln!(out, "{name} {:?}", values.transpose()?).unwrap();
    }
    for (path, attributes) in paths.iter().rev() {
        let Some(variable) = file.variable(path).readable()? else {
            writeln!(out, "no {path}").unwrap();
            continue;
        };
        show_variable(&variable, &mut out)?;
        for name in attributes {
            let found = variable.attribute(name)?.map(|found| found.name().to_owned());
            writeln!(out, "  {found:?}").unwrap();
        }
    }
    let missing = told(file.variable("/no such variable"), |_| "found".to_owned())?;
    writeln!(out, "{missing}").unwrap();
    Ok(out)
}

fn names(group: &Group, into: &mut Vec<(String, Vec<String>)>) -> Result<()> {
    for variable in group.variables()? {
        let attributes = variable.attributes().readable()?;
        let attributes = attributes.iter().flat_map(|all| all.iter());
        let attributes = attributes.map(|attribute| attribute.name().to_owned());
        into.push((variable.path(), attributes.collect()));
    }
    for below in group.groups()? {
        names(&below, into)?;
    }
    Ok(())
}

/// A file with many links and attributes, every chunk index that the layout has, strings and types.
fn made(format: Format, layout: Layout) -> Vec<u8> {
    let storage = Arc::new(GrowingMemory::default());
    let mut options = CreateOptions { layout, ..CreateOptions::new(format) };
    options.edit.commit_interval = None;
    let writer = options.create_in("made", Arc::clone(&storage) as _).unwrap();
    define_plain(&writer, format == Format::NetCdf4).unwrap();
    if format == Format::NetCdf4 {
        define_more(&writer).unwrap();
    }
    writer.close().unwrap();
    let mut bytes = Vec::new();
    let len = usize::try_from(storage.len().unwrap()).unwrap();
    bytes.resize_with(len, std::mem::MaybeUninit::uninit);
    storage.read_at(0, &mut bytes).unwrap().to_vec()
}

fn define_plain(writer: &Writer, is_netcdf4: bool) -> Result<()> {
    let root = writer.root();
    root.set_attribute("title", "all of it")?;
    let time = root.define_dimension("time", None)?;
    let x = root.define_dimension("x", Some(7))?;
    for number in 0..20 {
        root.set_attribute(&format!("attribute {number}"), number)?;
    }
    for number in 0..12 {
        let along = [time, x];
        let along = if number % 3 == 0 { &along[1..] } else { &along[..] };
        let plain = VariableOptions::default();
        let variable = root.define_variable(&format!("v{number}"), Atomic::Int, along, plain)?;
        variable.set_attribute("units", "m")?;
        let shape: &[u64] = if along.len() == 1 { &[7] } else { &[5, 7] };
        let count = shape.iter().product::<u64>() as i32;
        let values: Vec<i32> = (number * 100..number * 100 + count).collect();
        variable.write_as(&Selection::all(shape), &values)?;
    }
    let axis = root.define_variable("x", Atomic::Double, &[x], VariableOptions::default())?;
    axis.write_as(&Selection::all(&[7]), &[0.5; 7])?;
    if is_netcdf4 {
        for number in 0..20 {
            axis.set_attribute(&format!("long attribute {number}"), &*"x".repeat(90))?;
        }
    }
    Ok(())
}

fn define_more(writer: &Writer) -> Result<()> {
    let root = writer.root();
    let pair = UserType {
        name: "pair".to_owned(),
        group: "/".to_owned(),
        size: 8,
        class: UserClass::Compound(vec![
            Field::new("a", Atomic::Int),
            Field::new("b", Atomic::Float),
        ]),
    };
    let pair = root.define_type(pair)?;
    let (a, b) = (root.define_dimension("a", None)?, root.define_dimension("b", Some(9))?);
    root.define_variable("pairs", pair, &[b], VariableOptions::default())?;
    let names = root.define_variable("names", Atomic::String, &[b], VariableOptions::default())?;
    let strings = (0..9).map(|number| Some(format!("name {number}").into_bytes().into())).collect();
    names.write(&Selection::all(&[9]), &Values::String(strings))?;
    let below = root.define_group("below")?.define_group("further below")?;
    let own = below.define_dimension("own", None)?;
    let shapes: [(&str, &[_], &[u64], &[u64]); 5] = [
        ("one chunk", &[b], &[9], &[9]),
        ("fixed", &[b, b], &[1, 2], &[9, 9]),
        ("growing", &[a, b], &[1, 2], &[11, 9]),
        ("growing twice", &[a, own], &[2, 1], &[11, 6]),
        ("along", &[own], &[2], &[6]),
    ];
    for (name, along, chunks, shape) in shapes {
        let filters = vec![FilterRequest::Shuffle, FilterRequest::Deflate { level: 1 }];
        let options = VariableOptions {
            chunk_shape: Some(chunks.to_vec()),
            filters,
            ..VariableOptions::default()
        };
        let variable = below.define_variable(name, Atomic::Short, along, options)?;
        let values: Vec<i16> = (0..shape.iter().product::<u64>() as i16).collect();
        variable.write_as(&Selection::all(shape), &values)?;
    }
    Ok(())
}
