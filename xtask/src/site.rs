//! The documentation site: `docs/`, the help of the program and the docstrings of the package as
//! pages that need no network.

use crate::python::{make_venv, pip, program, run};
use crate::{cargo, root};
use std::fs;
use std::path::PathBuf;

/// Builds the site into `target/site/html`; a broken link fails.
pub fn build() -> Result<(), String> {
    cargo(&["build", "--quiet", "--package", "lobcod-cli"])?;
    let venv = venv()?;
    let mut mkdocs = program(&venv, "mkdocs");
    mkdocs.args(["build", "--quiet", "--strict", "--clean", "--config-file", "site/mkdocs.yml"]);
    run(mkdocs.current_dir(root()).env("NO_MKDOCS_2_WARNING", "1"))?;
    println!("the site is target/site/html/index.html");
    Ok(())
}

/// The environment with the packages of `site/requirements.txt`.
fn venv() -> Result<PathBuf, String> {
    let venv = root().join("target/site/venv");
    let wanted = root().join("site/requirements.txt");
    let stamp = venv.join("installed.txt");
    let listed = fs::read(&wanted).map_err(|e| format!("{}: {e}", wanted.display()))?;
    if fs::read(&stamp).is_ok_and(|installed| installed == listed) {
        return Ok(venv);
    }
    make_venv(&venv)?;
    pip(&venv, ["install", "--quiet", "-r"], &[wanted.as_path()])?;
    fs::write(stamp, listed).map_err(|e| e.to_string())?;
    Ok(venv)
}
