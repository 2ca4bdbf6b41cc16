//! A command on many images: one after the other, continuing after a bad one.

use crate::Outcome;
use crate::args::{ConsoleArgs, DenoiseArgs, InpaintArgs, SeparateArgs};
use crate::folders::images_of;
use crate::interrupt;
use crate::output::paths::Folder;
use crate::output::table::plural;
use crate::output::{fail, print};
use crate::progress;
use crate::{denoise, inpaint, separate};
use anyhow::{Result, anyhow, bail, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a folder of masks or references is searched for.
const IMAGE_EXTENSIONS: [&str; 7] = ["png", "jpg", "jpeg", "tif", "tiff", "npy", "wav"];

/// A command on one image or on many.
trait OnImages: Clone {
    /// The images as they were given: files, folders or patterns.
    fn given(&self) -> Vec<PathBuf>;
    fn console(&self) -> &ConsoleArgs;
    /// Output folders.
    fn folders(&self) -> Vec<&Path>;
    /// The same command on one of the images.
    fn on(&self, image: &Path) -> Result<Self>;
    fn run(&self) -> Result<Outcome>;
}

/// Denoises one or many images.
pub fn denoise(args: &DenoiseArgs) -> Result<Outcome> {
    run(args)
}

/// Inpaints one or many images.
pub fn inpaint(args: &InpaintArgs) -> Result<Outcome> {
    run(args)
}

/// Separates one or many images.
pub fn separate(args: &SeparateArgs) -> Result<Outcome> {
    run(args)
}

fn run<A: OnImages>(args: &A) -> Result<Outcome> {
    let given = args.given();
    if let [image] = &given[..]
        && (image.is_file() || images_of(&given)? == given)
    {
        return args.run();
    }
    let images = images_of(&given)?;
    let mut names = BTreeSet::new();
    for image in &images {
        let name = image.file_name().unwrap_or_default();
        ensure!(
            names.insert(name.to_owned()),
            "two images are called {}; process them separately",
            name.display()
        );
    }
    for folder in args.folders() {
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
        match args.on(image).and_then(|one| one.run()) {
            Ok(Outcome::Done) => {}
            Ok(Outcome::Interrupted) => return Ok(Outcome::Interrupted),
            Ok(Outcome::Failed) => failed += 1,
            Err(_) if interrupt::requested() => return Ok(Outcome::Interrupted),
            Err(error) => {
                let (name, reason) = (image.display().to_string(), format!("{error:#}"));
                let named = reason.contains(&name);
                fail(&if named { anyhow!(reason) } else { anyhow!("{name}: {reason}") });
                failed += 1;
            }
        }
    }
    if !args.console().quiet && !args.console().json {
        let done = images.len() - failed;
        let failures = if failed == 0 { String::new() } else { format!(", {failed} failed") };
        print(&format!("{done} of {}{failures}", plural(images.len(), "image")))?;
    }
    Ok(if failed == 0 { Outcome::Done } else { Outcome::Failed })
}

/// The output for an image in a folder: it has the name of the image.
fn output_in(folder: &Path, image: &Path) -> PathBuf {
    folder.join(image.file_name().unwrap_or_default())
}

/// The file that belongs to an image: a pattern with `{}` for its name, or a folder with a file of
/// that name. Any other file is for all images.
fn companion(file: &Path, image: &Path) -> Result<PathBuf> {
    let stem = image.file_stem().unwrap_or_default();
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
fn report_of(file: &Option<PathBuf>, image: &Path) -> Result<Option<PathBuf>> {
    let Some(file) = file else { return Ok(None) };
    let stem = image.file_stem().unwrap_or_default();
    if file.to_str().is_some_and(|name| name.contains("{}")) {
        return companion(file, image).map(Some);
    }
    let name = format!("{}.html", stem.display());
    Ok(Some(Folder::check(file)?.make()?.join(name)))
}

fn companion_of(file: &Option<PathBuf>, image: &Path) -> Result<Option<PathBuf>> {
    file.as_ref().map(|file| companion(file, image)).transpose()
}

impl OnImages for DenoiseArgs {
    fn given(&self) -> Vec<PathBuf> {
        std::iter::once(&self.image).chain(&self.more).cloned().collect()
    }

    fn console(&self) -> &ConsoleArgs {
        &self.console
    }

    fn folders(&self) -> Vec<&Path> {
        vec![&self.output]
    }

    fn on(&self, image: &Path) -> Result<Self> {
        let mut one = self.clone();
        (one.image, one.more) = (image.into(), Vec::new());
        one.output = output_in(&self.output, image);
        one.scoring.reference = companion_of(&self.scoring.reference, image)?;
        one.scoring.report = report_of(&self.scoring.report, image)?;
        Ok(one)
    }

    fn run(&self) -> Result<Outcome> {
        denoise::run(self)
    }
}

impl OnImages for InpaintArgs {
    fn given(&self) -> Vec<PathBuf> {
        std::iter::once(&self.image).chain(&self.more).cloned().collect()
    }

    fn console(&self) -> &ConsoleArgs {
        &self.console
    }

    fn folders(&self) -> Vec<&Path> {
        vec![&self.output]
    }

    fn on(&self, image: &Path) -> Result<Self> {
        let mut one = self.clone();
        (one.image, one.more) = (image.into(), Vec::new());
        one.output = output_in(&self.output, image);
        one.input.known = companion_of(&self.input.known, image)?;
        one.input.holes = companion_of(&self.input.holes, image)?;
        one.scoring.reference = companion_of(&self.scoring.reference, image)?;
        one.scoring.report = report_of(&self.scoring.report, image)?;
        Ok(one)
    }

    fn run(&self) -> Result<Outcome> {
        inpaint::run(self)
    }
}

impl OnImages for SeparateArgs {
    fn given(&self) -> Vec<PathBuf> {
        std::iter::once(&self.image).chain(&self.more).cloned().collect()
    }

    fn console(&self) -> &ConsoleArgs {
        &self.console
    }

    fn folders(&self) -> Vec<&Path> {
        vec![&self.smooth_out, &self.texture_out]
    }

    fn on(&self, image: &Path) -> Result<Self> {
        let mut one = self.clone();
        (one.image, one.more) = (image.into(), Vec::new());
        one.smooth_out = output_in(&self.smooth_out, image);
        one.texture_out = output_in(&self.texture_out, image);
        one.report = report_of(&self.report, image)?;
        Ok(one)
    }

    fn run(&self) -> Result<Outcome> {
        separate::run(self)
    }
}
