//! `lobcod completions` and `lobcod manual`: shell completions and man pages, generated from the
//! command tree.

use crate::Outcome;
use crate::args::{Cli, CompletionsArgs, ManualArgs};
use crate::command::Command;
use crate::output::paths::Folder;
use crate::output::print;
use anyhow::{Context as _, Result};
use lobcod_io::write_atomically;

impl Command for CompletionsArgs {
    fn run(&self) -> Result<Outcome> {
        completions(self).map(|()| Outcome::Done)
    }
}

impl Command for ManualArgs {
    fn run(&self) -> Result<Outcome> {
        pages(self).map(|()| Outcome::Done)
    }
}

/// Prints the completion script of a shell.
fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::tree(), "lobcod", &mut script);
    print(
        &String::from_utf8(script)
            .context("the completion script is not valid UTF-8; choose another shell")?,
    )
}

/// Writes a man page for the program and one for each command.
fn pages(args: &ManualArgs) -> Result<()> {
    let folder = Folder::check(&args.output)?;
    let mut program = Cli::tree().disable_help_subcommand(true);
    program.build();
    let commands =
        program.get_subcommands().filter(|command| !command.is_hide_set()).map(|command| {
            let name = format!("lobcod-{}", command.get_name());
            (format!("{name}.1"), command.clone().display_name(name))
        });
    let pages: Vec<_> =
        std::iter::once(("lobcod.1".into(), program.clone())).chain(commands).collect();
    let place = folder.make()?;
    for (file, command) in &pages {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        write_atomically(&place.join(file), &page)?;
    }
    print(&format!(
        "wrote {} man pages to {}; read one with: man {}/lobcod.1",
        pages.len(),
        place.display(),
        place.display()
    ))
}
