//! The command line and the value of every option.

use crate::args::Cli;
use clap::ArgAction;
use clap::parser::ValueSource;
use std::ffi::OsStr;

/// An option and its value.
pub struct Setting {
    /// The name on the command line.
    pub name: String,
    /// The given value, or the default.
    pub value: String,
    /// Whether it was given.
    pub given: bool,
}

/// The command line, quoted for a shell.
pub fn command_line() -> String {
    std::env::args_os().map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// All options of the command that have a value.
pub fn settings() -> Vec<Setting> {
    // The command line was validated at startup; here it is parsed again.
    let (program, matches) = (Cli::tree(), Cli::tree().get_matches());
    let Some((name, matches)) = matches.subcommand() else { return Vec::new() };
    let arguments =
        program.find_subcommand(name).into_iter().flat_map(|command| command.get_arguments());
    let setting = |argument: &clap::Arg| {
        let id = argument.get_id().as_str();
        let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
        let values: Vec<_> = matches.get_raw(id)?.map(OsStr::to_string_lossy).collect();
        Some(Setting {
            name: argument.get_long().map_or_else(|| id.into(), |long| format!("--{long}")),
            value: if is_flag { "yes".into() } else { values.join(", ") },
            given: matches.value_source(id) == Some(ValueSource::CommandLine),
        })
        .filter(|setting| setting.given || !is_flag)
    };
    arguments.filter_map(setting).collect()
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_=+:,./@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_would_split_them() {
        for (word, text) in [
            ("a/b-1.png", "a/b-1.png"),
            ("", "''"),
            ("my photo", "'my photo'"),
            ("it's", r"'it'\''s'"),
        ] {
            assert_eq!(quoted(OsStr::new(word)), text);
        }
    }
}
