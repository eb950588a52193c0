//! Readers beside a writer of an old file, whose structures have no checksums: what they find is of one commit, or is an
//! error.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use isotach::model::selection::Selection;
use isotach::model::{Atomic, Values};
use isotach::{Attribute, EditOptions, ErrorKind, File, Group, Result, VariableOptions, Writer};
use isotach_testkit::corpus;

/// Commits that are looked at; many times as many where there is time for it.
const COMMITS: i64 = 300;
const LONG_COMMITS: i64 = 20_000;
/// Elements of an attribute that all are the number of a commit.
const COUNT: usize = 24;
/// Names that the writer leaves for so many commits.
const KEPT: i64 = 3;

/// The group that is changed: one of symbol tables, as h5py makes it by default.
const FILE: &str = "derived/groups_earliest.h5";

fn numbers(number: i64) -> Vec<i64> {
    vec![number; COUNT]
}

/// What commit `number` does: the same to the root group and to one below it.
fn change(writer: &Writer, number: i64) -> Result<()> {
    let root = writer.root();
    let below = root.group("beside")?.unwrap();
    for group in [root, below] {
        group.set_attribute("numbers", numbers(number))?;
        group.set_attribute("text", text(number).as_str())?;
        let options = VariableOptions::default;
        let variable = group.define_variable(&new(number), Atomic::Int64, &[], options())?;
        variable.write(&Selection::all(&[]), &Values::I64(vec![number]))?;
        variable.set_attribute("numbers", numbers(number))?;
        let renamed = group.variable(&moved(number - 1))?.unwrap();
        renamed.rename(&moved(number))?;
        renamed.set_attribute("numbers", numbers(number))?;
        if let Some(old) = group.variable(&new(number - KEPT))? {
            old.delete()?;
        }
    }
    Ok(())
}

fn text(number: i64) -> String {
    format!("{number:06}").repeat(12)
}

fn new(number: i64) -> String {
    format!("new_{number:06}")
}

fn moved(number: i64) -> String {
    format!("moved_{number:06}")
}

/// The names that a group has after commit `number`, but for those that it had before.
fn names(number: i64) -> BTreeSet<String> {
    let kept = (1.max(number - KEPT + 1)..=number).map(new);
    kept.chain([moved(number)]).collect()
}

/// Why a look at the file did not end well.
enum Fault {
    /// An error said so.
    Refused(isotach::Error),
    /// It was never committed.
    Wrong(String),
}

impl From<isotach::Error> for Fault {
    fn from(error: isotach::Error) -> Self {
        Self::Refused(error)
    }
}

fn ensure(is_so: bool, found: impl std::fmt::Debug) -> std::result::Result<(), Fault> {
    if is_so { Ok(()) } else { Err(Fault::Wrong(format!("{found:?}"))) }
}

/// The number of which all of an attribute is.
fn number_of(found: Option<Attribute>, of: &str) -> std::result::Result<i64, Fault> {
    let values = found.map(|found| found.values()).transpose()?;
    let Some(Values::I64(found)) = values else {
        return Err(Fault::Wrong(format!("{of}: {values:?}")));
    };
    let is_one = found.len() == COUNT && found.iter().all(|number| *number == found[0]);
    ensure(is_one, (of, &found))?;
    Ok(found[0])
}

