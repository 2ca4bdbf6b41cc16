//! A command on many images: one after the other, continuing after a bad one.

use crate::Outcome;
use crate::args::ImagesArgs;
use crate::command::Command;
use crate::folders::{file_name_of, images_of};
use crate::interrupt;
use crate::output::paths::Folder;
use crate::output::table::plural;
use crate::output::{fail, print};
use crate::progress;
use anyhow::{Result, anyhow, bail, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a folder of masks or references is searched for.
const IMAGE_EXTENSIONS: [&str; 7] = ["png", "jpg", "jpeg", "tif", "tiff", "npy", "wav"];

/// The options that differ from image to image.
pub struct PerImage<'a> {
    /// The images as they were given: files, folders or patterns.
    pub images: &'a mut ImagesArgs,
    /// Outputs: files for one image, folders for several.
    pub outputs: Vec<&'a mut PathBuf>,
    /// Files that belong to an image: masks and references.
    pub companions: Vec<&'a mut Option<PathBuf>>,
    /// The HTML report.
    pub report: &'a mut Option<PathBuf>,
}

/// A command that processes each of its images separately.
pub trait OnImages: Command + Clone {
    /// The options that differ from image to image.
    fn per_image(&mut self) -> PerImage<'_>;
    /// Runs the command on its only image.
    fn run_on_one(&self) -> Result<Outcome>;
}

/// Runs a command on one or many images.
pub fn run<A: OnImages>(args: &A) -> Result<Outcome> {
    let mut all = args.clone();
    let parts = all.per_image();
    let given: Vec<PathBuf> =
        std::iter::once(&parts.images.image).chain(&parts.images.more).cloned().collect();
    let images = images_of(&given, args.axes())?;
    if images == given && images.len() == 1 {
        return args.run_on_one();
    }
    let mut names = BTreeSet::new();
    for image in &images {
        let name = file_name_of(image);
        ensure!(
            names.insert(name.clone()),
            "two images are called {}; process them separately",
            name.display()
        );
    }
    for folder in parts.outputs {
        let place = Folder::check(folder)?.make()?.canonicalize()?;
        let holds = |image: &&PathBuf| {
            image.canonicalize().is_ok_and(|image| image.parent() == Some(&place))
        };
        if let Some(image) = images.iter().find(holds) {
            let (folder, image) = (folder.display(), image.display());
            bail!("the output in {folder} would replace {image}; choose another folder");
        }
    }
    interrupt::listen();
    let mut failed = 0;
    for (number, image) in images.iter().enumerate() {
        progress::set_batch(number, images.len());
        match on(args, image).and_then(|one| one.run_on_one()) {
            Ok(Outcome::Done) => {}
            Ok(Outcome::Interrupted) => return Ok(Outcome::Interrupted),
            Ok(Outcome::Failed) => failed += 1,
            Err(_) if interrupt::requested() => return Ok(Outcome::Interrupted),
            Err(error) => {
                let (name, reason) = (image.display().to_string(), error.to_string());
                let named = reason.contains(&name);
                fail(&if named { anyhow!(reason) } else { anyhow!("{name}: {reason}") });
                failed += 1;
            }
        }
    }
    if all.console().is_none_or(|console| !console.quiet && !console.json) {
        let done = images.len() - failed;
        let failures = if failed == 0 { String::new() } else { format!(", {failed} failed") };
        print(&format!("{done} of {}{failures}", plural(images.len(), "image")))?;
    }
    Ok(if failed == 0 { Outcome::Done } else { Outcome::Failed })
}

/// The command on one of the images; outputs in folders have the name of the image.
fn on<A: OnImages>(args: &A, image: &Path) -> Result<A> {
    let mut one = args.clone();
    let parts = one.per_image();
    *parts.images = ImagesArgs { image: image.into(), more: Vec::new() };
    for output in parts.outputs {
        output.push(file_name_of(image));
    }
    for file in parts.companions.into_iter().flatten() {
        *file = companion(file, image)?;
    }
    if let Some(file) = parts.report {
        *file = report_of(file, image)?;
    }
    Ok(one)
}

/// The file that belongs to an image: a pattern with `{}` for its name, or a folder with a file of
/// that name. Any other file is for all images.
fn companion(file: &Path, image: &Path) -> Result<PathBuf> {
    let name = file_name_of(image);
    let stem = name.file_stem().unwrap_or_default();
    if file.to_str().is_some_and(|name| name.contains("{}")) {
        return Ok(PathBuf::from(file.to_string_lossy().replace("{}", &stem.to_string_lossy())));
    }
    if !file.is_dir() {
        return Ok(file.into());
    }
    let named = |extension: &str| file.join(stem).with_extension(extension);
    let found = IMAGE_EXTENSIONS.iter().map(|extension| named(extension)).find(|f| f.is_file());
    found.ok_or_else(|| {
        anyhow!("the folder {} has no file called {}", file.display(), stem.display())
    })
}

/// The report of an image: a pattern with `{}` for its name, or a folder.
fn report_of(file: &Path, image: &Path) -> Result<PathBuf> {
    if file.to_str().is_some_and(|name| name.contains("{}")) {
        return companion(file, image);
    }
    let name = format!("{}.html", file_name_of(image).file_stem().unwrap_or_default().display());
    Ok(Folder::check(file)?.make()?.join(name))
}
