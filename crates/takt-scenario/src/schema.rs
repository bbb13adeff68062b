//! The JSON Schema of the file, from the same table that checks it. Editors use it for completion and checks.

use serde_json::{Map, Value, json};

use crate::campaign::CAMPAIGN;
use crate::fields::SCENARIO;
use crate::plant::PLANT;
use crate::shape::{Kind, Shape};

/// Returns the schema of a number with one of these units behind it.
fn quantity(sign: &str, units: &[(&str, u64)], example: &str) -> Value {
    let names: Vec<&str> = units
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.is_empty())
        .collect();
    let pattern = format!("^ *{sign}[0-9]+(\\.[0-9]+)? *({}) *$", names.join("|"));
    json!({ "type": "string", "pattern": pattern, "examples": [example] })
}

/// Returns the schema of a quantity that is not 0.
fn positive(units: &[(&str, u64)], example: &str) -> Value {
    let mut quantity = quantity("\\+?", units, example);
    if let Some(quantity) = quantity.as_object_mut() {
        let zero = json!({ "pattern": "^ *\\+?0+(\\.0+)? *[^0-9. ]" });
        quantity.insert("not".to_owned(), zero);
    }
    quantity
}

fn kind(kind: &Kind, definitions: &mut Map<String, Value>) -> Value {
    use crate::quantity::{Drift, Duration, Length, Rate, Share, Size};
    const SIGNED: &str = "[-+]?";
    match kind {
        Kind::Text | Kind::Prose => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "minLength": 1 }),
        Kind::Interval => positive(Duration::UNITS, "250 us"),
        Kind::Duration => quantity("\\+?", Duration::UNITS, "250 us"),
        Kind::SignedDuration => quantity(SIGNED, Duration::UNITS, "-20 us"),
        Kind::Rate => positive(Rate::UNITS, "1 Gbit/s"),
        Kind::TrafficRate => quantity("\\+?", Rate::UNITS, "1 Gbit/s"),
        Kind::Size => quantity("\\+?", Size::UNITS, "1481 B"),
        Kind::Credit => quantity(SIGNED, Size::UNITS, "-1503 B"),
        Kind::Length => quantity("\\+?", Length::UNITS, "10 m"),
        Kind::Drift => quantity(SIGNED, Drift::UNITS, "1.5 ppm"),
        Kind::Share => {
            json!({ "anyOf": [{ "type": "number" }, quantity(SIGNED, Share::UNITS, "-3%")] })
        }
        Kind::Integer(least, i64::MAX) => json!({ "type": "integer", "minimum": least }),
        Kind::Integer(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Choice(names) => json!({ "enum": names }),
        // A sweep without a value would result in no scenario.
        Kind::List(Kind::Any) => json!({ "type": "array", "minItems": 1 }),
        Kind::Pair(of) => {
            let of = self::kind(of, definitions);
            json!({ "type": "array", "items": of, "minItems": 2, "maxItems": 2 })
        }
        Kind::List(of) => json!({ "type": "array", "items": self::kind(of, definitions) }),
        Kind::Table(shape) => reference(shape, definitions),
        Kind::Named(shape) => {
            json!({ "type": "object", "additionalProperties": reference(shape, definitions) })
        }
        Kind::OneOf(kinds) => {
            let kinds: Vec<Value> = kinds.iter().map(|of| self::kind(of, definitions)).collect();
            json!({ "anyOf": kinds })
        }
        Kind::Any => json!({}),
    }
}

