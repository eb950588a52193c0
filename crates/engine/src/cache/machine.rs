//! How much memory there is for this process: the machine's, or less where its control group has a limit.
//!
//! Containers and batch systems set such limits. Whoever comes to one is ended, however much memory the machine has.

use std::path::{Component, Path};

use crate::sync::OnceLock;

/// Where the kernel shows control groups.
const GROUPS: &str = "/sys/fs/cgroup";
/// Says which groups this process is in.
const OWN_GROUPS: &str = "/proc/self/cgroup";

/// Bytes of memory that this process may use: those of the machine, or the least limit of its control group and of
/// those above it. Looked at once.
pub fn physical_memory() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let info = rustix::system::sysinfo();
        let machine = (info.totalram as u64).saturating_mul(u64::from(info.mem_unit));
        let own = std::fs::read_to_string(OWN_GROUPS).unwrap_or_default();
        group_limit(&own, Path::new(GROUPS)).map_or(machine, |limit| limit.min(machine))
    })
}

/// The least limit of the groups in `own` (lines of `number:controllers:path`), which stand below `groups`.
fn group_limit(own: &str, groups: &Path) -> Option<u64> {
    let limits = own.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        if controllers.is_empty() {
            return least_limit(groups, path, "memory.max");
        }
        let is_memory = controllers.split(',').any(|controller| controller == "memory");
        is_memory.then(|| least_limit(&groups.join("memory"), path, "memory.limit_in_bytes"))?
    });
    limits.min()
}

/// The least number in the files of that name from `root` down to the group at `path`. Where a container sees only its
/// own groups, `path` is not there, and `root` is that of the container.
fn least_limit(root: &Path, path: &str, name: &str) -> Option<u64> {
    let mut folder = root.to_owned();
    let below = Path::new(path).components().filter_map(|part| match part {
        Component::Normal(part) => Some(part),
        _ => None,
    });
    let mut limits = vec![limit(&folder.join(name))];
    for part in below {
        folder.push(part);
        limits.push(limit(&folder.join(name)));
    }
    limits.into_iter().flatten().min()
}

/// The number in a file; `None` where it says that there is no limit.
fn limit(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of groups, in a folder of its own.
    fn groups(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn the_least_limit_of_the_groups_counts() {
        let both = groups(&[
            ("job/memory.max", "8000000\n"),
            ("job/step/memory.max", "max\n"),
            ("other/memory.max", "5\n"),
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/job/memory.limit_in_bytes", "7000000\n"),
        ]);
        let limit = |own| group_limit(own, both.path());
        assert_eq!(limit("0::/job/step\n"), Some(8_000_000));
        assert_eq!(limit("0::/\n"), None);
        assert_eq!(limit("4:cpu,memory:/job\n1:name=systemd:/other\n"), Some(7_000_000));
        assert_eq!(limit("4:memory:/\n"), Some(9_223_372_036_854_771_712));
        assert_eq!(limit("4:memory:/job\n0::/job/step\n"), Some(7_000_000));
        assert_eq!(limit("nothing that is known"), None);
    }

    #[test]
    fn a_container_has_its_own_root() {
        let own = groups(&[("memory.max", "1000\n")]);
        assert_eq!(group_limit("0::/machine/that/is/not/here\n", own.path()), Some(1000));
        assert_eq!(group_limit("0::/../outside\n", own.path()), Some(1000));
    }

    #[test]
    fn this_process_has_some_memory() {
        assert!(physical_memory() >= 1 << 20);
    }
}
