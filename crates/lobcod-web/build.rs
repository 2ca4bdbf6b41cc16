//! Lists the files of the page, so that they are embedded without being named one by one.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("page");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(&folder, &mut files)?;
    files.sort();
    let entry = |file: &PathBuf| {
        let path = file.strip_prefix(&folder).expect("inside the folder");
        let path = path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        format!("    (\"{path}\", include_bytes!({:?})),\n", file.display().to_string())
    };
    let entries: String = files.iter().map(entry).collect();
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by cargo")).join("files.rs");
    fs::write(out, format!("&[\n{entries}]\n"))
}

/// Adds all files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
