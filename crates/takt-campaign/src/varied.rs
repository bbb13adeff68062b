//! Settings in which the cases of a summary differ.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::summary::MergedRow;

/// Returns the names of the settings in which rows differ, in the order of the campaign. A setting that follows from an earlier one in all
/// rows, one value from each, is left out: coupled and derived fields.
#[must_use]
pub fn varied_settings(rows: &[MergedRow]) -> Vec<String> {
    let mut names: Vec<&String> = Vec::new();
    for name in rows.iter().flat_map(|row| row.settings.keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let values = |name: &String| -> BTreeSet<Option<String>> {
        let values = rows.iter();
        let values = values.map(|row| row.settings.get(name).map(Value::to_string));
        values.collect()
    };
    let mut kept: Vec<&String> = Vec::with_capacity(names.len());
    for name in names {
        let own = values(name).len();
        let follows = |from: &&String| {
            let text =
                |row: &MergedRow, name: &String| row.settings.get(name).map(Value::to_string);
            let pairs = rows.iter().map(|row| (text(row, from), text(row, name)));
            let pairs: BTreeSet<_> = pairs.collect();
            pairs.len() == own && pairs.len() == values(from).len()
        };
        // One value tells nothing.
        if own > 1 && !kept.iter().any(follows) {
            kept.push(name);
        }
    }
    kept.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn row(settings: Value) -> MergedRow {
        let settings = match settings {
            Value::Object(settings) => settings,
            _ => Map::new(),
        };
        MergedRow {
            case: String::new(),
            scenario: String::new(),
            settings,
            backend: "simulate".to_owned(),
            measured: false,
            rows: 1,
            mean: None,
            median: None,
            least: None,
            most: None,
        }
    }

    #[test]
    fn coupled_and_constant_settings_tell_nothing() {
        let rows: Vec<MergedRow> = [("1", "a"), ("1", "b"), ("2", "a"), ("2", "b")]
            .into_iter()
            .map(|(x, y)| row(json!({"x": x, "double": format!("{x}{x}"), "y": y, "same": "0"})))
            .collect();
        assert_eq!(varied_settings(&rows), ["x", "y"]);
        // Two scenarios of which one has the setting.
        let rows = [row(json!({"x": "1"})), row(json!({}))];
        assert_eq!(varied_settings(&rows), ["x"]);
        assert!(varied_settings(&rows[..1]).is_empty());
    }
}
