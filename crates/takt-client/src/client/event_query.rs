//! Selection of Events for a MonitoredItem (EventFilter, OPC 10000-4, 7.22.3).

use takt_ua::enumerations::FilterOperator;
use takt_ua::structures::{
    ContentFilter, ContentFilterElement, ElementOperand, EventFilter, LiteralOperand,
    MonitoringParameters, SimpleAttributeOperand,
};
use takt_ua::{ExtensionObject, NodeId, QualifiedName, Structure, Variant, ids};

use super::attribute::Attribute;

/// Selected fields of Events, and conditions that all have to hold.
///
/// ```
/// use takt_client::EventQuery;
/// use takt_client::ua::enumerations::FilterOperator;
/// use takt_client::ua::ids;
///
/// let query = EventQuery::new(["EventId", "Time", "Severity", "Message"])
///     .condition_id()
///     .field("AckedState/Id")
///     .of_type(ids::ALARM_CONDITION_TYPE)
///     .compare("Severity", FilterOperator::GreaterThanOrEqual, 500_u16);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EventQuery {
    select: Vec<SimpleAttributeOperand>,
    conditions: Vec<ContentFilterElement>,
    queue_size: u32,
}

impl Default for EventQuery {
    fn default() -> Self {
        Self {
            select: Vec::new(),
            conditions: Vec::new(),
            queue_size: 1_000,
        }
    }
}

impl EventQuery {
    /// Creates a query for these fields of all Events.
    pub fn new<'f>(fields: impl IntoIterator<Item = &'f str>) -> Self {
        fields.into_iter().fold(Self::default(), Self::field)
    }

    /// Selects a field by its BrowsePath: names, separated by `/`. A name of another namespace than 0 has its NamespaceIndex before
    /// it, for example `7:Torque`. It is a field of any EventType.
    #[must_use]
    pub fn field(mut self, path: &str) -> Self {
        self.select.push(field(path));
        self
    }

    /// Selects a field that an EventType declares, by its BrowsePath from that type. Events of other types do not have it.
    #[must_use]
    pub fn declared_field(
        mut self,
        event_type: impl Into<NodeId>,
        browse_path: Vec<QualifiedName>,
    ) -> Self {
        self.select
            .push(declared_field(event_type.into(), browse_path));
        self
    }

    /// Selects the ConditionId (OPC 10000-9, 5.5.2), null for Events of no Condition.
    #[must_use]
    pub fn condition_id(mut self) -> Self {
        self.select.push(SimpleAttributeOperand {
            type_definition_id: NodeId::from(ids::CONDITION_TYPE),
            attribute_id: Attribute::NodeId as u32,
            ..SimpleAttributeOperand::default()
        });
        self
    }

    /// Requires an EventType, or a subtype of it.
    #[must_use]
    pub fn of_type(self, event_type: impl Into<NodeId>) -> Self {
        let literal = literal(Variant::from(event_type.into()));
        self.require(FilterOperator::OfType, vec![literal])
    }

    /// Requires that the comparison of a field with a value is true.
    #[must_use]
    pub fn compare(self, path: &str, operator: FilterOperator, value: impl Into<Variant>) -> Self {
        self.require(operator, vec![operand(&field(path)), literal(value.into())])
    }

    /// Requires that the comparison of a field that an EventType declares with a value is true.
    #[must_use]
    pub fn compare_declared(
        self,
        event_type: impl Into<NodeId>,
        browse_path: Vec<QualifiedName>,
        operator: FilterOperator,
        value: impl Into<Variant>,
    ) -> Self {
        let field = declared_field(event_type.into(), browse_path);
        self.require(operator, vec![operand(&field), literal(value.into())])
    }

    /// Sets the number of Events that the server queues between two messages; the default is 1000. For 0 the server chooses
    /// (OPC 10000-4, 7.21): some queue one Event then, and lose the others.
    #[must_use]
    pub fn queue_size(mut self, events: u32) -> Self {
        self.queue_size = events;
        self
    }

    fn require(mut self, operator: FilterOperator, operands: Vec<ExtensionObject>) -> Self {
        self.conditions.push(ContentFilterElement {
            filter_operator: operator,
            filter_operands: operands,
        });
        self
    }

    /// Returns the filter. The conditions are joined by And: each refers to a condition, and to the next And.
    #[must_use]
    pub fn filter(&self) -> EventFilter {
        let joints = self.conditions.len().saturating_sub(1);
        let index = |at: usize| {
            operand(&ElementOperand {
                index: u32::try_from(at).unwrap_or(u32::MAX),
            })
        };
        let join = |at: usize| ContentFilterElement {
            filter_operator: FilterOperator::And,
            filter_operands: vec![index(at + 1), index(joints + at)],
        };
        // The elements And come first, because an element may refer to later ones only.
        let mut elements: Vec<_> = (0..joints).map(join).collect();
        // The last one joins the last two conditions.
        if let Some(last) = elements.last_mut() {
            last.filter_operands = vec![index(2 * joints), index(2 * joints - 1)];
        }
        elements.extend(self.conditions.iter().cloned());
        EventFilter {
            select_clauses: self.select.clone(),
            where_clause: ContentFilter { elements },
        }
    }

    pub(crate) fn parameters(&self, client_handle: u32) -> MonitoringParameters {
        MonitoringParameters {
            client_handle,
            sampling_interval: 0.0,
            filter: ExtensionObject::from_structure(&self.filter()),
            queue_size: self.queue_size,
            discard_oldest: true,
        }
    }
}

