//! Plans as shell scripts with comments.

use takt_figures::Column;
use takt_figures::Table;
use takt_tsn::PortPlan;

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
    lines
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
    lines
}

/// Returns a text as comments, wrapped between words.
fn comment(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = "#".to_owned();
    for word in text.split(' ') {
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
    use super::*;

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
