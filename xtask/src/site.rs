//! The documentation site: `docs/`, the help of the program and the docstrings of the package as
//! pages that need no network.

use crate::python::{program, run, venv_with};
use crate::{build_program, root, studio};

/// Builds the site into `target/site/html`, with lobcod studio where its module can be built; a
/// broken link fails.
pub fn build() -> Result<(), String> {
    studio::build_where_possible()?;
    build_program()?;
    let venv = venv_with(&root().join("target/site/venv"), "site/requirements.txt")?;
    let mut mkdocs = program(&venv, "mkdocs");
    mkdocs.args(["build", "--quiet", "--strict", "--clean", "--config-file", "site/mkdocs.yml"]);
    run(mkdocs.current_dir(root()).env("NO_MKDOCS_2_WARNING", "1"))?;
    println!("the site is target/site/html/index.html");
    Ok(())
}
