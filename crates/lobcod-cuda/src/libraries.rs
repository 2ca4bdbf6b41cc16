//! Run-time loading of the driver and NVRTC.

use cudarc::{driver, nvrtc};
use std::env;
use std::path::{Path, PathBuf};

/// Whether a driver can be loaded.
pub(crate) fn driver_is_there() -> bool {
    // SAFETY: looks for the library and closes it again.
    unsafe { driver::sys::is_culib_present() }
}

/// Whether NVRTC can be loaded. Also searches where the loader does not: in CUDA's own folder and
/// in Python packages.
pub(crate) fn nvrtc_is_there() -> bool {
    // SAFETY: looks for the library and closes it again.
    if unsafe { nvrtc::sys::is_culib_present() } {
        return true;
    }
    let Some((compiler, builtins)) = folders().iter().find_map(|folder| nvrtc_in(folder)) else {
        return false;
    };
    // Its helper is searched for only by name, so it is loaded first. Neither is ever closed: later
    // calls find them by name.
    for file in builtins.into_iter().chain([compiler]) {
        // SAFETY: NVIDIA's libraries have no initialisers that depend on us.
        match unsafe { libloading::Library::new(&file) } {
            Ok(library) => std::mem::forget(library),
            Err(_) => return false,
        }
    }
    // SAFETY: as above.
    unsafe { nvrtc::sys::is_culib_present() }
}

/// Folders that may contain NVRTC.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        env::var_os("LOBCOD_NVRTC").map(PathBuf::from).into_iter().collect();
    let roots = ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(env::var_os).map(PathBuf::from);
    for root in roots.chain([PathBuf::from("/usr/local/cuda"), PathBuf::from("/opt/cuda")]) {
        folders.extend(["lib64", "lib", "targets/x86_64-linux/lib"].map(|inner| root.join(inner)));
    }
    // `pip install nvidia-cuda-nvrtc` in the active environment.
    if let Some(environment) = env::var_os("VIRTUAL_ENV") {
        for python in entries(&Path::new(&environment).join("lib")) {
            let packages = python.join("site-packages/nvidia");
            folders.extend(
                ["cu13/lib", "cu12/lib", "cuda_nvrtc/lib"].map(|inner| packages.join(inner)),
            );
        }
    }
    folders
}

/// NVRTC in a folder, and its helper.
fn nvrtc_in(folder: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let named = |start: &str| {
        let name = |path: &PathBuf| {
            path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(start))
        };
        let plain = |path: &PathBuf| !path.to_string_lossy().contains(".alt.");
        entries(folder).into_iter().filter(|path| name(path) && plain(path)).max()
    };
    Some((named("libnvrtc.so")?, named("libnvrtc-builtins.so")))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect()
}
