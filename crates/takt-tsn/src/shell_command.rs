//! Commands: a program with arguments, as text for people and as a list for the operating system.

use std::fmt;

/// Longest line of a command that is shown, in characters.
const WIDTH: usize = 78;

/// A command of `tc` or `ip`. No argument contains white space.
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
        let mut lines = Vec::new();
        let mut line = self.program.to_owned();
        for phrase in &self.phrases {
            if line.len() + 1 + phrase.len() + " \\".len() > WIDTH {
                lines.push(format!("{line} \\"));
                line = "   ".to_owned();
            }
            line.push(' ');
            line.push_str(phrase);
        }
        lines.push(line);
        lines
    }
}

impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.program, self.phrases.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