fn reference(shape: &Shape, definitions: &mut Map<String, Value>) -> Value {
    let name = shape
        .name
        .trim_start_matches("a ")
        .trim_start_matches("an ")
        .replace(' ', "_");
    if !definitions.contains_key(&name) {
        // The name is taken before the fields: a table that contains itself would otherwise be defined for ever.
        definitions.insert(name.clone(), Value::Null);
        let defined = table(shape, definitions);
        definitions.insert(name.clone(), defined);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn table(shape: &Shape, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for field in shape.fields() {
        let mut property = kind(&field.kind, definitions);
        if let Some(property) = property.as_object_mut() {
            property.insert("description".to_owned(), field.description.into());
        }
        properties.insert(field.name.to_owned(), property);
    }
    let required = shape.fields().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    let mut table = json!({
        "description": shape.description,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let one_of = shape.one_of.iter().map(|names| {
        let ways = names.iter().map(|name| json!({ "required": [name] }));
        json!({ "oneOf": ways.collect::<Vec<_>>() })
    });
    let one_of: Vec<Value> = one_of.collect();
    if let (false, Some(table)) = (one_of.is_empty(), table.as_object_mut()) {
        table.insert("allOf".to_owned(), one_of.into());
    }
    table
}

/// Returns the JSON Schema (2020-12) of a scenario file.
pub fn schema() -> Value {
    schema_of(&SCENARIO, "A scenario of Takt")
}

/// Returns the JSON Schema (2020-12) of a campaign file.
pub fn campaign_schema() -> Value {
    schema_of(&CAMPAIGN, "A campaign of Takt")
}

/// Returns the JSON Schema (2020-12) of a network file.
pub fn plant_schema() -> Value {
    schema_of(&PLANT, "A network file of Takt")
}

fn schema_of(shape: &Shape, title: &str) -> Value {
    let mut definitions = Map::new();
    let mut schema = table(shape, &mut definitions);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(
            "$schema".to_owned(),
            "https://json-schema.org/draft/2020-12/schema".into(),
        );
        schema.insert("title".to_owned(), title.into());
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

/// A row of the reference: a field, its table, and its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioField {
    /// Kind of table, with its article.
    pub table: &'static str,
    /// Description of such a table.
    pub table_description: &'static str,
    /// Name of the field.
    pub name: &'static str,
    /// True if the table requires the field.
    pub required: bool,
    /// Type of its value, in words.
    pub kind: String,
    /// Description of the field.
    pub description: &'static str,
}

/// Returns all fields of all tables, in the order of the reference. `docs/scenario.md` lists them.
pub fn fields() -> Vec<ScenarioField> {
    fields_of(&SCENARIO)
}

/// Returns all fields of a campaign file, in the order of the reference. `docs/campaigns.md` lists them.
pub fn campaign_fields() -> Vec<ScenarioField> {
    fields_of(&CAMPAIGN)
}

/// Returns the fields of a network file, in the order of the reference, without those of tables that scenarios have, too.
/// `docs/plant.md` lists them.
pub fn plant_fields() -> Vec<ScenarioField> {
    let known = fields();
    let mut own = fields_of(&PLANT);
    own.retain(|field| known.iter().all(|other| other.table != field.table));
    own
}

fn fields_of(root: &'static Shape) -> Vec<ScenarioField> {
    let mut shapes = vec![root];
    let mut rows = Vec::new();
    let mut next = 0;
    while let Some(shape) = shapes.get(next).copied() {
        next += 1;
        for field in shape.fields() {
            rows.push(ScenarioField {
                table: shape.name,
                table_description: shape.description,
                name: field.name,
                required: field.required,
                kind: field.kind.describe(),
                description: field.description,
            });
            tables_in(&field.kind, &mut shapes);
        }
    }
    rows
}

fn tables_in(kind: &'static Kind, shapes: &mut Vec<&'static Shape>) {
    match kind {
        Kind::Table(shape) | Kind::Named(shape)
            if shapes.iter().all(|known| known.name != shape.name) =>
        {
            shapes.push(shape);
        }
        Kind::List(kind) | Kind::Pair(kind) => tables_in(kind, shapes),
        Kind::OneOf(kinds) => kinds.iter().for_each(|kind| tables_in(kind, shapes)),
        _ => {}
    }
}
