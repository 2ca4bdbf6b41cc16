//! Checks the documentation: links have valid targets, generated tables are those of the results,
//! and commands run as written.

use crate::python::run;
use crate::{build_program, root, words};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Pages with commands; those of one page run in order in one folder.
const RUN: [&str; 11] = [
    "README.md",
    "docs/tutorials/first-image.md",
    "docs/tutorials/gallery.md",
    "docs/how-to/restore-photo.md",
    "docs/how-to/focus-stack.md",
    "docs/how-to/exposure-stack.md",
    "docs/how-to/denoise.md",
    "docs/how-to/waveforms.md",
    "docs/how-to/penalty.md",
    "docs/how-to/memory-and-speed.md",
    "docs/reference/masks.md",
];
/// A page that shows the output of its own commands.
const GALLERY: &str = "docs/tutorials/gallery.md";
/// Pages that only the site has.
const GENERATED: [&str; 3] =
    ["docs/reference/cli.md", "docs/reference/json-fields.md", "docs/reference/python-api.md"];
/// Commands that build or install; these are tested elsewhere.
const NOT_RUN: [&str; 2] = ["cargo ", "pip "];

/// Checks all pages and runs all commands.
pub fn check() -> Result<(), String> {
    check_pages()?;
    words::check()?;
    build_program()?;
    RUN.iter().try_for_each(|page| run_page(page).map(drop))
}

/// Checks links and generated tables; runs no command of a page.
pub fn check_pages() -> Result<(), String> {
    check_links()?;
    fill_tables(&["--check"])
}

/// Calls the script that generates tables from results.
pub fn fill_tables(options: &[&str]) -> Result<(), String> {
    let script = root().join("paper/fill_tables.py");
    run(Command::new("python3").arg(script).args(options))
}

fn check_links() -> Result<(), String> {
    let mut faults = Vec::new();
    for page in pages()? {
        faults.extend(broken_links(&page)?);
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Regenerates the images of the gallery with the commands it shows.
pub fn gallery() -> Result<(), String> {
    build_program()?;
    let made = run_page(GALLERY)?;
    let shown = root().join("docs/tutorials/gallery");
    let _ = fs::remove_dir_all(&shown);
    fs::create_dir_all(&shown).map_err(|e| e.to_string())?;
    let text = read(&root().join(GALLERY))?;
    let names: BTreeSet<&str> =
        targets(&text).into_iter().filter_map(|target| target.strip_prefix("gallery/")).collect();
    for name in &names {
        let from = [made.join(name), made.join("examples").join(name)]
            .into_iter()
            .find(|file| file.exists());
        let from = from.ok_or_else(|| {
            format!("{GALLERY} shows {name}, but none of its commands creates it")
        })?;
        fs::copy(from, shown.join(name)).map_err(|e| e.to_string())?;
    }
    println!("{} images in docs/tutorials/gallery", names.len());
    Ok(())
}

/// Runs the commands of a page and returns their working folder.
fn run_page(page: &str) -> Result<PathBuf, String> {
    let folder = root().join("target/docs").join(page.replace(['/', '.'], "-"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    copy_images(&folder.join("docs/images"))?;
    let text = read(&root().join(page))?;
    let lines = blocks(&text, "sh").into_iter().flat_map(str::lines);
    let commands: Vec<&str> =
        lines.filter(|line| !NOT_RUN.iter().any(|start| line.starts_with(start))).collect();
    let path = env::join_paths(
        [root().join("target/debug")]
            .into_iter()
            .chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    );
    let status = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &commands.join("\n")])
        .current_dir(&folder)
        .env("PATH", path.map_err(|e| e.to_string())?)
        .env("HOME", &folder)
        // Pages that a command opens stay closed.
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdout(Stdio::null())
        .status()
        .map_err(|e| format!("bash could not be started: {e}"))?;
    if status.success() { Ok(folder) } else { Err(format!("a command of {page} failed")) }
}

/// Copies the images of the guides, which their commands read.
fn copy_images(into: &Path) -> Result<(), String> {
    fs::create_dir_all(into).map_err(|e| e.to_string())?;
    for entry in fs::read_dir(root().join("docs/images")).map_err(|e| e.to_string())? {
        let entry = entry.map_err(|e| e.to_string())?;
        fs::copy(entry.path(), into.join(entry.file_name())).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Code blocks of a language.
pub fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    text.split(&start).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// All pages of the project.
pub fn pages() -> Result<Vec<PathBuf>, String> {
    let mut pages: Vec<PathBuf> = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "paper/README.md",
        "python/README.md",
    ]
    .map(|page| root().join(page))
    .into();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).map_err(|e| e.to_string())? {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// Links of a page to files or headings that do not exist.
fn broken_links(page: &Path) -> Result<Vec<String>, String> {
    let text = read(page)?;
    let folder = page.parent().unwrap_or(Path::new("."));
    let mut faults = Vec::new();
    for target in targets(&text).into_iter().filter(|target| !target.contains("://")) {
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let file = if file.is_empty() { page.into() } else { folder.join(file) };
        let generated = GENERATED.iter().any(|page| same_file(&file, &root().join(page)));
        let found = generated
            || file.exists()
                && (heading.is_empty() || headings(&read(&file)?).iter().any(|h| h == heading));
        if !found {
            faults.push(format!("{}: {target} does not exist", page.display()));
        }
    }
    Ok(faults)
}

/// Whether two paths, of files that need not exist, are the same.
fn same_file(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
    a.file_name() == b.file_name() && real(a).is_some() && real(a) == real(b)
}

/// Link and image targets of a page, except in code.
fn targets(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    let of = |part: &'_ str, start: &str, end: char| -> Vec<(usize, usize)> {
        let spans = part.match_indices(start).filter_map(|(i, _)| {
            let first = i + start.len();
            Some((first, first + part[first..].find(end)?))
        });
        spans.collect()
    };
    prose
        .flat_map(|part| {
            let links = of(part, "](", ')').into_iter().chain(of(part, "src=\"", '"'));
            links.map(|(first, last)| &part[first..last]).collect::<Vec<_>>()
        })
        .collect()
}

/// Headings as anchors within a page.
fn headings(text: &str) -> Vec<String> {
    let titles = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim());
    let kept = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    titles
        .map(|title| title.to_lowercase().replace(' ', "-").chars().filter(|c| kept(*c)).collect())
        .collect()
}

pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}
