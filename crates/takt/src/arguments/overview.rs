//! The page of `takt --help`: all commands, each below the heading of its group.

use std::fmt::Write as _;

use clap::Subcommand;
use clap::builder::Styles;

use super::{LaboratoryGroup, OpcUaGroup, OtherGroup, PubSubGroup, ServicesGroup};

/// Returns each heading with its commands, in the order in which they are shown.
fn sections() -> [(&'static str, clap::Command); 5] {
    let mut others = commands_of::<OtherGroup>();
    // clap adds the command `help`.
    others.build();
    [
        ("OPC UA", commands_of::<OpcUaGroup>()),
        ("Services of this host", commands_of::<ServicesGroup>()),
        ("PubSub", commands_of::<PubSubGroup>()),
        ("TSN laboratory", commands_of::<LaboratoryGroup>()),
        ("Takt itself", others),
    ]
}

fn commands_of<Group: Subcommand>() -> clap::Command {
    Group::augment_subcommands(clap::Command::new("takt"))
}

/// Returns the template of the page. clap has no headings for commands, so it has them as text.
pub(super) fn template() -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let sections = sections();
    let all = sections
        .iter()
        .flat_map(|(_, group)| group.get_subcommands());
    let width = all.map(|command| command.get_name().len()).max();
    let width = width.unwrap_or(0);
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    // Writing into a String cannot fail.
    for (heading, group) in &sections {
        let _ = writeln!(template, "\n{header}{heading}:{header:#}");
        for command in group.get_subcommands() {
            let name = command.get_name();
            let space = width - name.len() + 2;
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let _ = writeln!(template, "  {literal}{name}{literal:#}{:space$}{about}", "");
        }
    }
    template + &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}")
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::panic,
        clippy::unwrap_used,
        reason = "a test fails by panicking"
    )]

    use clap::CommandFactory;

    use super::super::Arguments;

    /// Width of a terminal.
    const WIDTH: usize = 80;

    #[test]
    fn each_command_is_in_one_line_below_one_heading() {
        let mut command = Arguments::command();
        command.build();
        let page = command.render_help().to_string();
        for below in command.get_subcommands() {
            let begin = format!("  {} ", below.get_name());
            let lines = page.lines().filter(|line| line.starts_with(&begin));
            assert_eq!(lines.count(), 1, "{}: {page}", below.get_name());
        }
        let headings: Vec<&str> = page.lines().filter(|line| line.ends_with(':')).collect();
        assert_eq!(headings.len(), super::sections().len() + 1, "{page}");
    }

    #[test]
    fn the_index_of_documents_has_the_same_order() {
        let index = include_str!("../../../../docs/README.md");
        let mut rest = index;
        for (heading, group) in super::sections() {
            let title = format!("\n## {heading}\n");
            let (_, after) = rest
                .split_once(&title)
                .unwrap_or_else(|| panic!("no {title}"));
            let names = group.get_subcommands().map(clap::Command::get_name);
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let (first, _) = after.split_once("\n\n*").unwrap();
            assert!(first.contains(&names.join(", ")), "{heading}: {first}");
            rest = after;
        }
    }

    /// Commands without `--json`, with the reason.
    const WITHOUT_JSON: [(&str, &str); 6] = [
        ("pubsub dissector", "its output is a file: a script in Lua"),
        ("scenario schema", "its output is a file: a JSON Schema"),
        (
            "lab inside",
            "it is hidden, and the first process of a machine",
        ),
        ("campaign schema", "its output is a file: a JSON Schema"),
        (
            "bench",
            "it passes its arguments on to takt-bench, whose benchmarks have it",
        ),
        ("completions", "its output is a file: a script for a shell"),
    ];

    /// Notes each command that can be run, and whether it has the option `--json`.
    fn runnable(command: &clap::Command, path: &str, found: &mut Vec<(String, bool)>) {
        if path == " help" {
            return;
        }
        if !command.is_subcommand_required_set() && !path.is_empty() {
            let mut options = command.get_arguments();
            let has_json = options.any(|option| option.get_long() == Some("json"));
            found.push((path.trim_start().to_owned(), has_json));
        }
        for below in command.get_subcommands() {
            runnable(below, &format!("{path} {}", below.get_name()), found);
        }
    }

    #[test]
    fn each_command_has_json() {
        let mut found = Vec::new();
        runnable(&Arguments::command(), "", &mut found);
        assert!(
            found.len() > 30 && found.iter().any(|(path, _)| path == "trust add"),
            "{found:?}"
        );
        let without = found.iter().filter(|(_, has_json)| !has_json);
        let without: Vec<&str> = without.map(|(path, _)| path.as_str()).collect();
        assert_eq!(without, WITHOUT_JSON.map(|(path, _)| path));
        let document = include_str!("../../../../docs/what-works.md");
        let (_, section) = document.split_once("\n## Output for programs\n").unwrap();
        let (list, _) = section.split_once("\n\nKeys").unwrap();
        for path in without.iter().filter(|path| **path != "lab inside") {
            assert!(list.contains(&format!("`{path}`")), "{path}: {list}");
        }
    }

    #[test]
    fn options_stand_under_their_headings() {
        let command = Arguments::command();
        let heading = |name: &str, option: &str| {
            let command = command.find_subcommand(name).unwrap();
            let found = command
                .get_arguments()
                .find(|known| known.get_long() == Some(option));
            found.unwrap().get_help_heading().map(str::to_owned)
        };
        for (name, option, expected) in [
            ("provider", "audit", None),
            ("provider", "max-memory", None),
            ("provider", "group", None),
            ("provider", "security", Some("Connection to the registry")),
            ("publish", "json", None),
            ("publish", "for", None),
            ("publish", "keys", None),
            ("publish", "cycles", Some("With a scenario")),
            ("loopback", "json", None),
        ] {
            let found = heading(name, option);
            assert_eq!(found.as_deref(), expected, "{name} --{option}");
        }
        for below in command.get_subcommands() {
            for option in below.get_arguments() {
                let is_for_brokers = option
                    .get_help_heading()
                    .is_some_and(|heading| heading.contains("brokers"));
                let name = option.get_long().unwrap_or_default();
                let is_mqtt = name.starts_with("mqtt");
                assert_eq!(is_for_brokers, is_mqtt, "{} --{name}", below.get_name());
            }
        }
    }

    #[test]
    fn the_page_fits_a_terminal() {
        let page = Arguments::command().render_help().to_string();
        for line in page.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(page.contains("-V, --version"), "{page}");
    }
}
