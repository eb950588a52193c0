//! Files of all libraries are changed, and what was not changed reads as before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, DataType, Values, names, shape};
use isotach::storage::Memory;
use isotach::{
    DefinitionFault, Dimension, EditOptions, ErrorKind, File, Group, GroupWriter, OpenOptions,
    Result, StorageKind, Variable, VariableOptions, Writer,
};
use isotach_testkit::corpus;

/// Larger files would take minutes.
const MOST_BYTES: u64 = 1 << 20;
/// Of larger variables no values are compared, appended or overwritten.
const MOST_ELEMENTS: u64 = 1 << 20;
/// The variables of which each has an attribute set.
const CHANGED_VARIABLES: usize = 3;
/// The corpus has more than these.
const FEWEST_FILES: usize = 500;

// Names that no file of the corpus has, and a length: to netCDF, an axis without a dimension lies
// along any dimension of its group that is as long.
const ATTRIBUTE: &str = "isotach_attribute";
const DIMENSION: &str = "isotach_dimension";
const VARIABLE: &str = "isotach_variable";
const LEN: u64 = 7919;
const PREFIX: &str = "isotach_";

/// What a reader sees of a file, by path.
type Seen = BTreeMap<String, String>;

#[test]
fn what_is_added_leaves_the_rest_as_it_was() {
    for_each_file(
        |writer| {
            add(writer)?;
            append(writer)
        },
        |before, after, file| {
            let new = file.variable(VARIABLE).and_then(|new| new.read(&Selection::all(&[3])));
            match new {
                Ok(Values::I32(values)) if values == [1, 2, 3] => {}
                other => return Some(format!("the new variable is {other:?}")),
            }
            first_difference(before, after)
        },
    );
}

#[test]
fn what_is_undone_leaves_all_as_it_was() {
    for_each_file(
        |writer| {
            let (file, root) = (writer.file(), writer.root());
            // In the second round, what the first one has freed is used again.
            for _ in 0..2 {
                rename(&file.root(), &root, writer, &|name| Some(format!("{PREFIX}{name}")))?;
                writer.commit()?;
                overwrite(&file.root(), &root)?;
                writer.commit()?;
                let back = |name: &str| name.strip_prefix(PREFIX).map(str::to_owned);
                rename(&file.root(), &root, writer, &back)?;
                writer.commit()?;
            }
            Ok(())
        },
        |before, after, _| first_difference(before, after),
    );
}

#[test]
fn a_second_name_is_the_same_variable() {
    let Some(corpus) = corpus() else { return };
    // /dset1, /g1/dset2 and /g2/dset3 are one, and so are /g2 and /g1/g1.1.
    let path = corpus.join("hdf5-1.14.5/thlink.h5");
    let values = Values::I32(vec![5, 4, 3, 2, 1]);
    let is_changed = |variable: &Variable| {
        let units = variable.attribute("units").unwrap().unwrap();
        assert_eq!(units.values().unwrap(), Values::Char(b"m".to_vec()));
        assert_eq!(variable.read(&Selection::all(&[5])).unwrap(), values);
    };
    let bytes = edited(&path, std::fs::read(&path).unwrap(), |writer| {
        let group = writer.root().group("g1")?.unwrap();
        let (first, second) = (writer.root().variable("dset1")?, group.variable("dset2")?);
        let (first, second) = (first.unwrap(), second.unwrap());
        second.set_attribute("units", "m")?;
        second.write(&Selection::all(&[5]), &values)?;
        is_changed(&first.variable()?);
        first.delete()?;
        is_changed(&second.variable()?);
        let below = group.group("g1.1")?.unwrap();
        for refused in [below.set_attribute("a", 1), below.define_group("b").map(drop)] {
            assert!(unless_elsewhere(refused.clone()).is_ok() && refused.is_err());
        }
        Ok(())
    });
    let file = opened(&path, bytes.unwrap()).unwrap();
    assert!(file.variable("/dset1").is_err());
    for name in ["/g1/dset2", "/g1/g1.1/dset3", "/g2/dset3"] {
        is_changed(&file.variable(name).unwrap());
    }
}

