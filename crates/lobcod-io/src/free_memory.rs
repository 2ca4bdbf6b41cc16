//! Memory available to this process.

use std::path::{Path, PathBuf};

/// Bytes this process can still allocate: the free memory of the machine, or what its cgroups or
/// address-space limit leave if that is less. `None` if the system does not report it.
pub fn free_memory() -> Option<u64> {
    let address_space = address_space_left(&read("/proc/self/limits"), &read("/proc/self/statm"));
    let machine = kilobytes(&read("/proc/meminfo"), "MemAvailable:");
    let groups = cgroup_room(Path::new("/sys/fs/cgroup"), &read("/proc/self/cgroup"));
    [machine, groups, address_space].into_iter().flatten().min()
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Value of a line such as `MemAvailable:   1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What `ulimit -v` leaves: the soft limit in bytes minus the pages in use.
fn address_space_left(limits: &str, pages: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = pages.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(4096)?;
    Some(limit.saturating_sub(used))
}

/// The smallest headroom of the cgroups of this process, from its own up to the root, in either
/// cgroup version.
fn cgroup_room(root: &Path, groups: &str) -> Option<u64> {
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (folder, files) = match controllers {
            "" => (root.to_path_buf(), ["memory.max", "memory.current", "inactive_file "]),
            c if c.split(',').any(|name| name == "memory") => (
                root.join("memory"),
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "],
            ),
            _ => continue,
        };
        // Inside a container the path may be that of the host, of which only the root is visible.
        let own = folder.join(group.trim_start_matches('/'));
        for group in own.ancestors().take_while(|path| path.starts_with(&folder)) {
            least = [least, room(group, files)].into_iter().flatten().min();
        }
    }
    least
}

/// The headroom of one group: its limit minus its usage, not counting reclaimable file cache.
fn room(group: &Path, [limit, usage, cache]: [&str; 3]) -> Option<u64> {
    let number = |file: PathBuf| read(file).trim().parse::<u64>().ok();
    let limit = number(group.join(limit))?;
    let statistics = read(group.join("memory.stat"));
    let cached = statistics
        .lines()
        .find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok())
        .unwrap_or(0);
    Some(limit.saturating_sub(number(group.join(usage))?.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        std::fs::create_dir_all(folder).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    }

    #[test]
    fn cgroups_of_both_versions_limit_the_memory() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(cgroup_room(root.path(), "0::/\n"), None);
        let slice = root.path().join("user.slice/app");
        write(&slice, &[("memory.max", "max\n"), ("memory.current", "500\n")]);
        assert_eq!(cgroup_room(root.path(), "0::/user.slice/app\n"), None, "max is no limit");
        let parent = root.path().join("user.slice");
        write(
            &parent,
            &[
                ("memory.max", "9000\n"),
                ("memory.current", "4000\n"),
                ("memory.stat", "anon 1\ninactive_file 1000\n"),
            ],
        );
        assert_eq!(
            cgroup_room(root.path(), "0::/user.slice/app\n"),
            Some(6000),
            "a parent limits its children"
        );
        let old = root.path().join("memory/box");
        write(&old, &[("memory.limit_in_bytes", "2000\n"), ("memory.usage_in_bytes", "1500\n")]);
        assert_eq!(
            cgroup_room(root.path(), "7:cpu:/\n4:cpuset,memory:/box\n0::/user.slice/app\n"),
            Some(500)
        );
        assert_eq!(cgroup_room(root.path(), "4:memory:/elsewhere/on/the/host\n"), None);
    }

    #[test]
    fn the_address_space_may_be_limited() {
        let limits = "Limit            Soft Limit  Hard Limit  Units\nMax address space         \
                      1048576  unlimited  bytes\n";
        assert_eq!(address_space_left(limits, "16 3 2"), Some(1048576 - 16 * 4096));
        assert_eq!(
            address_space_left("Max address space  unlimited  unlimited  bytes\n", "16 3"),
            None
        );
        assert_eq!(
            kilobytes("MemTotal:  9 kB\nMemAvailable:   7 kB\n", "MemAvailable:"),
            Some(7168)
        );
    }
}
