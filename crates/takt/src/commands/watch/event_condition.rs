//! Conditions of `takt watch --events --where` and `takt history --events --where`.

use takt_space::namespace0::{Namespace0, StandardNode};
use takt_ua::enumerations::{FilterOperator, NodeClass};
use takt_ua::{DateTime, Variant, ids};

use crate::{explain, output};

/// A condition of `--where`.
#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) field: String,
    pub(super) operator: FilterOperator,
    pub(super) value: Variant,
}

impl Condition {
    /// Operators, the longer ones first.
    const OPERATORS: [(&str, FilterOperator); 6] = [
        (">=", FilterOperator::GreaterThanOrEqual),
        ("<=", FilterOperator::LessThanOrEqual),
        (">", FilterOperator::GreaterThan),
        ("<", FilterOperator::LessThan),
        ("~", FilterOperator::Like),
        ("=", FilterOperator::Equals),
    ];

    /// Warns of a condition that no Event meets: on a field that neither the chosen EventType nor one of the standard has, or with a
    /// value that the field cannot be compared with. Fields of other namespaces are not known without a type.
    pub(super) fn warn(&self, has_type: bool, is_declared: bool) {
        let field = &self.field;
        let standard = standard_fields(field);
        let is_known = is_declared || !standard.is_empty() || (!has_type && field.contains(':'));
        if !is_known {
            output::warning(format_args!(
                "no Event is expected to meet the condition on `{field}`: no EventType of the standard has this field{}",
                match has_type {
                    true => ", nor has the one of --type",
                    false => "",
                }
            ));
        }
        if let Some(wanted) = self.wanted_value(&standard) {
            output::warning(format_args!(
                "no Event is expected to meet the condition on `{field}`: `{}` is no {wanted}",
                self.value
            ));
        }
    }

    /// Returns the kind of value that all these fields have, if that of the condition is of another kind.
    fn wanted_value(&self, fields: &[StandardNode]) -> Option<&'static str> {
        if self.operator == FilterOperator::Like || fields.is_empty() {
            return None;
        }
        let all = |supertype: u32| {
            let mut fields = fields.iter();
            fields.all(|field| Namespace0::is_subtype_of(field.data_type(), supertype))
        };
        let text = match &self.value {
            Variant::String(text) => Some(text.as_str()),
            _ => None,
        };
        let is_time = text.is_some_and(|text| text.parse::<DateTime>().is_ok());
        if all(ids::DATE_TIME) && !is_time {
            Some("time such as 2026-01-31T12:00:00Z")
        } else if all(ids::NUMBER) && text.is_some() {
            Some("number")
        } else if all(ids::BOOLEAN) && text.is_some() {
            Some("Boolean: true or false")
        } else {
            None
        }
    }

    pub(super) fn parse(text: &str) -> miette::Result<Self> {
        let at = text.find(['>', '<', '~', '=']);
        let parts = at.and_then(|at| {
            let (field, rest) = text.split_at(at);
            let operators = Self::OPERATORS.iter();
            let mut fitting = operators.filter_map(|(sign, operator)| {
                rest.strip_prefix(sign).map(|value| (*operator, value))
            });
            let (operator, value) = fitting.next()?;
            Some((field.trim(), operator, value.trim()))
        });
        match parts {
            Some((field, operator, value)) if !field.is_empty() => Ok(Self {
                field: field.to_owned(),
                operator,
                value: literal(field, operator, value),
            }),
            _ => Err(explain::with_help(
                format!("`{text}` is no condition"),
                "Examples: 'Severity>=500', 'SourceName=Spindle/Temperature', 'Message~%hot%', 'ActiveState/Id=true'.",
            )),
        }
    }
}

