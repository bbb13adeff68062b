//! The schema and the reference contain all fields.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;
use takt_scenario::ScenarioField;

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// Returns a text in lines of at most 120 columns. All lines but the first are indented by two spaces, as in an item of a list.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().unwrap();
        if line.chars().count() + 1 + word.chars().count() > 120 {
            lines.push(format!("  {word}"));
        } else {
            let separator = if line.is_empty() { "" } else { " " };
            line.push_str(separator);
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// Returns lists of fields, as documents have them.
fn reference(fields: Vec<ScenarioField>) -> String {
    let mut text = String::new();
    let mut table = "";
    for field in fields {
        if field.table != table {
            table = field.table;
            let (first, rest) = table.split_at(1);
            let heading = format!("{}{rest}", first.to_uppercase());
            let description = wrapped(field.table_description).replace("\n  ", "\n");
            writeln!(text, "\n### {heading}\n\n{description}\n").unwrap();
        }
        let needed = if field.required { " (required)" } else { "" };
        let item = format!(
            "* `{}`{needed}: {}. {}",
            field.name, field.kind, field.description
        );
        writeln!(text, "{}", wrapped(&item)).unwrap();
    }
    text
}

/// Checks that a file has these contents. With `TAKT_WRITE_REFERENCE=1` in the environment, the file is written instead.
fn is_current(path: &str, expected: &str) {
    if std::env::var_os("TAKT_WRITE_REFERENCE").is_some() {
        std::fs::write(repository(path), expected).unwrap();
    }
    let found = std::fs::read_to_string(repository(path)).unwrap();
    assert!(
        found == expected,
        "{path} is not current: run this test with TAKT_WRITE_REFERENCE=1"
    );
}

#[test]
fn the_documents_have_all_fields() {
    has_fields("docs/scenario.md", takt_scenario::fields());
    has_fields("docs/campaigns.md", takt_scenario::campaign_fields());
    has_fields("docs/plant.md", takt_scenario::plant_fields());
}

fn has_fields(document: &str, fields: Vec<ScenarioField>) {
    let found = std::fs::read_to_string(repository(document)).unwrap();
    let (before, rest) = found.split_once("<!-- fields -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of fields -->").unwrap();
    let expected = format!(
        "{before}<!-- fields -->\n{}\n<!-- end of fields -->{after}",
        reference(fields)
    );
    is_current(document, &expected);
}

#[test]
fn the_schema_beside_the_scenarios_is_current() {
    is_current(
        "scenarios/scenario.schema.json",
        &format!("{:#}\n", takt_scenario::schema()),
    );
    is_current(
        "scenarios/campaigns/campaign.schema.json",
        &format!("{:#}\n", takt_scenario::campaign_schema()),
    );
    is_current(
        "examples/plant/plant.schema.json",
        &format!("{:#}\n", takt_scenario::plant_schema()),
    );
}

/// Returns true if the fields of a document, and their types, are those of the schema. Patterns are not compared.
fn conforms(value: &toml::Value, schema: &Value, root: &Value) -> bool {
    let resolved = match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    if let Some(any) = resolved["anyOf"].as_array() {
        return any.iter().any(|schema| conforms(value, schema, root));
    }
    if let Some(values) = resolved["enum"].as_array() {
        return values.iter().any(|known| known.as_str() == value.as_str());
    }
    match (resolved["type"].as_str(), value) {
        (None, _)
        | (Some("string"), toml::Value::String(_))
        | (Some("boolean"), toml::Value::Boolean(_)) => true,
        (Some("number"), value) => value.is_integer() || value.is_float(),
        (Some("integer"), toml::Value::Integer(value)) => {
            resolved["minimum"]
                .as_i64()
                .is_none_or(|least| least <= *value)
                && resolved["maximum"]
                    .as_i64()
                    .is_none_or(|most| *value <= most)
        }
        (Some("array"), toml::Value::Array(items)) => {
            let limit = |name: &str| resolved[name].as_u64();
            let length = items.len() as u64;
            limit("minItems").is_none_or(|least| least <= length)
                && limit("maxItems").is_none_or(|most| length <= most)
                && items
                    .iter()
                    .all(|item| conforms(item, &resolved["items"], root))
        }
        (Some("object"), toml::Value::Table(table)) => {
            let needed = resolved["required"].as_array().into_iter().flatten();
            let known = |name: &str| {
                resolved["properties"]
                    .get(name)
                    .or(resolved["additionalProperties"]
                        .as_object()
                        .map(|_| &resolved["additionalProperties"]))
            };
            let has = |schema: &Value| table.contains_key(schema["required"][0].as_str().unwrap());
            let mut groups = resolved["allOf"].as_array().into_iter().flatten();
            let is_one = |group: &Value| {
                let ways = group["oneOf"].as_array().unwrap().iter();
                ways.filter(|way| has(way)).count() == 1
            };
            groups.all(is_one)
                && needed
                    .map(|name| name.as_str().unwrap())
                    .all(|name| table.contains_key(name))
                && table.iter().all(|(name, value)| {
                    known(name).is_some_and(|schema| conforms(value, schema, root))
                })
        }
        _ => false,
    }
}

#[test]
fn shipped_files_conform_to_the_schemas() {
    let schema = takt_scenario::schema();
    assert!(count_conforming("scenarios", &schema) >= 8);
    let of_campaigns = takt_scenario::campaign_schema();
    assert!(count_conforming("scenarios/campaigns", &of_campaigns) >= 1);
    wrong_texts_do_not_conform(&schema);
    let plant = std::fs::read_to_string(repository("examples/plant/plant.toml")).unwrap();
    let plant = toml::Value::Table(plant.parse().unwrap());
    let of_plants = takt_scenario::plant_schema();
    assert!(conforms(&plant, &of_plants, &of_plants));
}

fn count_conforming(folder: &str, schema: &Value) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(repository(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let text = std::fs::read_to_string(&path).unwrap();
            let document = toml::Value::Table(text.parse().unwrap());
            assert!(conforms(&document, schema, schema), "{}", path.display());
            count += 1;
        }
    }
    count
}

fn wrong_texts_do_not_conform(schema: &Value) {
    for wrong in [
        "topology.kind = \"lin\"",
        "links = [{ ends = [\"a\"] }]",
        "sweeps = [{ parameter = \"name\", values = [] }]",
        "applications = [{ name = \"a\", publisher = \"a\", loopback = \"b\", cycle = \"1 ms\" }]",
        "applications = [{ name = \"a\", publisher = \"a\", loopback = \"b\", cycle = \"1 ms\", payload = \"1 B\", fields = 1 }]",
    ] {
        let document = toml::Value::Table(format!("version = 1\n{wrong}").parse().unwrap());
        assert!(!conforms(&document, schema, schema), "{wrong}");
    }
    let zero = &schema["$defs"]["application"]["properties"]["cycle"]["not"]["pattern"];
    assert_eq!(zero, "^ *\\+?0+(\\.0+)? *[^0-9. ]");
}
