//! Files that a file names, opened so that nothing but what was looked at is opened.
//!
//! Whoever may write beside a file could put a symbolic link, a pipe or a device in place of what it refers to,
//! between the look at a path and the opening of it. So a path is opened whose symbolic links were resolved before,
//! and none is followed any more on the way; a pipe or a device is neither waited for nor read.

use std::fs::File;
use std::io;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// For the file itself: no waiting for the other end of a pipe, no terminal of the process's own.
const READING: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// Opens the regular file at `path`, which is absolute and has neither `.` nor `..` nor symbolic links, as
/// [`Path::canonicalize`] gives it.
///
/// # Errors
/// There is a symbolic link on the way by now; it is no regular file; those of the system.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // Some devices do something when they are opened.
    check(&std::fs::symlink_metadata(path)?)?;
    let file = without_links(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &std::fs::Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

#[cfg(target_os = "linux")]
fn without_links(path: &Path) -> io::Result<File> {
    use rustix::fs::ResolveFlags;
    match rustix::fs::openat2(CWD, path, READING, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6 do not have the call, and some containers forbid it.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => step_by_step(path),
        opened => Ok(File::from(opened?)),
    }
}

#[cfg(not(target_os = "linux"))]
fn without_links(path: &Path) -> io::Result<File> {
    step_by_step(path)
}

/// Opens each folder from the one above it.
fn step_by_step(path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    const SEARCHING: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    const SEARCHING: OFlags = OFlags::RDONLY;
    let folder = SEARCHING | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::RootDir => {}
            Component::Normal(name) => names.push(name),
            _ => return Err(Errno::INVAL.into()),
        }
    }
    let Some((last, above)) = names.split_last() else {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    };
    let mut at = rustix::fs::openat(CWD, "/", folder, Mode::empty())?;
    for name in above {
        at = rustix::fs::openat(&at, *name, folder, Mode::empty())?;
    }
    Ok(File::from(rustix::fs::openat(&at, *last, READING, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    type Opening = fn(&Path) -> io::Result<File>;
    const WAYS: [Opening; 2] = [without_links, step_by_step];

    #[test]
    fn no_link_is_followed_on_the_way() {
        let folder = std::env::temp_dir().join(format!("isotach-regular-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("real/below")).unwrap();
        let folder = folder.canonicalize().unwrap();
        std::fs::write(folder.join("real/below/file"), b"values").unwrap();
        symlink(folder.join("real"), folder.join("linked")).unwrap();
        symlink(folder.join("real/below/file"), folder.join("file")).unwrap();
        for open in WAYS {
            assert_eq!(open(&folder.join("real/below/file")).unwrap().metadata().unwrap().len(), 6);
            for name in ["linked/below/file", "file"] {
                assert!(open(&folder.join(name)).is_err(), "{name}");
            }
            let missing = open(&folder.join("real/other")).unwrap_err();
            assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        }
        assert!(open(&folder.join("real/below/file")).is_ok());
        assert_eq!(open(&folder.join("real")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn neither_devices_nor_pipes_are_opened() {
        let pipe = std::env::temp_dir().join(format!("isotach-pipe-{}", std::process::id()));
        rustix::fs::mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        for path in [Path::new("/dev/zero"), Path::new("/dev/null"), &pipe] {
            let refused = open(path).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{path:?}: {refused}");
        }
        std::fs::remove_file(&pipe).unwrap();
    }
}
