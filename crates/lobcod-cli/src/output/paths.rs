//! Where results go, checked before the work starts.

use anyhow::{Result, anyhow, bail, ensure};
use lobcod_image::check_writable;
use std::fs;
use std::path::{Path, PathBuf};

/// The stand-in for standard output.
pub const STDOUT: &str = "-";

/// A folder that is there, or can be made when there is something to put into it.
pub struct Folder(PathBuf);

impl Folder {
    /// Error if the folder is neither there nor can be made.
    pub fn check(path: &Path) -> Result<Self> {
        if path.exists() {
            ensure!(path.is_dir(), "{} is a file; name a folder", path.display());
        } else {
            check_writable(path)?;
        }
        Ok(Self(path.into()))
    }

    /// Makes the folder if it is not there.
    pub fn make(&self) -> Result<&Path> {
        let place = self.0.display();
        fs::create_dir_all(&self.0).map_err(|e| anyhow!("the folder {place} cannot be made ({e}); name another place"))?;
        Ok(&self.0)
    }
}

/// Files that the codes of several pictures go to.
pub struct CodesFiles {
    folder: Option<Folder>,
    /// One file a picture, in their order.
    pub files: Vec<PathBuf>,
}

impl CodesFiles {
    /// `output` is a file for one picture, a folder for several; a folder that is there, or a name that ends in a slash, is a
    /// folder for one picture too.
    pub fn check(images: &[PathBuf], output: &Path) -> Result<Self> {
        ensure!(output.as_os_str() != STDOUT, "codes cannot be written to standard output; name a file");
        let slash = output.as_os_str().as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(char::from(b)));
        if images.len() == 1 && !output.is_dir() && !slash {
            let named = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"));
            ensure!(named, "{} does not end in .npz, which is what codes are written as; add it to the name", output.display());
            check_writable(output)?;
            return Ok(Self { folder: None, files: vec![output.into()] });
        }
        let folder = Folder::check(output)?;
        let files: Vec<PathBuf> = codes_names(images).into_iter().map(|name| output.join(name)).collect();
        if output.is_dir() {
            files.iter().try_for_each(|file| check_writable(file))?;
        }
        Ok(Self { folder: Some(folder), files })
    }

    /// Makes the folder, if one was named.
    pub fn make_folder(&self) -> Result<()> {
        self.folder.as_ref().map_or(Ok(()), |folder| folder.make().map(drop))
    }
}

/// File names for the codes of pictures: that of the picture with `.npz`, numbered where two would be the same.
pub fn codes_names(images: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for image in images {
        let stem = image.file_stem().map_or("codes".into(), |s| s.to_string_lossy().into_owned());
        let candidates = std::iter::once(format!("{stem}.npz")).chain((2..).map(|n| format!("{stem}-{n}.npz")));
        names.extend(candidates.filter(|name| !names.contains(name)).take(1).collect::<Vec<_>>());
    }
    names
}

/// Error unless the picture that is the answer can be written there: to a file, or to standard output.
pub fn check_answer(output: &Path) -> Result<()> {
    if output.as_os_str() == STDOUT { Ok(()) } else { check_picture(output) }
}

/// Error unless a picture can be written to this file.
pub fn check_picture(output: &Path) -> Result<()> {
    if output.as_os_str() == STDOUT {
        bail!("a picture cannot be written to standard output; name a file");
    }
    lobcod_image::FileKind::from_path(output)?;
    Ok(check_writable(output)?)
}

/// Error unless a dictionary learnt from these pictures can be written there.
pub fn check_dictionary(images: &[PathBuf], output: &Path) -> Result<()> {
    let place = output.display();
    ensure!(output.as_os_str() != STDOUT, "a dictionary cannot be written to standard output; name a file");
    let named = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz") || e.eq_ignore_ascii_case("npy"));
    ensure!(named, "{place} does not end in .npz or .npy, which is what dictionaries are written as; add it to the name");
    let taken = images.iter().any(|image| same_file(image, output));
    ensure!(!taken, "{place} is one of the pictures to learn from; name another file");
    Ok(check_writable(output)?)
}

/// Error unless a page can be written there.
pub fn check_page(output: &Path) -> Result<()> {
    let named = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("html") || e.eq_ignore_ascii_case("htm"));
    ensure!(named, "{} does not end in .html, which is what a report is written as; add it to the name", output.display());
    Ok(check_writable(output)?)
}

/// Whether two paths name one file, however they are written.
pub fn same_file(a: &Path, b: &Path) -> bool {
    // Standard input and output share a name, and nothing else.
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
