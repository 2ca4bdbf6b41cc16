//! Expansion of folders, glob patterns and time series to images.

use anyhow::{Context as _, Result, anyhow, ensure};
use lobcod_io::{
    Axes, FileKind, ReadOptions, count_time_points, is_zarr, split_time_point, time_point_of,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Expands folders to the images in them and patterns to the files they match, sorted by name, and
/// files to their time points if `axes` begin with time.
///
/// The name of an existing file is never treated as a pattern.
pub fn images_of(paths: &[PathBuf], axes: Option<Axes>) -> Result<Vec<PathBuf>> {
    let files = files_of(paths)?;
    if axes.and_then(Axes::of_time_point).is_none() {
        return Ok(files);
    }
    let options = ReadOptions { axes, ..ReadOptions::default() };
    let mut images = Vec::new();
    for file in files {
        let count = count_time_points(&file, &options)?;
        images.extend((0..count).map(|number| time_point_of(&file, number)));
    }
    Ok(images)
}

/// The name for a file that belongs to an image: that of the image, and for a time point one such
/// as `movie-0003.tif`.
pub fn file_name_of(image: &Path) -> PathBuf {
    let Some((file, number)) = split_time_point(image).filter(|_| !image.exists()) else {
        return image.file_name().unwrap_or_default().into();
    };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    format!("{stem}-{number:04}.{extension}").into()
}

fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut images = Vec::new();
    for path in paths {
        if path.is_dir() && !is_zarr(path) {
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
        (path.is_file() || is_zarr(path))
            && FileKind::from_path(path).is_ok_and(|kind| kind != FileKind::Npz)
    };
    let mut images: Vec<_> = entries.iter().map(fs::DirEntry::path).filter(is_image).collect();
    ensure!(
        !images.is_empty(),
        "the folder {place} contains no images (png, jpg, tif, npy, wav or zarr); use another \
         folder"
    );
    images.sort();
    Ok(images)
}
