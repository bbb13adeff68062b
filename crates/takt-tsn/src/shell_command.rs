//! Commands: a program with arguments, as text for people and as a list for the operating system.

use std::fmt;

/// Longest line of a command that is shown, in characters.
const WIDTH: usize = 78;

/// A command of `tc` or `ip`. No argument contains white space; other characters of the shell are quoted where it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    /// Name of the program.
    pub program: &'static str,
    /// Arguments, in groups that belong together, such as an option and its values.
    pub phrases: Vec<String>,
}

impl ShellCommand {
    /// Makes a command from groups of arguments.
    pub fn new(program: &'static str, phrases: impl IntoIterator<Item = String>) -> Self {
        let phrases = phrases.into_iter().collect();
        Self { program, phrases }
    }

    /// Makes a command of `tc`.
    pub fn tc(words: impl Into<String>) -> Self {
        Self::new("tc", [words.into()])
    }

    /// Makes a command of `ip`.
    pub fn ip(words: impl Into<String>) -> Self {
        Self::new("ip", [words.into()])
    }

    /// Returns the arguments, one by one.
    pub fn arguments(&self) -> Vec<&str> {
        let phrases = self.phrases.iter();
        phrases
            .flat_map(|phrase| phrase.split_whitespace())
            .collect()
    }

    /// Returns the lines of the command in a shell script: wrapped between groups of arguments, with a backslash.
    pub fn lines(&self) -> Vec<String> {
        self.lines_within(WIDTH)
    }

    /// Returns the lines of the command, as [`lines`](Self::lines) does, with this number of characters at most if options are not
    /// longer.
    pub(crate) fn lines_within(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = self.program.to_owned();
        for phrase in self.phrases.iter().map(|phrase| quoted(phrase)) {
            if line.len() + 1 + phrase.len() + " \\".len() > width {
                lines.push(format!("{line} \\"));
                line = "   ".to_owned();
            }
            line.push(' ');
            line.push_str(&phrase);
        }
        lines.push(line);
        lines
    }
}

impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phrases = self.phrases.iter().map(|phrase| quoted(phrase));
        write!(
            f,
            "{} {}",
            self.program,
            phrases.collect::<Vec<_>>().join(" ")
        )
    }
}

/// Returns arguments as the shell reads them again.
fn quoted(phrase: &str) -> String {
    let words = phrase.split_whitespace().map(shell_word);
    words.collect::<Vec<_>>().join(" ")
}

/// Returns one argument as a POSIX shell reads it again: one with other characters than those of names, numbers and lists is quoted. Control
/// characters stay as they are.
#[must_use]
pub fn shell_word(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_reads_the_same_arguments() {
        for name in [
            "a;b", "$(x)", "`x`", "it's", "a|b", "#", "a&b", "~", "*", "\"", "\\", "eth0",
        ] {
            let command = ShellCommand::tc(format!("qdisc del dev {name} root"));
            for text in [command.to_string(), command.lines().join("\n")] {
                let shown = text.replacen("tc ", "printf '%s\\n' ", 1);
                let output = std::process::Command::new("sh")
                    .args(["-c", &shown])
                    .output();
                let output = String::from_utf8(output.unwrap().stdout).unwrap();
                let words: Vec<&str> = output.lines().collect();
                assert_eq!(words, command.arguments(), "{text}");
            }
        }
        for word in ["", "a b", " ", "it's here", "a\tb", "\u{e4}"] {
            let shown = format!("printf '[%s]' {}", shell_word(word));
            let output = std::process::Command::new("sh")
                .args(["-c", &shown])
                .output();
            let output = String::from_utf8(output.unwrap().stdout).unwrap();
            assert_eq!(output, format!("[{word}]"), "{shown}");
        }
        assert_eq!(
            ShellCommand::ip("link del a@b.1").to_string(),
            "ip link del a@b.1"
        );
    }

    #[test]
    fn long_commands_are_wrapped_between_options() {
        let phrases = std::iter::repeat_n("sched-entry S 01 40000".to_owned(), 4);
        let command = ShellCommand::new("tc", phrases);
        assert_eq!(
            command.lines(),
            [
                "tc sched-entry S 01 40000 sched-entry S 01 40000 sched-entry S 01 40000 \\",
                "    sched-entry S 01 40000"
            ]
        );
        assert_eq!(command.arguments().len(), 16);
    }
}
