//! `lobcod completions` and `lobcod manual`: shell completions and man pages, generated from the
//! command tree.

use crate::args::{Cli, CompletionsArgs, ManualArgs};
use crate::output::paths::Folder;
use crate::output::print;
use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use lobcod_io::write_atomically;

/// Prints the completion script of a shell.
pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lobcod", &mut script);
    print(
        &String::from_utf8(script)
            .context("the completion script is not valid UTF-8; choose another shell")?,
    )
}

/// Writes a man page for the program and one for each command.
pub fn pages(args: &ManualArgs) -> Result<()> {
    let folder = Folder::check(&args.output)?;
    let mut program = Cli::command().disable_help_subcommand(true);
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
