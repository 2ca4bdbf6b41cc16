//! Facts about this process and machine from the operating system; `None` where it provides none.

use std::num::NonZero;

/// Peak memory of this process, in bytes.
pub fn peak_memory() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// Total memory of the machine and memory available to this process, in bytes.
pub fn memory() -> Option<(u64, u64)> {
    Some((kilobytes("/proc/meminfo", "MemTotal:")?, lobcod_io::free_memory()?))
}

/// Number of hardware threads.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Name of the processor.
pub fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().into())
}

/// Value of a line such as `VmHWM:   1234 kB`.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(1024 * value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}
