//! `lobcod completions` and `lobcod manual`: what shells and `man` know about the command line, made from its tree.

use crate::args::{Cli, CompletionsArgs, ManualArgs};
use crate::output::paths::Folder;
use crate::output::tell;
use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use lobcod_image::write_atomically;

/// Prints the completions of a shell.
pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lobcod", &mut script);
    tell(&String::from_utf8(script).context("the completions are not text; choose another shell")?)
}

/// Writes a manual page of the program and one of every verb.
pub fn pages(args: &ManualArgs) -> Result<()> {
    let folder = Folder::check(&args.output)?;
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set()).map(|verb| {
        let name = format!("lobcod-{}", verb.get_name());
        (format!("{name}.1"), verb.clone().display_name(name))
    });
    let pages: Vec<_> = std::iter::once(("lobcod.1".into(), program.clone())).chain(verbs).collect();
    let place = folder.make()?;
    for (file, command) in &pages {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        write_atomically(&place.join(file), &page)?;
    }
    tell(&format!("{} manual pages in {}; read one with: man {}/lobcod.1", pages.len(), place.display(), place.display()))
}