fn field(path: &str) -> SimpleAttributeOperand {
    let name = |text: &str| {
        let parsed = text.parse::<QualifiedName>();
        parsed.unwrap_or_else(|_| QualifiedName::new(0, text))
    };
    let names = path.split('/').map(name);
    declared_field(NodeId::from(ids::BASE_EVENT_TYPE), names.collect())
}

fn declared_field(event_type: NodeId, browse_path: Vec<QualifiedName>) -> SimpleAttributeOperand {
    SimpleAttributeOperand {
        type_definition_id: event_type,
        browse_path,
        attribute_id: Attribute::Value as u32,
        ..SimpleAttributeOperand::default()
    }
}

fn operand(structure: &impl Structure) -> ExtensionObject {
    ExtensionObject::from_structure(structure)
}

fn literal(value: Variant) -> ExtensionObject {
    operand(&LiteralOperand { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(filter: &EventFilter) -> Vec<Vec<u32>> {
        let elements = filter.where_clause.elements.iter();
        let indexes = |element: &ContentFilterElement| {
            let operands = element.filter_operands.iter();
            let elements = operands.filter_map(|one| one.decode_as::<ElementOperand>().ok());
            elements.map(|one| one.index).collect()
        };
        elements.map(indexes).collect()
    }

    #[test]
    fn conditions_are_joined() {
        let equals = FilterOperator::Equals;
        let query = EventQuery::new(["Message"]);
        assert!(query.filter().where_clause.elements.is_empty());
        let one = query.of_type(ids::BASE_EVENT_TYPE);
        assert_eq!(references(&one.filter()), [vec![]; 1] as [Vec<u32>; 1]);
        let two = one.compare("Severity", equals, 1_u16);
        assert_eq!(references(&two.filter()), [vec![2, 1], vec![], vec![]]);
        let three = two.compare("SourceName", equals, "a");
        let expected = [vec![1, 2], vec![4, 3], vec![], vec![], vec![]];
        assert_eq!(references(&three.filter()), expected);
    }
    #[test]
    fn names_of_fields_may_have_a_namespace() {
        let query = EventQuery::new(["ActiveState/Id", "7:Torque/8:Unit", "99999:Odd"]);
        let clauses = query.filter().select_clauses;
        let paths: Vec<_> = clauses.iter().map(|one| one.browse_path.clone()).collect();
        let name = |namespace, text| QualifiedName::new(namespace, text);
        assert_eq!(paths[0], [name(0, "ActiveState"), name(0, "Id")]);
        assert_eq!(paths[1], [name(7, "Torque"), name(8, "Unit")]);
        assert_eq!(paths[2], [name(0, "99999:Odd")]);
    }
}