/// Between the pieces that are in use there is nothing that anybody reads.
#[test]
fn what_counts_as_free_may_be_anything() {
    let Some(corpus) = corpus() else { return };
    let mut files = Vec::new();
    find(&corpus, &mut files);
    let (mut wrong, mut count, mut free_bytes) = (Vec::new(), 0, 0);
    let mut unknown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files {
        let name = path.strip_prefix(&corpus).unwrap().to_string_lossy().into_owned();
        let mut bytes = std::fs::read(&path).unwrap();
        let Some(file) = opened(&path, bytes.clone()) else { continue };
        let (Some(objects), Some(before)) = (file.hdf5(), look(&file)) else { continue };
        let used = match objects.used_space() {
            Ok(used) => used,
            Err(error) => {
                unknown.entry(error.kind.to_string()).or_default().push(name);
                continue;
            }
        };
        count += 1;
        let base = objects.user_block_bytes();
        let mut from = base as usize;
        let end = objects.superblock().end_of_file_address.min(bytes.len() as u64) - base;
        for (address, len) in used.into_iter().chain([(end, 0)]) {
            let begin = (base + address) as usize;
            free_bytes += begin - from;
            bytes[from..begin].fill(0xDB);
            from = begin + len as usize;
        }
        let after = opened(&path, bytes).and_then(|file| look(&file));
        match after.map(|after| first_difference(before, after)) {
            Some(None) => {}
            fault => wrong.push(format!("{name}: {:?}", fault.flatten())),
        }
    }
    for (reason, names) in &unknown {
        println!("{}: {reason}: {}", names.len(), names.join(" "));
    }
    println!("{count} files, {free_bytes} bytes free");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > FEWEST_FILES, "only {count} files");
}

/// Changes every file of the corpus, and looks at what there was and is.
fn for_each_file(
    change: impl Fn(&Writer) -> Result<()>,
    compare: impl Fn(Seen, Seen, &File) -> Option<String>,
) {
    let Some(corpus) = corpus() else { return };
    let mut files = Vec::new();
    find(&corpus, &mut files);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in files {
        let name = path.strip_prefix(&corpus).unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let Some(before) = opened(&path, bytes.clone()).and_then(|file| look(&file)) else {
            continue;
        };
        count += 1;
        let fault = match edited(&path, bytes, &change) {
            Ok(bytes) => match opened(&path, bytes) {
                Some(file) => match look(&file) {
                    Some(after) => compare(before, after, &file),
                    None => Some("cannot be read".to_owned()),
                },
                None => Some("cannot be opened".to_owned()),
            },
            Err(error) => Some(error.to_string()),
        };
        wrong.extend(fault.map(|fault| format!("{name}: {fault}")));
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > FEWEST_FILES, "only {count} files");
}

/// All files, but those that are broken on purpose and those that are parts of one.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let is_other = path.ends_with("malformed") || path.ends_with("drivers");
        if path.is_dir() && !is_other {
            find(&path, files);
        } else if path.is_file()
            && path.extension().is_none_or(|extension| extension != "json")
            && path.metadata().unwrap().len() < MOST_BYTES
        {
            files.push(path);
        }
    }
}

fn opened(path: &Path, bytes: Vec<u8>) -> Option<File> {
    let storage = Arc::new(Memory::new(bytes));
    OpenOptions::default().open_storage(&path.to_string_lossy(), storage).ok()
}

fn edited(path: &Path, bytes: Vec<u8>, change: impl Fn(&Writer) -> Result<()>) -> Result<Vec<u8>> {
    let writer = EditOptions::default().open_bytes(&path.to_string_lossy(), bytes)?;
    change(&writer)?;
    Ok(writer.into_bytes()?.unwrap_or_default())
}

/// What is in a file; `None` for one with parts that netCDF cannot show.
fn look(file: &File) -> Option<Seen> {
    let mut seen = Seen::new();
    look_into(&file.root(), &mut seen)?;
    Some(seen)
}

