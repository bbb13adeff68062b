//! Words of commands that people copy.

use std::path::Path;

use crate::output;

/// Returns a text of a file or a peer for a command that a person copies: it is one word of a shell, whatever its characters are, and has
/// no commands to the terminal.
pub fn shell_word(text: &str) -> String {
    takt_tsn::shell_word(&output::printable(text))
}

/// Returns a path as [`shell_word`] does.
pub fn shell_path(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_one_word_of_a_command() {
        assert_eq!(shell_word("Plant-1"), "Plant-1");
        assert_eq!(shell_word("a; rm -r b"), "'a; rm -r b'");
        assert_eq!(shell_word("it's $(b)"), r"'it'\''s $(b)'");
        assert!(!shell_word("a\n\u{1b}[2Jb").contains(['\n', '\u{1b}']));
        assert_eq!(shell_word(""), "''");
    }
}
