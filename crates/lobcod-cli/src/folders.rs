//! Expansion of folders and glob patterns to images.

use anyhow::{Context as _, Result, anyhow, ensure};
use lobcod_io::FileKind;
use std::fs;
use std::path::{Path, PathBuf};

/// Expands folders to the images in them and patterns to the files they match, sorted by name.
///
/// The name of an existing file is never treated as a pattern.
pub fn images_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut images = Vec::new();
    for path in paths {
        if path.is_dir() {
            images.extend(images_in(path)?);
        } else if !path.exists() && path.to_str().is_some_and(|name| name.contains(['*', '?', '[']))
        {
            images.extend(files_matching(path)?);
        } else {
            images.push(path.clone());
        }
    }
    Ok(images)
}

fn files_matching(pattern: &Path) -> Result<Vec<PathBuf>> {
    let place = pattern.display();
    let found = glob::glob(&pattern.to_string_lossy())
        .with_context(|| format!("{place} is not a valid pattern; use *, ? or [abc]"))?;
    let files: Vec<PathBuf> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    ensure!(!files.is_empty(), "no file matches the pattern {place}; check it, or list the images");
    Ok(files)
}

fn images_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let place = folder.display();
    let unreadable = |e| {
        anyhow!("the folder {place} cannot be read ({e}); use another folder, or list the images")
    };
    let entries: Vec<_> = fs::read_dir(folder).and_then(Iterator::collect).map_err(unreadable)?;
    // A .npz file among images is more likely a dictionary or codes than an image.
    let is_image = |path: &PathBuf| {
        path.is_file() && FileKind::from_path(path).is_ok_and(|kind| kind != FileKind::Npz)
    };
    let mut images: Vec<_> = entries.iter().map(fs::DirEntry::path).filter(is_image).collect();
    ensure!(
        !images.is_empty(),
        "the folder {place} contains no images (png, jpg, tif, npy or wav); use another folder"
    );
    images.sort();
    Ok(images)
}
