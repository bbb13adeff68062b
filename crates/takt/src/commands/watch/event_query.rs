//! Queries of `takt watch --events` and `takt history --events`: the fields of a line, and those that an EventType declares.

use takt_app::{Client, ClientError, DeclaredField, EventQuery};
use takt_space::namespace0::Namespace0;
use takt_ua::enumerations::NodeClass;
use takt_ua::{NodeId, ids};

use super::event_condition::Condition;
use crate::commands::connect::node;
use crate::explain;

/// Fields that a line shows, in its order.
const FIELDS: [&str; 11] = [
    "EventType",
    "Time",
    "Severity",
    "SourceName",
    "Message",
    "EventId",
    "ActiveState/Id",
    "AckedState/Id",
    "ConfirmedState/Id",
    "Retain",
    "SuppressedOrShelved",
];

/// Numbers of fields that are tried: many servers accept no more than 64.
const MOST_FIELDS: [usize; 2] = [256, 64];

/// A query for the fields of a line and further ones.
pub(in crate::commands) struct EventLineQuery {
    pub(in crate::commands) query: EventQuery,
    /// Names of the fields.
    pub(in crate::commands) names: Vec<String>,
}

impl EventLineQuery {
    /// Returns the queries for Events of a type that meet conditions, the one with the most fields first: the next one is for a
    /// server that refuses it. With `is_all`, they have the fields that the type and its supertypes declare.
    pub(in crate::commands) fn all(
        client: &mut Client,
        of_type: Option<&str>,
        conditions: &[String],
        is_all: bool,
    ) -> miette::Result<impl Iterator<Item = Self> + use<>> {
        let of_type = match of_type {
            // Only the server knows the index.
            Some(text) if text.starts_with("nsu=") => {
                let found = node(client, text);
                Some(found.map_err(|error| explain::client(&error))?)
            }
            Some(text) => Some(event_type(text)?),
            None => None,
        };
        let conditions = conditions.iter().map(|text| Condition::parse(text));
        let conditions: Vec<Condition> = conditions.collect::<miette::Result<_>>()?;
        let declared = match &of_type {
            Some(of_type) if is_all || !conditions.is_empty() => further_fields(client, of_type),
            _ => Ok(Vec::new()),
        };
        let declared = declared.map_err(|error| explain::client(&error))?;
        for condition in &conditions {
            let field = condition.field.as_str();
            let is_declared = declared.iter().any(|declared| declared.name == field);
            condition.warn(of_type.is_some(), is_declared || FIELDS.contains(&field));
        }
        // The ConditionId counts as a field.
        let shown = FIELDS.len() + 1;
        let further = if is_all { declared.len() } else { 0 };
        let counts = MOST_FIELDS.map(|most| further.min(most - shown));
        let mut counts = Vec::from(counts);
        // A type with few fields needs no second query.
        counts.dedup();
        Ok(counts.into_iter().map(move |count| {
            let fields = declared.get(..count).unwrap_or_default();
            Self::new(of_type.as_ref(), &conditions, fields, &declared)
        }))
    }

    fn new(
        of_type: Option<&NodeId>,
        conditions: &[Condition],
        fields: &[DeclaredField],
        declared: &[DeclaredField],
    ) -> Self {
        let mut query = EventQuery::new(FIELDS).condition_id();
        let names = FIELDS.into_iter().chain(["ConditionId"]);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        for field in fields {
            query = query.declared_field(field.event_type.clone(), field.path.clone());
            names.push(field.name.clone());
        }
        if let Some(of_type) = of_type {
            query = query.of_type(of_type.clone());
        }
        for condition in conditions {
            let (operator, value) = (condition.operator, condition.value.clone());
            // Some servers know a field of a type only if the type is named.
            let field = declared.iter().find(|field| field.name == condition.field);
            query = match field {
                Some(field) => query.compare_declared(
                    field.event_type.clone(),
                    field.path.clone(),
                    operator,
                    value,
                ),
                None => query.compare(&condition.field, operator, value),
            };
        }
        Self { query, names }
    }
}

