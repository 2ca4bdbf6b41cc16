//! Arrangement of the help, and options without effect.
//!
//! `-h` shows the options most people need, `--help` all of them. Options that have no effect in a
//! command are accepted, because scripts pass the same options to several commands, but they are
//! hidden, and giving one prints a warning.

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Widest line of the help.
const WIDTH: usize = 80;
/// Most options that `-h` shows.
const FEW: usize = 8;

/// The options that `-h` shows of commands with many options.
const MOST_USED: [(&str, [&str; FEW]); 6] = [
    (
        "inpaint",
        ["output", "holes", "known", "holes_colour", "preset", "dictionary", "report", "dry_run"],
    ),
    ("fuse", ["output", "mode", "align", "decision_map", "depth_map", "fast", "report", "dry_run"]),
    ("denoise", ["output", "noise", "strength", "preset", "method", "scale", "report", "dry_run"]),
    (
        "separate",
        [
            "smooth_out",
            "texture_out",
            "smooth",
            "penalty",
            "dictionary",
            "alternations",
            "report",
            "dry_run",
        ],
    ),
    (
        "encode",
        ["output", "dictionary", "penalty", "holes", "tolerance", "report", "dry_run", "json"],
    ),
    ("learn", ["output", "atoms", "size", "penalty", "passes", "init", "time_limit", "report"]),
];

/// Options that a command accepts without effect, and why.
const WITHOUT_EFFECT: [(&str, &str, &str); 6] = [
    ("inpaint", "tolerance", "inpainting stops at the penalty that predicts best"),
    ("fuse", "seed", "fusion uses no random numbers"),
    ("fuse", "precision", "fusion uses single precision"),
    ("denoise", "seed", "denoising uses no random numbers"),
    ("denoise", "precision", "denoising uses single precision"),
    ("separate", "seed", "separation uses no random numbers"),
];

/// Options that have an effect only together with another one.
const ONLY_WITH: [(&str, &str, &str); 3] = [
    ("inpaint", "peak", "reference"),
    ("fuse", "peak", "reference"),
    ("denoise", "peak", "reference"),
];

/// The tree with its help arranged.
pub fn arrange(tree: clap::Command) -> clap::Command {
    let mut tree = tree.max_term_width(WIDTH);
    for (command, shown) in MOST_USED {
        tree = tree.mut_subcommand(command, |command| {
            command.mut_args(|arg| {
                let hidden = !arg.is_positional() && !shown.contains(&arg.get_id().as_str());
                arg.hide_short_help(hidden)
            })
        });
    }
    for (command, option, _) in WITHOUT_EFFECT {
        tree = tree
            .mut_subcommand(command, |command| command.mut_arg(option, |option| option.hide(true)));
    }
    tree
}

/// Warnings about given options that have no effect.
pub fn options_without_effect(matches: &ArgMatches) -> Vec<String> {
    let Some((command, matches)) = matches.subcommand() else { return Vec::new() };
    let given = |option: &str| {
        matches.try_contains_id(option).is_ok()
            && matches.value_source(option) == Some(ValueSource::CommandLine)
    };
    let long = |option: &str| format!("--{}", option.replace('_', "-"));
    let never = WITHOUT_EFFECT
        .iter()
        .filter(|(name, option, _)| *name == command && given(option))
        .map(|(name, option, why)| format!("{} has no effect in {name}: {why}", long(option)));
    let alone = ONLY_WITH
        .iter()
        .filter(|(name, option, other)| *name == command && given(option) && !given(other))
        .map(|(_, option, other)| {
            format!("{} has no effect without {}", long(option), long(other))
        });
    never.chain(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;

    /// The help of the program and of each command.
    fn helps(long: bool) -> Vec<(String, String)> {
        let mut tree = Cli::tree();
        tree.build();
        let text = |command: &mut clap::Command| {
            let help = if long { command.render_long_help() } else { command.render_help() };
            (command.get_name().to_string(), help.to_string())
        };
        std::iter::once(text(&mut tree.clone()))
            .chain(tree.get_subcommands_mut().map(text))
            .collect()
    }

    #[test]
    fn lines_of_the_help_fit_the_width() {
        for (command, help) in helps(false).into_iter().chain(helps(true)) {
            for line in help.lines() {
                assert!(line.chars().count() <= WIDTH, "{command}: {line}");
            }
        }
    }

    #[test]
    fn the_short_help_shows_few_options() {
        for (command, help) in helps(false) {
            let options = help.lines().filter(|line| line.trim_start().starts_with('-')).count();
            // Besides --help and --version.
            assert!(options <= FEW + 2, "{command} shows {options} options:\n{help}");
        }
    }

    #[test]
    fn the_tables_name_options_that_exist() {
        let tree = Cli::tree();
        let named = MOST_USED
            .iter()
            .flat_map(|(command, options)| options.map(|option| (*command, option)))
            .chain(WITHOUT_EFFECT.iter().map(|(command, option, _)| (*command, *option)))
            .chain(ONLY_WITH.iter().flat_map(|(c, a, b)| [(*c, *a), (*c, *b)]));
        for (command, option) in named {
            let known = tree.find_subcommand(command).expect("a command").get_arguments();
            assert!(
                known.into_iter().any(|arg| arg.get_id() == option),
                "{command} has no option {option}"
            );
        }
    }

    #[test]
    fn options_are_defined_once() {
        // Two options of the same name with the same help are one definition or two copies of it;
        // the source tells them apart.
        let source = [
            include_str!("groups.rs"),
            include_str!("inpaint.rs"),
            include_str!("tasks.rs"),
            include_str!("mod.rs"),
        ]
        .concat();
        for option in [
            "scale",
            "report",
            "peak",
            "dry_run",
            "relative_penalty",
            "smooth",
            "threads",
            "more",
            "reference",
            "tolerance",
        ] {
            let fields = source.matches(&format!("    pub {option}: ")).count();
            let flattened =
                source.matches(&format!("#[command(flatten)]\n    pub {option}: ")).count();
            let renamed = source.matches(&format!("id = \"{option}\"")).count();
            let expected = if option == "reference" { 2 } else { 1 };
            assert_eq!(fields - flattened + renamed, expected, "--{option}");
        }
    }
}
