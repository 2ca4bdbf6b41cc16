//! Completions and manual pages say what `--help` says.

mod common;

use common::Desk;
use std::fs;
use std::process::Command;

/// Verbs as the help of the program lists them.
fn verbs(desk: &Desk) -> Vec<String> {
    let help = desk.succeed("--help");
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_string()).filter(|verb| verb != "help").collect()
}

/// Long options in the help of a verb.
fn options(desk: &Desk, verb: &str) -> Vec<String> {
    let help = desk.succeed(&format!("{verb} --help"));
    let (options, _) = help.split_once("\nExample").unwrap_or_else(|| panic!("no examples in lobcod {verb} --help"));
    let words = options.lines().filter(|line| line.trim_start().starts_with('-')).flat_map(str::split_whitespace);
    words.filter(|word| word.starts_with("--")).map(Into::into).collect()
}

#[test]
fn every_shell_completes_every_verb() {
    let desk = Desk::new();
    let verbs = verbs(&desk);
    assert!(verbs.len() >= 13 && verbs.contains(&"inpaint".into()), "{verbs:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = desk.succeed(&format!("completions {shell}"));
        for word in verbs.iter().map(String::as_str).chain(["relative-penalty", "decision-map"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(desk.run("completions tcsh").status.code(), Some(2));
}

#[test]
fn bash_completes_as_it_is_told() {
    if !Command::new("bash").arg("--version").output().is_ok_and(|output| output.status.success()) {
        lobcod_conformance::skipped("there is no bash");
        return;
    }
    let desk = Desk::new();
    desk.bytes("lobcod.bash", desk.succeed("completions bash").as_bytes());
    let ask = "source ./lobcod.bash; COMP_WORDS=(lobcod inpaint --pre); COMP_CWORD=2; _lobcod lobcod --pre inpaint; echo ${COMPREPLY[@]}";
    let output = Command::new("bash").args(["-c", ask]).current_dir(desk.path("")).output().unwrap();
    assert_eq!(common::text(&output.stdout), "--preset --precision\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_verb_has_a_manual_page_with_all_its_options() {
    let desk = Desk::new();
    desk.succeed("manual -o man");
    let page = |name: &str| fs::read_to_string(desk.path("man").join(name)).unwrap();
    assert!(page("lobcod.1").contains("lobcod\\-inpaint(1)"));
    let verbs = verbs(&desk);
    assert_eq!(fs::read_dir(desk.path("man")).unwrap().count(), 1 + verbs.len());
    for verb in verbs {
        let page = page(&format!("lobcod-{verb}.1"));
        assert!(page.contains(&format!(".TH lobcod-{verb} 1")) && page.contains("Example"), "{page}");
        for option in options(&desk, &verb) {
            assert!(page.contains(&option.replace('-', "\\-")), "{verb}: {option}");
        }
    }
}