/// Looks at one group; the commits of which something was seen.
fn look(
    group: &Group,
    before: &BTreeSet<String>,
    seen: &mut Vec<i64>,
) -> std::result::Result<(), Fault> {
    let path = group.path().to_owned();
    let found: BTreeSet<String> = group.variable_names()?.iter().map(ToString::to_string).collect();
    let own: BTreeSet<String> = found.difference(before).cloned().collect();
    let number = own.iter().find_map(|name| name.strip_prefix("moved_")?.parse().ok());
    let number = number.unwrap_or(-1);
    ensure(before.is_subset(&found) && own == names(number), (&path, &found))?;
    seen.push(number);
    if group.attribute_count()? > 0 {
        seen.push(number_of(group.attribute("numbers")?, &path)?);
        let found = group.attribute("text")?.map(|found| found.values()).transpose()?;
        ensure(found == Some(Values::Char(text(seen[seen.len() - 1]).into())), (&path, found))?;
    }
    for name in own {
        let Some(variable) = group.variable(&name)? else {
            return Err(Fault::Wrong(format!("{path} has no {name}")));
        };
        let of_attribute = number_of(variable.attribute("numbers")?, &name)?;
        if let Some(number) = name.strip_prefix("new_").and_then(|number| number.parse().ok()) {
            let values = variable.read(&Selection::all(&[]))?;
            let expected = (number, Values::I64(vec![number]));
            ensure((of_attribute, &values) == (expected.0, &expected.1), (&name, &values))?;
        } else {
            seen.push(of_attribute);
        }
    }
    Ok(())
}

/// What readers found, each time they looked.
#[derive(Debug, Default)]
struct Count {
    whole: usize,
    refused: usize,
    wrong: Vec<String>,
}

#[test]
fn readers_of_an_old_file_find_what_was_committed() {
    let Some(corpus) = corpus() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.h5");
    std::fs::write(&path, std::fs::read(corpus.join(FILE)).unwrap()).unwrap();
    let options = EditOptions { commit_interval: None, ..EditOptions::default() };
    let writer = options.open(&path).unwrap();
    let root_names = writer.file().root().variable_names().unwrap();
    let root_names = root_names.iter().map(ToString::to_string).collect();
    let below = writer.root().define_group("beside").unwrap();
    for group in [writer.root(), below] {
        let made = group.define_variable(&moved(0), Atomic::Int64, &[], VariableOptions::default());
        made.unwrap().set_attribute("numbers", numbers(0)).unwrap();
    }
    writer.commit().unwrap();
    let last = match std::env::var_os("ISOTACH_LONG_TESTS") {
        Some(_) => LONG_COMMITS,
        None => COMMITS,
    };
    let (committed, ends) = (AtomicI64::new(0), AtomicBool::new(false));
    let count = std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=last {
                if let Err(error) = change(&writer, number).and_then(|()| writer.commit()) {
                    ends.store(true, SeqCst);
                    panic!("{error}");
                }
                committed.store(number, SeqCst);
                // A reader has the time of a commit to look.
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_micros(300) {
                    std::hint::spin_loop();
                }
            }
            ends.store(true, SeqCst);
        });
        follow(&path, &root_names, &committed, &ends)
    });
    println!("{count:?}");
    assert!(count.wrong.is_empty() && count.whole > 20, "{count:?}");
    writer.close().unwrap();
}

fn are_one(seen: &[i64]) -> bool {
    seen.iter().all(|number| number == &seen[0])
}

/// Opens and reads the file again and again while it is written.
fn follow(
    path: &Path,
    root_names: &BTreeSet<String>,
    committed: &AtomicI64,
    ends: &AtomicBool,
) -> Count {
    let mut count = Count::default();
    while !ends.load(SeqCst) {
        let (first, mut seen) = (committed.load(SeqCst), Vec::new());
        let looked = File::open(path).map_err(Fault::from).and_then(|file| {
            look(&file.root(), root_names, &mut seen)?;
            look(&file.group("beside")?, &BTreeSet::new(), &mut seen)
        });
        let last = committed.load(SeqCst);
        match looked {
            // One that has begun may be over for readers before the writer says so.
            Ok(()) if are_one(&seen) && (first..=last + 1).contains(&seen[0]) => count.whole += 1,
            Ok(()) => count.wrong.push(format!("{seen:?} from {first} to {last}")),
            Err(Fault::Wrong(what)) => count.wrong.push(what),
            Err(Fault::Refused(error)) => match error.kind {
                ErrorKind::Changed => count.refused += 1,
                _ => count.wrong.push(error.to_string()),
            },
        }
    }
    count
}
