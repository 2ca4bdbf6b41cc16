//! The length of the hand-written documentation.

use crate::docs::{pages, read};
use crate::root;
use std::path::Path;

/// The most words that README.md and docs may have.
const LIMIT: usize = 16_000;

/// Prints the number of words; too many fail.
pub fn check() -> Result<(), String> {
    let mut users = 0;
    let mut developers = 0;
    for page in pages()? {
        let words = count(&read(&page)?);
        match page.strip_prefix(root()) {
            Ok(page) if page.ends_with("CHANGELOG.md") => {}
            Ok(page) if page.starts_with("docs") || page == Path::new("README.md") => {
                users += words
            }
            _ => developers += words,
        }
    }
    println!("words written by hand: {users} in README.md and docs, {developers} elsewhere");
    if users > LIMIT {
        return Err(format!("README.md and docs have {users} words, more than {LIMIT}"));
    }
    Ok(())
}

/// Words with a letter, outside code blocks, displayed formulas and generated tables.
fn count(page: &str) -> usize {
    let page = without(page, "<!-- results:", "<!-- end -->");
    let page = without(&page, "```", "```");
    let page = without(&page, "$$", "$$");
    page.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count()
}

/// The text without what is between two marks.
fn without(text: &str, start: &str, end: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(first) = rest.find(start) {
        kept += &rest[..first];
        let inner = &rest[first + start.len()..];
        rest = inner.find(end).map_or("", |last| &inner[last + end.len()..]);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn code_formulas_and_generated_tables_do_not_count() {
        let page = "Two words.\n```sh\nlobcod demo\n```\n| a | 1 |\n$$x y$$\n<!-- results: x \
                    -->\n| b | c |\n<!-- end -->\nlast";
        assert_eq!(count(page), 4);
    }
}
