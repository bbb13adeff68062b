//! Plans as shell scripts with comments.

use takt_figures::Column;
use takt_figures::Table;
use takt_tsn::PortPlan;

use crate::output;

/// Width of a comment.
const WIDTH: usize = 78;

/// Returns the script of a plan: its commands, then as comments the classes, and with `explain` the origin of each
/// number.
pub(super) fn lines(plan: &PortPlan, explain: bool) -> Vec<String> {
    let mut lines = takt_tsn::script(plan);
    lines.extend(classes(plan));
    if explain {
        lines.push("# origin of the numbers:".to_owned());
        let origins = plan.derivations.iter();
        lines.extend(origins.flat_map(|it| comment(&format!("{}: {}", it.number, it.origin))));
    }
    lines.extend(warnings(plan));
    // Commands are quoted; a comment ends with its line.
    lines
        .iter()
        .map(|line| match line.starts_with('#') {
            true => output::escaped(line),
            false => line.clone(),
        })
        .collect()
}

/// Returns the warnings about a plan as comments.
pub(super) fn warnings(plan: &PortPlan) -> Vec<String> {
    let warnings = plan.warnings.iter();
    warnings
        .flat_map(|warning| comment(&format!("warning: {warning}")))
        .collect()
}

/// Returns the map of PCPs, priorities of sockets, classes and queues.
fn classes(plan: &PortPlan) -> Vec<String> {
    let mut table = Table::new(["PCP", "class", "queue", "discipline"].map(Column::text));
    for class in &plan.classes {
        let priorities: Vec<String> = class.priorities.iter().map(ToString::to_string).collect();
        let queues: Vec<String> = class
            .queues
            .clone()
            .map(|queue| queue.to_string())
            .collect();
        let row = [
            priorities.join(" "),
            class.name.clone(),
            queues.join(" "),
            class.queue.to_owned(),
        ];
        table.row(row);
    }
    let vlans: Vec<String> = plan.vlans.iter().map(ToString::to_string).collect();
    let mut lines: Vec<String> = table
        .lines(Some(WIDTH - 2))
        .iter()
        .map(|line| format!("# {line}"))
        .collect();
    if !vlans.is_empty() {
        lines.push(format!("# VLAN {}", vlans.join(" ")));
    }
    let groups = plan.groups.iter().map(|group| {
        format!(
            "# group {}: {}",
            group.address,
            group.applications.join(", ")
        )
    });
    lines.extend(groups);
    lines
}

/// Returns a text as comments, wrapped between words.
fn comment(text: &str) -> Vec<String> {
    let text = output::escaped(text);
    let mut lines = Vec::new();
    let mut line = "#".to_owned();
    for word in text.split(' ') {
        // A word that is longer than a line gets one of its own, and no empty one before it.
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.len() > 4 {
            lines.push(std::mem::replace(&mut line, "#  ".to_owned()));
        }
        line.push(' ');
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use takt_scenario::{PortIndex, ScenarioFile};
    use takt_tsn::{Derivation, PlanOptions, PortInput, plan_port};

    use super::*;

    /// The library refuses such names in files; the script does not depend on that.
    #[test]
    fn no_name_becomes_a_command() {
        let text = include_str!("../../../../../scenarios/line.toml");
        let file = ScenarioFile::parse(text, "line.toml").unwrap();
        let scenario = file.scenario();
        let mut ports = (0..scenario.ports.len()).map(PortIndex);
        let input = ports.find_map(|port| {
            let input = PortInput::of_scenario(scenario, port)?;
            input.name().starts_with("bridge1").then_some(input)
        });
        let options = PlanOptions {
            vlan_interfaces: true,
            ..PlanOptions::default()
        };
        let plan = plan_port(&input.unwrap(), &options).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("made");
        let attack = format!("x\ntouch {0} #; touch {0}; $(touch {0})\r", file.display());
        type Place = fn(&mut PortPlan, &str);
        let places: [Place; 7] = [
            |plan, text| plan.port = text.to_owned(),
            |plan, text| plan.node = text.to_owned(),
            |plan, text| plan.discipline = text.to_owned(),
            |plan, text| plan.interface = text.replace(char::is_whitespace, ";"),
            |plan, text| plan.classes[0].name = text.to_owned(),
            |plan, text| {
                plan.derivations = vec![Derivation {
                    number: text.to_owned(),
                    origin: text.to_owned(),
                }]
            },
            |plan, text| plan.interface = format!("`{}`", text.replace(char::is_whitespace, ";")),
        ];
        for (number, place) in places.into_iter().enumerate() {
            let mut plan = plan.clone();
            place(&mut plan, &attack);
            let script = lines(&plan, true).join("\n");
            let tools = "tc() { :; }; ip() { :; }; bridge() { :; }\n";
            let run = Command::new("sh")
                .args(["-c", &format!("{tools}{script}")])
                .output();
            assert!(run.unwrap().status.success(), "{number}: {script}");
            assert!(!file.exists(), "{number}: {script}");
            assert!(!script.contains('\r'), "{number}");
        }
    }

    #[test]
    fn comments_are_wrapped() {
        let text = ["word"; 20].join(" ");
        let lines = comment(&text);
        assert_eq!(lines.len(), 2);
        assert!(
            lines
                .iter()
                .all(|line| line.starts_with("# ") && line.len() <= WIDTH),
            "{lines:?}"
        );
        assert_eq!(lines.join(" ").matches("word").count(), 20);
    }
}