fn look_into(group: &Group, seen: &mut Seen) -> Option<()> {
    let path = group.path().trim_end_matches('/');
    for left_out in group.left_out().ok()?.iter() {
        seen.insert(format!("{} (left out)", left_out.path), left_out.reason.kind.to_string());
    }
    for dimension in group.dimensions().ok()?.iter().filter(|found| !is_phony(found)) {
        let len = (!dimension.is_unlimited()).then(|| dimension.len());
        seen.insert(format!("{path}/{} (dimension)", dimension.name()), format!("{len:?}"));
    }
    for user in group.types().ok()?.iter() {
        seen.insert(format!("{path}/{} (type)", user.name), format!("{user:?}"));
    }
    look_at_attributes(path, &group.attributes().ok()?, seen);
    for variable in group.variables().ok()? {
        let path = variable.path();
        look_at_attributes(&path, &variable.attributes().ok()?, seen);
        seen.insert(path, described(&variable)?);
    }
    group.groups().ok()?.iter().try_for_each(|below| look_into(below, seen))
}

fn look_at_attributes(path: &str, attributes: &[isotach::Attribute], seen: &mut Seen) {
    for attribute in attributes {
        let values = attribute.values().map_err(|error| error.kind.to_string());
        seen.insert(format!("{path}:{}", attribute.name()), format!("{values:?}"));
    }
}

/// Names that are made up count from the number of all dimensions: they are others with one more.
fn is_phony(dimension: &Dimension) -> bool {
    dimension.name().starts_with("phony_dim_")
}

/// All that is said of a variable, and its values, those that were stored, at the end.
fn described(variable: &Variable) -> Option<String> {
    let name = |along: &Dimension| match is_phony(along) {
        true => "phony".to_owned(),
        false => along.path(),
    };
    let dimensions: Vec<String> = variable.dimensions().ok()?.iter().map(name).collect();
    let (storage, fill) = (variable.storage(), variable.fill_value());
    let values = values(variable).map(|values| values.map_err(|error| error.kind.to_string()));
    Some(format!("{:?} {dimensions:?} {storage:?} {fill:?} {values:?}", variable.data_type()))
}

/// The values that were stored; `None` for too many.
fn values(variable: &Variable) -> Option<Result<Values>> {
    let array = variable.array();
    let stored = array.as_ref().ok()?.layout.shape.clone();
    shape::element_count(&stored).filter(|&count| count <= MOST_ELEMENTS)?;
    Some(array.and_then(|array| array.read(&Selection::all(&stored))))
}

fn add(writer: &Writer) -> Result<()> {
    let root = writer.root();
    root.set_attribute(ATTRIBUTE, "set")?;
    let names = writer.file().root().variable_names()?;
    for name in names.iter().take(CHANGED_VARIABLES) {
        if let Some(variable) = root.variable(name)? {
            unless_elsewhere(variable.set_attribute(ATTRIBUTE, vec![1_i32, 2]))?;
        }
    }
    let dimension = root.define_dimension(DIMENSION, Some(LEN))?;
    let new =
        root.define_variable(VARIABLE, Atomic::Int, &[dimension], VariableOptions::default())?;
    new.write_as(&Selection::all(&[3]), &[1, 2, 3])?;
    Ok(())
}

/// Appends a record to the first variable of numbers along an unlimited dimension.
fn append(writer: &Writer) -> Result<()> {
    for variable in writer.file().root().variables()? {
        let Some((selection, count)) = record(&variable)? else { continue };
        if let Some(to) = writer.root().variable(variable.name())? {
            to.write_as(&selection, &vec![1_i8; count])?;
            return Ok(());
        }
    }
    Ok(())
}