/// Returns the fields that an EventType and its supertypes declare, without those of a line.
fn further_fields(
    client: &mut Client,
    event_type: &NodeId,
) -> Result<Vec<DeclaredField>, ClientError> {
    let mut fields = client.declared_fields(event_type)?;
    fields.retain(|field| !FIELDS.contains(&&*field.name));
    Ok(fields)
}

/// Returns true if the user names an EventType of audit Events.
pub(super) fn is_audit(text: &str) -> bool {
    let found = event_type(text).ok();
    let id = found.and_then(|found| found.standard_id());
    id.is_some_and(|id| Namespace0::is_subtype_of(id, ids::AUDIT_EVENT_TYPE))
}

/// Returns the EventType that the user names.
fn event_type(text: &str) -> miette::Result<NodeId> {
    if let Ok(node) = text.parse() {
        return Ok(node);
    }
    let is_named = |name: &str| {
        name == text
            || name.strip_suffix("Type") == Some(text)
            || name.strip_suffix("EventType") == Some(text)
    };
    let mut types = Namespace0::nodes().filter(|node| {
        node.node_class() == NodeClass::ObjectType
            && Namespace0::is_subtype_of(node.id(), ids::BASE_EVENT_TYPE)
    });
    match types.find(|node| is_named(node.browse_name())) {
        Some(found) => Ok(NodeId::from(found.id())),
        None => Err(explain::with_help(
            format!("{text} is no EventType of the standard"),
            "Examples: AlarmConditionType, SystemEventType, AuditEventType. Types of a server are named by NodeId.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::QualifiedName;
    use takt_ua::structures::SimpleAttributeOperand;

    use super::*;

    #[test]
    fn types_are_named_with_and_without_their_last_word() {
        let alarm = NodeId::from(ids::ALARM_CONDITION_TYPE);
        assert_eq!(event_type("AlarmConditionType").unwrap(), alarm);
        assert_eq!(event_type("AlarmCondition").unwrap(), alarm);
        assert_eq!(
            event_type("System").unwrap(),
            NodeId::from(ids::SYSTEM_EVENT_TYPE)
        );
        assert_eq!(event_type("ns=2;i=5").unwrap(), NodeId::numeric(2, 5));
        assert!(event_type("FolderType").is_err());
        assert!(is_audit("AuditEventType") && is_audit("AuditSession"));
        assert!(!is_audit("System") && !is_audit("ns=2;i=5"));
    }

    #[test]
    fn fields_of_a_type_are_selected_and_compared() {
        let field = DeclaredField {
            name: "7:Torque".to_owned(),
            event_type: NodeId::numeric(7, 1),
            path: vec![QualifiedName::new(7, "Torque")],
        };
        let conditions = ["7:Torque>=10", "7:Speed<5"].map(|text| Condition::parse(text).unwrap());
        let all = [field];
        let one = EventLineQuery::new(Some(&NodeId::numeric(7, 1)), &conditions, &all, &all);
        assert_eq!(one.names.len(), FIELDS.len() + 2);
        assert_eq!(one.names.last().unwrap(), "7:Torque");
        let filter = one.query.filter();
        let selected = filter.select_clauses.last().unwrap();
        assert_eq!(selected.type_definition_id, NodeId::numeric(7, 1));
        assert_eq!(selected.browse_path, [QualifiedName::new(7, "Torque")]);
        let mut operands = filter.where_clause.elements.iter().filter_map(|element| {
            let operand = element.filter_operands.first()?;
            operand.decode_as::<SimpleAttributeOperand>().ok()
        });
        let torque = operands.next().unwrap();
        assert_eq!(torque.type_definition_id, NodeId::numeric(7, 1));
        let speed = operands.next().unwrap();
        assert_eq!(speed.type_definition_id, NodeId::from(ids::BASE_EVENT_TYPE));
        assert_eq!(speed.browse_path, [QualifiedName::new(7, "Speed")]);
    }
}
