//! Output paths, checked before the work starts.

use crate::folders::file_name_of;
use anyhow::{Result, anyhow, bail, ensure};
use lobcod_io::check_writable;
use std::fs;
use std::path::{Path, PathBuf};

/// The name that stands for standard output.
pub const STDOUT: &str = "-";

/// An existing folder, or one that is created when there is something to put into it.
#[derive(Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// Error if the folder neither exists nor can be created.
    pub fn check(path: &Path) -> Result<Self> {
        if path.exists() {
            ensure!(path.is_dir(), "{} is a file, not a folder; choose a folder", path.display());
        } else {
            check_writable(path)?;
        }
        Ok(Self(path.into()))
    }

    /// Creates the folder if it does not exist.
    pub fn make(&self) -> Result<&Path> {
        let place = self.0.display();
        fs::create_dir_all(&self.0).map_err(|e| {
            anyhow!("cannot create the folder {place} ({e}); choose another location")
        })?;
        Ok(&self.0)
    }
}

/// Output files for the codes of several images.
#[derive(Clone)]
pub struct CodesFiles {
    folder: Option<Folder>,
    /// One file per image, in input order.
    pub files: Vec<PathBuf>,
}

impl CodesFiles {
    /// `output` is a file for one image and a folder for several. An existing folder, or a name
    /// that ends in a slash, is a folder for one image too.
    pub fn check(images: &[PathBuf], output: &Path) -> Result<Self> {
        ensure!(
            output.as_os_str() != STDOUT,
            "codes cannot be written to standard output; give a file name"
        );
        let slash = output
            .as_os_str()
            .as_encoded_bytes()
            .last()
            .is_some_and(|&b| std::path::is_separator(char::from(b)));
        if images.len() == 1 && !output.is_dir() && !slash {
            let named = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"));
            ensure!(named, "{} does not end in .npz; use a .npz file for codes", output.display());
            check_writable(output)?;
            return Ok(Self { folder: None, files: vec![output.into()] });
        }
        let named = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"));
        ensure!(
            output.is_dir() || slash || !named,
            "{} is the name of a file, but the codes of several images need a folder; give its \
             name with -o",
            output.display()
        );
        let folder = Folder::check(output)?;
        let files: Vec<PathBuf> =
            codes_names(images).into_iter().map(|name| output.join(name)).collect();
        if output.is_dir() {
            files.iter().try_for_each(|file| check_writable(file))?;
        }
        Ok(Self { folder: Some(folder), files })
    }

    /// Creates the folder, if the output is one.
    pub fn make_folder(&self) -> Result<()> {
        self.folder.as_ref().map_or(Ok(()), |folder| folder.make().map(drop))
    }
}

/// File names for codes: the image name with `.npz`, numbered to avoid duplicates.
pub fn codes_names(images: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for image in images {
        let name = file_name_of(image);
        let stem = name.file_stem().map_or("codes".into(), |s| s.to_string_lossy().into_owned());
        let candidates =
            std::iter::once(format!("{stem}.npz")).chain((2..).map(|n| format!("{stem}-{n}.npz")));
        names.extend(candidates.filter(|name| !names.contains(name)).take(1).collect::<Vec<_>>());
    }
    names
}

/// Error unless the output image can be written to this file or to standard output.
pub fn check_answer(output: &Path) -> Result<()> {
    if output.as_os_str() == STDOUT { Ok(()) } else { check_image(output) }
}

/// Error unless an image can be written to this file.
pub fn check_image(output: &Path) -> Result<()> {
    if output.as_os_str() == STDOUT {
        bail!("this image cannot be written to standard output; give a file name");
    }
    lobcod_io::FileKind::from_path(output)?;
    Ok(check_writable(output)?)
}

/// Error if an output would replace an input.
pub fn keep_inputs<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: impl IntoIterator<Item = &'a PathBuf> + Clone,
) -> Result<()> {
    for input in inputs {
        for output in outputs.clone() {
            let place = output.display();
            let same = same_file(input, output);
            ensure!(!same, "{place} is both input and output; choose another output file");
        }
    }
    Ok(())
}

/// Error unless a dictionary can be written there.
pub fn check_dictionary(output: &Path) -> Result<()> {
    let place = output.display();
    ensure!(
        output.as_os_str() != STDOUT,
        "a dictionary cannot be written to standard output; give a file name"
    );
    let named = output
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("npz") || e.eq_ignore_ascii_case("npy"));
    ensure!(named, "{place} does not end in .npz or .npy; use such a file for dictionaries");
    Ok(check_writable(output)?)
}

/// Error unless an HTML report can be written to this file.
pub fn check_page(output: &Path) -> Result<()> {
    let named = output
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("html") || e.eq_ignore_ascii_case("htm"));
    ensure!(named, "{} does not end in .html; use a .html file for reports", output.display());
    Ok(check_writable(output)?)
}

/// Whether two paths refer to the same file.
pub fn same_file(a: &Path, b: &Path) -> bool {
    // Standard input and output share a name but are not the same file.
    if b.as_os_str() == STDOUT {
        return false;
    }
    let whole = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    matches!((whole(a), whole(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_collide() {
        let images = ["a/x.png", "b/x.jpg", "y.tif", "c/x.png"].map(PathBuf::from);
        assert_eq!(codes_names(&images), ["x.npz", "x-2.npz", "y.npz", "x-3.npz"]);
    }
}
