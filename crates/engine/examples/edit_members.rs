//! Edits a file as its standard input says, for tests from outside: `edit_members FILE`. Each line is one
//! of `group PATH`, in which what follows is done, `add NAME NUMBER`, `rename OLD NEW`, `delete NAME` and
//! `commit`.

use isotach::model::selection::Selection;
use isotach::model::{Atomic, Values};
use isotach::{EditOptions, GroupWriter, VariableOptions, VariableWriter};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let writer = EditOptions::default().open(&path)?;
    let mut group = writer.root();
    for line in std::io::stdin().lines() {
        let line = line?;
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["group", path] => group = find(writer.root(), path)?,
            ["add", name, number] => add(&group, name, number.parse()?)?,
            ["rename", old, new] => variable(&group, old)?.rename(new)?,
            ["delete", name] => variable(&group, name)?.delete()?,
            ["commit"] => writer.commit()?,
            _ => return Err(line.into()),
        }
    }
    Ok(writer.close()?)
}

fn find(root: GroupWriter, path: &str) -> Outcome<GroupWriter> {
    path.split('/')
        .filter(|name| !name.is_empty())
        .try_fold(root, |group, name| group.group(name)?.ok_or_else(|| "no such group".into()))
}

fn add(group: &GroupWriter, name: &str, number: i32) -> Outcome<()> {
    let added = group.define_variable(name, Atomic::Int, &[], VariableOptions::default())?;
    added.write(&Selection::all(&[]), &Values::I32(vec![number]))?;
    Ok(())
}

fn variable(group: &GroupWriter, name: &str) -> Outcome<VariableWriter> {
    group.variable(name)?.ok_or_else(|| name.into())
}