/// Returns a value as the type that it looks like. Patterns are texts, and so are the values of fields that are Strings in the
/// standard.
fn literal(field: &str, operator: FilterOperator, text: &str) -> Variant {
    let fields = standard_fields(field);
    let is_string =
        |field: &StandardNode| Namespace0::is_subtype_of(field.data_type(), ids::STRING);
    let is_text = !fields.is_empty() && fields.iter().all(is_string);
    if operator == FilterOperator::Like || is_text {
        return Variant::from(text);
    }
    if let Ok(number) = text.parse::<i32>() {
        return Variant::from(number);
    }
    // `Inf` and `nan` are names, not numbers: no field is compared with them.
    if let Some(number) = text.parse::<f64>().ok().filter(|it| it.is_finite()) {
        return Variant::from(number);
    }
    match text {
        "true" => Variant::from(true),
        "false" => Variant::from(false),
        _ => Variant::from(text),
    }
}

/// Returns the fields of this path that EventTypes of the standard have.
fn standard_fields(path: &str) -> Vec<StandardNode> {
    let events = Namespace0::nodes().filter(|node| {
        node.node_class() == NodeClass::ObjectType
            && Namespace0::is_subtype_of(node.id(), ids::BASE_EVENT_TYPE)
    });
    let mut level: Vec<StandardNode> = events.collect();
    for name in path.split('/') {
        let nodes = std::mem::take(&mut level).into_iter();
        let references = nodes.flat_map(StandardNode::references);
        let children = references.filter(|one| {
            one.is_forward && Namespace0::is_subtype_of(one.reference_type, ids::AGGREGATES)
        });
        let children = children.filter_map(|child| Namespace0::get(child.target));
        level = children
            .filter(|child| child.browse_name() == name)
            .collect();
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_a_field_an_operator_and_a_value() {
        let parsed = |text: &str| {
            let condition = Condition::parse(text).unwrap();
            (condition.field, condition.operator, condition.value)
        };
        assert_eq!(
            parsed("Severity >= 500"),
            (
                "Severity".to_owned(),
                FilterOperator::GreaterThanOrEqual,
                500_i32.into()
            )
        );
        assert_eq!(
            parsed("Message~%a=b%"),
            ("Message".to_owned(), FilterOperator::Like, "%a=b%".into())
        );
        assert_eq!(
            parsed("ActiveState/Id=true"),
            (
                "ActiveState/Id".to_owned(),
                FilterOperator::Equals,
                true.into()
            )
        );
        for text in ["SourceName=Inf", "SourceName=12", "SourceName=true"] {
            let (_, operator, value) = parsed(text);
            assert_eq!(operator, FilterOperator::Equals);
            assert_eq!(value, text.trim_start_matches("SourceName=").into());
        }
        for text in ["nan", "inf", "-Infinity", "1e999"] {
            assert_eq!(parsed(&format!("7:Torque>{text}")).2, text.into());
        }
        assert_eq!(parsed("7:Torque>1.5e3").2, 1500.0.into());
        for wrong in ["Severity", "=5", ""] {
            assert!(Condition::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn fields_of_the_standard_are_known() {
        for field in [
            "Severity",
            "ActiveState/Id",
            "LimitState/CurrentState/Id",
            "InputNode",
            "OldValues",
        ] {
            assert!(!standard_fields(field).is_empty(), "{field}");
        }
        for field in ["Severty", "ActiveState/Ident", "Id", "Message/Id", ""] {
            assert!(standard_fields(field).is_empty(), "{field}");
        }
    }

    #[test]
    fn values_that_a_field_never_has_are_noticed() {
        let wanted = |text: &str| {
            let condition = Condition::parse(text).unwrap();
            condition.wanted_value(&standard_fields(&condition.field))
        };
        assert_eq!(wanted("Severity>=x"), Some("number"));
        assert!(wanted("Retain=yes").is_some_and(|wanted| wanted.starts_with("Boolean")));
        for wrong in ["Time>=soon", "Time>=2026"] {
            assert!(wanted(wrong).is_some_and(|wanted| wanted.starts_with("time")));
        }
        for fitting in [
            "Severity>=500",
            "Severity~5%",
            "Retain=true",
            "ActiveState/Id=1",
            "Time>=2026-01-31T12:00:00Z",
            "SourceName=x",
            "Message=x",
            "Severty>=x",
            "7:Torque>=x",
        ] {
            assert_eq!(wanted(fitting), None, "{fitting}");
        }
    }
}
