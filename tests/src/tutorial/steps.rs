//! The steps that the blocks of a document describe.

use super::expected::Expected;

/// One step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Run { command: String, expected: Expected },
    Start { command: String, expected: Expected },
    Write { path: String, text: String },
}

/// Returns the steps of a document, in order.
pub(super) fn steps(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let block: Vec<&str> = lines
            .by_ref()
            .take_while(|line| !line.starts_with("```"))
            .collect();
        let words: Vec<&str> = info.split([' ', ',']).collect();
        let file = words.iter().find_map(|word| word.strip_prefix("file="));
        if let Some(path) = file {
            steps.push(Step::Write {
                path: path.to_owned(),
                text: block.join("\n") + "\n",
            });
        } else if words[0] == "console"
            && !words.iter().any(|word| ["skip", "install"].contains(word))
        {
            steps.extend(commands(&block, &words));
        }
    }
    steps
}

/// Returns the commands of one block with what each should print.
fn commands(block: &[&str], words: &[&str]) -> Vec<Step> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut continued = false;
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push((command.to_owned(), Vec::new()));
            continued = command.ends_with('\\');
        } else if let Some((command, expected)) = found.last_mut() {
            if continued {
                command.push('\n');
                command.push_str(line);
                continued = line.ends_with('\\');
            } else {
                expected.push((*line).to_owned());
            }
        }
    }
    let expected = match words.contains(&"numbers") {
        true => Expected::with_any_numbers,
        false => Expected::exactly,
    };
    let step = |(command, lines)| match (expected(lines), words.contains(&"background")) {
        (expected, true) => Step::Start { command, expected },
        (expected, false) => Step::Run { command, expected },
    };
    found.into_iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(text: &str) -> Expected {
        Expected::exactly(text.lines().map(str::to_owned).collect())
    }

    #[test]
    fn blocks_become_steps() {
        let text = "Intro\n```console skip\n$ git clone x\n```\n```console install\n$ cargo install x\n```\n```console\n$ echo a \\\n  b\na b\n$ true\n```\n\
                    ```console background\n$ takt registry\nlistening on …\n```\n```rust,file=a/b.rs\nfn main() {}\n```\n\
                    ```console numbers\n$ date\n12\n```\n";
        let expected = [
            Step::Run {
                command: "echo a \\\n  b".to_owned(),
                expected: exactly("a b"),
            },
            Step::Run {
                command: "true".to_owned(),
                expected: exactly(""),
            },
            Step::Start {
                command: "takt registry".to_owned(),
                expected: exactly("listening on …"),
            },
            Step::Write {
                path: "a/b.rs".to_owned(),
                text: "fn main() {}\n".to_owned(),
            },
            Step::Run {
                command: "date".to_owned(),
                expected: Expected::with_any_numbers(vec!["12".to_owned()]),
            },
        ];
        assert_eq!(steps(text), expected);
    }
}
