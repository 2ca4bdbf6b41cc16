//! Completions and man pages agree with `--help`.

use crate::common::{Desk, text};
use std::fs;
use std::process::Command;

/// The commands listed in the help.
fn commands(desk: &Desk) -> Vec<String> {
    let help = desk.succeed("--help");
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .map(|line| line.split_whitespace().next().unwrap().to_string())
        .filter(|command| command != "help")
        .collect()
}

/// Long options in the help of a command.
fn options(desk: &Desk, command: &str) -> Vec<String> {
    let help = desk.succeed(&format!("{command} --help"));
    let (options, _) = help
        .split_once("\nExample")
        .unwrap_or_else(|| panic!("no examples in lobcod {command} --help"));
    let words = options
        .lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .flat_map(str::split_whitespace);
    words.filter(|word| word.starts_with("--")).map(Into::into).collect()
}

#[test]
fn every_shell_completes_every_command() {
    let desk = Desk::new();
    let commands = commands(&desk);
    assert!(commands.len() >= 13 && commands.contains(&"inpaint".into()), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = desk.succeed(&format!("completions {shell}"));
        for word in commands.iter().map(String::as_str).chain(["relative-penalty", "decision-map"])
        {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(desk.run("completions tcsh").status.code(), Some(2));
}

#[test]
fn bash_completion_works() {
    if !Command::new("bash").arg("--version").output().is_ok_and(|output| output.status.success()) {
        lobcod_conformance::skipped("skipped: bash is not installed");
        return;
    }
    let desk = Desk::new();
    desk.bytes("lobcod.bash", desk.succeed("completions bash").as_bytes());
    let ask = "source ./lobcod.bash; COMP_WORDS=(lobcod inpaint --pre); COMP_CWORD=2; _lobcod \
               lobcod --pre inpaint; echo ${COMPREPLY[@]}";
    let output =
        Command::new("bash").args(["-c", ask]).current_dir(desk.path("")).output().unwrap();
    assert_eq!(
        text(&output.stdout),
        "--preset --precision\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn every_command_has_a_man_page_with_all_its_options() {
    let desk = Desk::new();
    desk.succeed("manual -o man");
    let page = |name: &str| fs::read_to_string(desk.path("man").join(name)).unwrap();
    assert!(page("lobcod.1").contains("lobcod\\-inpaint(1)"));
    let commands = commands(&desk);
    assert_eq!(fs::read_dir(desk.path("man")).unwrap().count(), 1 + commands.len());
    for command in commands {
        let page = page(&format!("lobcod-{command}.1"));
        assert!(
            page.contains(&format!(".TH lobcod-{command} 1")) && page.contains("Example"),
            "{page}"
        );
        for option in options(&desk, &command) {
            assert!(page.contains(&option.replace('-', "\\-")), "{command}: {option}");
        }
    }
}
