//! Faults of commands, with the causes that their messages tell.

use crate::executor::{CommandResult, ExecutorError};
use crate::read_back::ReadBackError;
use crate::shell_command::ShellCommand;

/// Reason why the system did not do what a command says.
#[derive(Debug, thiserror::Error)]
pub enum SystemFault {
    /// The program cannot be run.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    /// Output of `tc` that cannot be read.
    #[error(transparent)]
    ReadBack(#[from] ReadBackError),
    /// Output of another program that cannot be read.
    #[error("the output of `{0}` cannot be read")]
    Unreadable(String),
    /// There is no such interface.
    #[error("there is no network interface `{interface}`")]
    NoInterface {
        /// Name.
        interface: String,
    },
    /// The kernel lacks a discipline.
    #[error("this kernel has no queueing discipline `{kind}`")]
    NoDiscipline {
        /// Name of the discipline.
        kind: String,
    },
    /// The kernel lacks the classifier flower or the action skbedit.
    #[error("this kernel cannot set the priority of received frames: {message}")]
    NoFilter {
        /// Message of `tc`.
        message: String,
    },
    /// Full offload without a clock in the hardware.
    #[error("the interface has no PTP clock, so its hardware cannot open gates")]
    NoClock,
    /// The hardware does not do it.
    #[error("the interface does not offload this: {message}")]
    NoOffload {
        /// Message of `tc`.
        message: String,
    },
    /// The user may not do it.
    #[error("only root (CAP_NET_ADMIN) may run `{command}`")]
    NotPermitted {
        /// Command.
        command: String,
    },
    /// Any other failure.
    #[error("`{command}` failed: {message}")]
    Command {
        /// Command.
        command: String,
        /// Error output.
        message: String,
    },
}

impl SystemFault {
    /// Returns the fault of a command that failed.
    pub(crate) fn of_result(command: &ShellCommand, result: &CommandResult) -> Self {
        let text = result.stderr.trim();
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.trim().trim_start_matches("Error: "))
            .collect();
        let message = lines.join(" ");
        let command_text = command.to_string();
        let has = |part: &str| text.contains(part);
        if has("qdisc kind is unknown") || has("Unknown qdisc") {
            let kind = kind_of(command);
            return Self::NoDiscipline { kind };
        }
        if has("TC classifier not found")
            || has("Failed to load TC action module")
            || has("Unknown filter")
        {
            return Self::NoFilter { message };
        }
        if has("does not have a PTP clock") {
            return Self::NoClock;
        }
        if has("Cannot find device") || has("does not exist") {
            let interface = word_behind(command, "dev");
            return Self::NoInterface { interface };
        }
        if has("Operation not permitted") || has("permission") {
            return Self::NotPermitted {
                command: command_text,
            };
        }
        if has("offload") || has("Operation not supported") {
            return Self::NoOffload { message };
        }
        Self::Command {
            command: command_text,
            message,
        }
    }
}

/// Returns the word behind another one.
fn word_behind(command: &ShellCommand, word: &str) -> String {
    let words = command.arguments();
    let place = words.iter().position(|other| *other == word);
    let behind = place.and_then(|place| words.get(place + 1));
    behind.map_or_else(String::new, |word| (*word).to_owned())
}

/// Returns the kind of discipline that a command attaches: the word behind the handle, or behind the size table there.
fn kind_of(command: &ShellCommand) -> String {
    let words = command.arguments();
    let handle = words.iter().position(|word| *word == "handle");
    let behind = handle.and_then(|handle| words.get(handle + 2..));
    let kind = behind
        .and_then(|words| match words {
            ["stab", _, _, kind, ..] => Some(kind),
            others => others.first(),
        })
        .or(words.last());
    kind.map_or_else(String::new, |kind| (*kind).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(command: &str, stderr: &str) -> String {
        let result = CommandResult {
            stderr: stderr.to_owned(),
            ..CommandResult::default()
        };
        SystemFault::of_result(&ShellCommand::tc(command), &result).to_string()
    }

    #[test]
    fn messages_of_tc_are_understood() {
        let add = "qdisc replace dev eth0 root handle 100: taprio num_tc 2";
        assert_eq!(
            fault(add, "Error: Specified qdisc kind is unknown.\n"),
            "this kernel has no queueing discipline `taprio`"
        );
        assert_eq!(
            fault(
                "qdisc add dev eth0 clsact",
                "Error: Specified qdisc kind is unknown.\n"
            ),
            "this kernel has no queueing discipline `clsact`"
        );
        assert_eq!(
            fault(add, "Error: Device does not have a PTP clock.\n"),
            "the interface has no PTP clock, so its hardware cannot open gates"
        );
        assert_eq!(
            fault("filter replace", "Error: TC classifier not found.\n"),
            "this kernel cannot set the priority of received frames: TC classifier not found."
        );
        assert_eq!(
            fault("qdisc show dev eth7", "Cannot find device \"eth7\"\n"),
            "there is no network interface `eth7`"
        );
        assert_eq!(
            fault("qdisc del", "RTNETLINK answers: Operation not permitted\n"),
            "only root (CAP_NET_ADMIN) may run `tc qdisc del`"
        );
        assert_eq!(
            fault("qdisc del", "Error: Invalid handle.\n"),
            "`tc qdisc del` failed: Invalid handle."
        );
    }
}
