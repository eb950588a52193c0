"""Old groups with thousands of members, as h5py makes them: edited by isotach, read by others."""

import subprocess

import h5py
import isotach
import numpy as np
import pytest

#: Members that h5py makes: their B-tree has three levels.
COUNT = 5000
GROUPS = ["/", "/below"]


@pytest.fixture
def path(tmp_path):
    """A file whose root and another group have one data set behind each of many names."""
    path = tmp_path / "large.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        for name in GROUPS:
            group = file.require_group(name)
            for number in range(COUNT):
                group.create_dataset(f"v{number * 7919 % COUNT:05}", data=np.int32(number))
    return path


def change(names, session):
    """What a session does: the names it changes, and to what; those it deletes; those it adds."""
    names = sorted(names)
    renamed = {name: f"{name[::-1]}_{session}" for name in names[session::211]}
    deleted = [name for name in names[session + 100 :: 223] if name not in renamed]
    # Some come before all others, some between them, some behind.
    added = {f"{'aVz'[number % 3]}{session}_{number:04}": -number for number in range(150)}
    return renamed, deleted, added


def edit(members, session):
    """The lines of one group for `edit_members`, and the members that the group has then."""
    members = dict(members)
    renamed, deleted, added = change(members, session)
    lines = [f"rename {old} {new}" for old, new in renamed.items()]
    lines += [f"delete {name}" for name in deleted]
    lines += [f"add {name} {value}" for name, value in added.items()]
    for old, new in renamed.items():
        members[new] = members.pop(old)
    for name in deleted:
        del members[name]
    return lines, members | added


def edit_all(program, path, members, sessions):
    """One session that edits both groups, with a commit between rounds; the members then."""
    lines = []
    for session in sessions:
        edited, members = edit(members, session)
        for where in GROUPS:
            lines += [f"group {where}", *edited]
        lines.append("commit")
    text = "\n".join(lines)
    subprocess.run([program, path], input=text, text=True, check=True)
    return members


def check(path, members):
    """All readers find the members, and a descent by name finds each of them."""
    with h5py.File(path) as file:
        for where in GROUPS:
            group = file[where]
            # Listing walks over all nodes, in the order of the names.
            names = [name for name in group if isinstance(group.get(name), h5py.Dataset)]
            assert names == sorted(members)
            assert {name: int(group[name][()]) for name in members} == members
            assert f"{names[17]}x" not in group
    with isotach.Dataset(path) as dataset:
        for where in GROUPS:
            group = dataset if where == "/" else dataset[where]
            variables = group.variables
            assert {name: int(variables[name][...]) for name in variables} == members
    listed = run("h5ls", path)
    assert [line.split()[0] for line in listed.splitlines()] == sorted({*members, "below"})
    dumped = run("h5dump", "-H", path)
    assert dumped.count("DATASET") == len(GROUPS) * len(members)


def run(*command):
    """What a program of libhdf5 prints; a warning is an error."""
    done = subprocess.run([str(part) for part in command], capture_output=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.decode()


def levels(path):
    """How many levels the B-tree of the root group has, as h5debug shows it."""
    address = field(run("h5debug", path, "96"), "B-tree address")
    root = run("h5debug", path, address, field(run("h5debug", path, "96"), "Name heap address"))
    return int(field(root, "Level")) + 1


def field(shown, name):
    """What h5debug says behind a name."""
    return next(line for line in shown.splitlines() if line.strip().startswith(name)).split()[-1]


def test_large_symbol_tables_are_edited(rust_example, path):
    program = rust_example("edit_members")
    members = {f"v{number * 7919 % COUNT:05}": number for number in range(COUNT)}
    check(path, members)
    # In one session, what a commit made is replaced by the next.
    for sessions in [[0], [1, 2, 3], [4]]:
        members = edit_all(program, path, members, sessions)
        assert levels(path) > 1
    check(path, members)
    # libhdf5 goes on with what it finds, and so do we.
    with h5py.File(path, "a") as file:
        for where in GROUPS:
            for number in range(100):
                file[where][f"m{number:03}"] = np.int32(number)
            del file[where]["a0_0000"]
    members.update({f"m{number:03}": number for number in range(100)})
    del members["a0_0000"]
    members = edit_all(program, path, members, [20])
    check(path, members)
