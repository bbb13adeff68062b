//! Paths drawn as a tree.

/// Segments of a path, and the text after its last segment.
pub(crate) type Row<'a> = (Vec<&'a str>, String);

/// Returns the tree of `rows`, line by line. Siblings are in the order of their first appearance.
pub(crate) fn lines(rows: &[Row<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let rows: Vec<&Row<'_>> = rows.iter().collect();
    level(&rows, 0, "", &mut lines);
    lines
}

fn level(rows: &[&Row<'_>], depth: usize, indent: &str, lines: &mut Vec<String>) {
    let mut names: Vec<&str> = Vec::new();
    for (segments, _) in rows {
        match segments.get(depth) {
            Some(name) if !names.contains(name) => names.push(name),
            _ => {}
        }
    }
    for (number, name) in names.iter().enumerate() {
        let last = number + 1 == names.len();
        let below: Vec<&Row<'_>> = rows
            .iter()
            .filter(|(segments, _)| segments.get(depth) == Some(name))
            .copied()
            .collect();
        let label = below
            .iter()
            .find(|(segments, _)| segments.len() == depth + 1)
            .map_or("", |(_, label)| label);
        let branch = if last { "└─ " } else { "├─ " };
        lines.push(format!("{indent}{branch}{name}{label}"));
        let deeper = format!("{indent}{}", if last { "   " } else { "│  " });
        level(&below, depth + 1, &deeper, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_stand_together() {
        let rows = [
            (vec!["Start"], "()".to_owned()),
            (vec!["Spindle", "Speed"], " [r/min]".to_owned()),
            (vec!["Door"], String::new()),
            (vec!["Spindle", "Load"], String::new()),
        ];
        assert_eq!(
            lines(&rows),
            [
                "├─ Start()",
                "├─ Spindle",
                "│  ├─ Speed [r/min]",
                "│  └─ Load",
                "└─ Door",
            ]
        );
    }
}