/// The record behind the last of a variable of numbers, and its elements.
fn record(variable: &Variable) -> Result<Option<(Selection, usize)>> {
    let is_number = |data_type: &DataType| {
        data_type.atomic().is_some_and(|atomic| !matches!(atomic, Atomic::Char | Atomic::String))
    };
    let is_first = variable.dimensions()?.first().is_some_and(Dimension::is_unlimited);
    let is_chunked = variable.storage()?.kind == StorageKind::Chunked;
    if !is_first || !is_chunked || !is_number(variable.data_type()) {
        return Ok(None);
    }
    let mut shape = variable.shape()?;
    let last = std::mem::replace(&mut shape[0], 1);
    let mut axes: Vec<Axis> = shape.iter().map(|&len| Axis::all(len)).collect();
    axes[0] = Axis::range(last, 1, 1);
    let count = shape::element_count(&shape).filter(|&count| count <= MOST_ELEMENTS);
    Ok(count.map(|count| (Selection { axes }, count as usize)))
}

/// What stands in other files is left as it is: that is said at once.
fn unless_elsewhere(outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(isotach::Error {
            kind: ErrorKind::Definition(DefinitionFault::NotWritable { .. }),
            ..
        }) => Ok(()),
        outcome => outcome,
    }
}

/// Renames all that has a name, and that netCDF could have named so.
fn rename(
    shown: &Group,
    group: &GroupWriter,
    writer: &Writer,
    to: &dyn Fn(&str) -> Option<String>,
) -> Result<()> {
    let to =
        |name: &str| to(name).filter(|to| names::check(name).is_ok() && names::check(to).is_ok());
    for attribute in shown.attributes()?.iter() {
        if let Some(to) = to(attribute.name()) {
            unless_elsewhere(group.rename_attribute(attribute.name(), &to))?;
        }
    }
    for dimension in shown.dimensions()?.iter().filter(|found| !is_phony(found)) {
        if let (Some(to), Some(found)) =
            (to(dimension.name()), group.find_dimension(dimension.name())?)
        {
            unless_elsewhere(writer.rename_dimension(found, &to))?;
        }
    }
    for variable in shown.variables()? {
        let Some(found) = group.variable(variable.name())? else { continue };
        for attribute in variable.attributes()?.iter() {
            if let Some(to) = to(attribute.name()) {
                unless_elsewhere(found.rename_attribute(attribute.name(), &to))?;
            }
        }
        if let Some(to) = to(variable.name()) {
            unless_elsewhere(found.rename(&to))?;
        }
    }
    for below in shown.groups()? {
        let Some(found) = group.group(below.name())? else { continue };
        rename(&below, &found, writer, &to)?;
        if let Some(to) = to(below.name()) {
            unless_elsewhere(found.rename(&to))?;
        }
    }
    Ok(())
}

/// Writes the values of all variables over themselves.
fn overwrite(shown: &Group, group: &GroupWriter) -> Result<()> {
    for variable in shown.variables()? {
        let Some(found) = group.variable(variable.name())? else { continue };
        let is_foreign = matches!(variable.data_type(), DataType::Foreign(_));
        if !is_foreign && let Some(Ok(values)) = values(&variable) {
            let stored = variable.array()?.layout.shape.clone();
            unless_elsewhere(found.write(&Selection::all(&stored), &values).map(drop))?;
        }
    }
    for below in shown.groups()? {
        if let Some(found) = group.group(below.name())? {
            overwrite(&below, &found)?;
        }
    }
    Ok(())
}

/// The first thing that is not what it was, but for what was added.
fn first_difference(before: Seen, mut after: Seen) -> Option<String> {
    for (path, was) in before {
        let is = after.remove(&path);
        if !is.as_ref().is_some_and(|is| *is == was || grew(is, &was)) {
            let is = is.unwrap_or_default();
            let equal = is.bytes().zip(was.bytes()).take_while(|(a, b)| a == b).count();
            let shown = |text: &str| {
                text.chars().skip(equal.saturating_sub(80)).take(300).collect::<String>()
            };
            return Some(format!("{path}: {} for {}", shown(&is), shown(&was)));
        }
    }
    let added = after.into_keys().find(|path| !path.contains("isotach_"));
    added.map(|path| format!("{path} is new"))
}

/// Whether the values at the end of a variable's text are those of `was` and more.
fn grew(is: &str, was: &str) -> bool {
    is.starts_with(was.trim_end_matches(['(', ')', '[', ']', ' ']))
}
