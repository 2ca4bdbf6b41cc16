//! Folders in place of pictures.

use anyhow::{Result, anyhow, ensure};
use lobcod_image::FileKind;
use std::fs;
use std::path::{Path, PathBuf};

/// The pictures named, each folder replaced by the pictures in it, sorted by name.
pub fn pictures_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut pictures = Vec::new();
    for path in paths {
        if path.is_dir() {
            pictures.extend(pictures_in(path)?);
        } else {
            pictures.push(path.clone());
        }
    }
    Ok(pictures)
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
