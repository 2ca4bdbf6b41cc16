//! Folders and patterns in place of pictures.

use anyhow::{Context as _, Result, anyhow, ensure};
use lobcod_image::FileKind;
use std::fs;
use std::path::{Path, PathBuf};

/// The pictures named, each folder replaced by the pictures in it, and each pattern by the files it fits, sorted by name.
///
/// A file that is there is meant itself, whatever characters its name has.
pub fn pictures_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut pictures = Vec::new();
    for path in paths {
        if path.is_dir() {
            pictures.extend(pictures_in(path)?);
        } else if !path.exists() && path.to_str().is_some_and(|name| name.contains(['*', '?', '['])) {
            pictures.extend(files_like(path)?);
        } else {
            pictures.push(path.clone());
        }
    }
    Ok(pictures)
}

fn files_like(pattern: &Path) -> Result<Vec<PathBuf>> {
    let place = pattern.display();
    let found = glob::glob(&pattern.to_string_lossy()).with_context(|| format!("{place} is no pattern; write *, ? or [abc]"))?;
    let files: Vec<PathBuf> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    ensure!(!files.is_empty(), "no file fits the pattern {place}; check it, or name the pictures themselves");
    Ok(files)
}

fn pictures_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let place = folder.display();
    let unreadable = |e| anyhow!("the folder {place} cannot be read ({e}); name another, or the pictures themselves");
    let entries: Vec<_> = fs::read_dir(folder).and_then(Iterator::collect).map_err(unreadable)?;
    // A .npz file beside pictures is more likely a dictionary or codes than a picture.
    let is_picture = |path: &PathBuf| path.is_file() && FileKind::from_path(path).is_ok_and(|kind| kind != FileKind::Npz);
    let mut pictures: Vec<_> = entries.iter().map(fs::DirEntry::path).filter(is_picture).collect();
    ensure!(!pictures.is_empty(), "the folder {place} holds no picture (png, jpg, tif, npy or wav); name another");
    pictures.sort();
    Ok(pictures)
}
