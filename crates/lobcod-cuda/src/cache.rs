//! Cache of compiled kernels.

use std::env;
use std::fs;
use std::path::PathBuf;

/// The cache file for a key: in `LOBCOD_CACHE`, or the user's cache folder. `None`: no caching.
fn file(text: &str) -> Option<PathBuf> {
    let own = env::var_os("LOBCOD_CACHE").map(PathBuf::from);
    let usual = || {
        let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        base.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
            .map(|base| base.join("lobcod"))
    };
    own.or_else(usual)
        .map(|folder| folder.join(format!("{:016x}{:016x}.cubin", hash(text, 0), hash(text, 1))))
}

/// The cached code for this key.
pub(crate) fn load(text: &str) -> Option<Vec<u8>> {
    fs::read(file(text)?).ok()
}

/// Stores compiled code; errors are ignored, since they only cost time.
pub(crate) fn store(text: &str, code: &[u8]) {
    let Some(file) = file(text) else { return };
    let Some(folder) = file.parent() else { return };
    let draft = file.with_extension(format!("{}.tmp", std::process::id()));
    if fs::create_dir_all(folder).is_ok()
        && fs::write(&draft, code).is_ok()
        && fs::rename(&draft, &file).is_err()
    {
        let _ = fs::remove_file(&draft);
    }
}

/// FNV-1a, with a seed.
fn hash(text: &str, seed: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn texts_that_differ_have_different_names() {
        let texts: Vec<String> =
            (0..1000).map(|i| format!("-DM={i} -DHX={}", i * 7 % 13)).collect();
        let mut names: Vec<(u64, u64)> = texts.iter().map(|t| (hash(t, 0), hash(t, 1))).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), texts.len());
    }
}
