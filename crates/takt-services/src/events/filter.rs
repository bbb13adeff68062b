//! EventFilter (OPC 10000-4, 7.22.3): validation, with a result for each clause.

use takt_space::{Event, View};
use takt_ua::binary::{Encode, EncodeError, Encoder};
use takt_ua::enumerations::FilterOperator;
use takt_ua::structures::{
    AggregateFilter, ContentFilter, ContentFilterElement, ContentFilterElementResult,
    ContentFilterResult, DataChangeFilter, ElementOperand, EventFilter, EventFilterResult,
    LiteralOperand, SimpleAttributeOperand,
};
use takt_ua::{BuiltInType, ExtensionObject, NodeId, StatusCode, Variant, ids};

use super::evaluate::{Element, Operator, passes};
use super::operand::{Field, Operand};
use super::steps::Steps;

/// Maximum number of select clauses (MaxSelectClauseParameters).
pub(crate) const MAX_SELECT_CLAUSES: usize = 256;

/// Maximum number of operands of all elements of a WHERE clause (MaxWhereClauseParameters), and of elements.
pub(crate) const MAX_WHERE_OPERANDS: usize = 256;

/// Maximum number of bytes of an encoded filter.
const MAX_SIZE: usize = 64 << 10;

/// Steps that the evaluation for one Event may take.
const MAX_STEPS: u32 = 50_000;

/// Maximum number of bytes of the encoded fields of one Event.
pub(crate) const MAX_FIELDS_SIZE: usize = 1 << 20;

/// A validated EventFilter.
#[derive(Debug)]
pub(crate) struct CheckedFilter {
    select: Vec<Option<Field>>,
    elements: Vec<Element>,
    memory: usize,
}

/// An EventFilter that is refused, and the results of its clauses.
#[derive(Debug)]
pub(crate) struct RefusedFilter {
    pub(crate) status: StatusCode,
    pub(crate) result: Option<EventFilterResult>,
}

impl RefusedFilter {
    /// Returns the result of the filter as it is sent.
    pub(crate) fn encoded(&self) -> ExtensionObject {
        let result = self.result.as_ref();
        result
            .map(ExtensionObject::from_structure)
            .unwrap_or_default()
    }
}

impl From<StatusCode> for RefusedFilter {
    fn from(status: StatusCode) -> Self {
        Self {
            status,
            result: None,
        }
    }
}

impl CheckedFilter {
    /// Validates a filter.
    ///
    /// Select clauses that are not valid are reported, and their fields are null; at least one must be valid. A WHERE clause
    /// with any error is refused.
    pub(crate) fn of_request(
        filter: &ExtensionObject,
        view: &View<'_>,
    ) -> Result<(Self, Option<EventFilterResult>), RefusedFilter> {
        // Filters of values are for another attribute.
        if filter.is::<DataChangeFilter>() || filter.is::<AggregateFilter>() {
            return Err(StatusCode::BadFilterNotAllowed.into());
        }
        if !filter.is::<EventFilter>() {
            return Err(StatusCode::BadMonitoredItemFilterInvalid.into());
        }
        // The encoded size limits the memory that the decoded clauses take.
        let size = filter.encode_to_vec().len();
        if size > MAX_SIZE {
            return Err(StatusCode::BadEncodingLimitsExceeded.into());
        }
        let filter: EventFilter = filter
            .decode_as()
            .map_err(|_| StatusCode::BadMonitoredItemFilterInvalid)?;
        Self::check(filter, view, size)
    }

    fn check(
        filter: EventFilter,
        view: &View<'_>,
        size: usize,
    ) -> Result<(Self, Option<EventFilterResult>), RefusedFilter> {
        // An element without operands costs work, too.
        let operands = |element: &ContentFilterElement| element.filter_operands.len().max(1);
        let operands: usize = filter.where_clause.elements.iter().map(operands).sum();
        if filter.select_clauses.len() > MAX_SELECT_CLAUSES || operands > MAX_WHERE_OPERANDS {
            return Err(StatusCode::BadTooManyOperations.into());
        }
        let mut result = EventFilterResult::default();
        let mut select = Vec::with_capacity(filter.select_clauses.len());
        for clause in filter.select_clauses {
            let field = Field::check(clause, view);
            let status = field.as_ref().err().copied();
            result
                .select_clause_results
                .push(status.unwrap_or(StatusCode::Good));
            select.push(field.ok());
        }
        let (elements, where_result) = check_where(&filter.where_clause, view);
        let is_bad = |result: &ContentFilterElementResult| result.status_code.is_bad();
        let where_is_bad = where_result.element_results.iter().any(is_bad);
        let select_is_bad = select.iter().any(Option::is_none);
        result.where_clause_result = where_result;
        if where_is_bad || !select.iter().any(Option::is_some) {
            return Err(RefusedFilter {
                status: StatusCode::BadEventFilterInvalid,
                result: Some(result),
            });
        }
        let fields = select.iter().flatten().map(Field::memory).sum::<usize>();
        let checked = Self {
            memory: size_of::<Self>()
                + fields
                + select.len() * size_of::<Option<Field>>()
                + elements.len() * size_of::<Element>()
                + operands * size_of::<Operand>()
                + 2 * size,
            select,
            elements,
        };
        Ok((checked, select_is_bad.then_some(result)))
    }

    /// Returns the approximate bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Returns true if the WHERE clause is true for an Event, and the units of work of the evaluation.
    pub(crate) fn passes(&self, event: &Event, view: &View<'_>) -> (bool, u64) {
        let mut steps = Steps::new(MAX_STEPS);
        let passes = passes(&self.elements, event, view, &mut steps);
        let operands = u64::try_from(self.elements.len()).unwrap_or(u64::MAX);
        (passes, operands / 2 + u64::from(steps.taken()) / 50)
    }

    /// Encodes the selected fields of an Event: an array of Variants.
    ///
    /// # Errors
    /// The fields are larger than [`MAX_FIELDS_SIZE`].
    pub(crate) fn select(&self, event: &Event, view: &View<'_>) -> Result<Vec<u8>, EncodeError> {
        let mut fields = Vec::new();
        let mut encoder = Encoder::growing(&mut fields, MAX_FIELDS_SIZE);
        encoder.array_length(Some(self.select.len()))?;
        for field in &self.select {
            match field {
                Some(field) => field.value(event, view).encode(&mut encoder)?,
                None => Variant::Empty.encode(&mut encoder)?,
            }
        }
        Ok(fields)
    }
}

/// Checks all elements of a WHERE clause.
fn check_where(filter: &ContentFilter, view: &View<'_>) -> (Vec<Element>, ContentFilterResult) {
    let count = filter.elements.len();
    let mut checked = Vec::with_capacity(count);
    let mut results = ContentFilterResult::default();
    for (index, element) in filter.elements.iter().enumerate() {
        let mut result = ContentFilterElementResult::default();
        match check_element(element, index, count, view, &mut result) {
            Ok(element) => checked.push(element),
            Err(status) => result.status_code = status,
        }
        results.element_results.push(result);
    }
    (checked, results)
}

fn check_element(
    element: &ContentFilterElement,
    index: usize,
    count: usize,
    view: &View<'_>,
    result: &mut ContentFilterElementResult,
) -> Result<Element, StatusCode> {
    let operator = Operator::of(element.filter_operator)?;
    let mut operands = Vec::with_capacity(element.filter_operands.len());
    for operand in &element.filter_operands {
        let operand = check_operand(operand, index, count, view);
        let status = operand.as_ref().err().copied();
        result
            .operand_status_codes
            .push(status.unwrap_or(StatusCode::Good));
        operands.extend(operand);
    }
    if !operator.takes(element.filter_operands.len()) {
        return Err(StatusCode::BadFilterOperandCountMismatch);
    }
    if operands.len() < element.filter_operands.len() {
        return Err(StatusCode::BadFilterOperandInvalid);
    }
    // These operands are types, so that they are known now.
    let at = match operator {
        Operator::OfType => 0,
        Operator::Cast(_) => 1,
        _ => return Ok(Element { operator, operands }),
    };
    let typed = operands.get(at).and_then(local_node).and_then(|node| {
        if operator == Operator::OfType {
            let is_event_type = view.is_subtype_of(node, ids::BASE_EVENT_TYPE);
            return is_event_type.then(|| (operator, vec![Operand::Literal(node.clone().into())]));
        }
        let kind = built_in_type(view, node)?;
        let value = operands.get(..1).unwrap_or_default().to_vec();
        Some((Operator::Cast(kind), value))
    });
    let Some((operator, operands)) = typed else {
        // The result names the operand that is wrong (OPC 10000-4, 7.22.4).
        if let Some(status) = result.operand_status_codes.get_mut(at) {
            *status = StatusCode::BadFilterOperandInvalid;
        }
        return Err(StatusCode::BadFilterOperandInvalid);
    };
    Ok(Element { operator, operands })
}

/// Returns the NodeId of a literal, if it is one of this server.
fn local_node(operand: &Operand) -> Option<&NodeId> {
    match operand {
        Operand::Literal(Variant::NodeId(node)) => Some(node),
        Operand::Literal(Variant::ExpandedNodeId(node)) if node.is_local() => Some(&node.node_id),
        _ => None,
    }
}

/// Returns the built-in type of a DataType: the type itself, or that of its supertypes.
fn built_in_type(view: &View<'_>, data_type: &NodeId) -> Option<BuiltInType> {
    /// Maximum depth of types.
    const MAX_DEPTH: usize = 64;
    let mut current = data_type.clone();
    for _ in 0..MAX_DEPTH {
        match current.standard_id() {
            Some(ids::ENUMERATION) => return Some(BuiltInType::Int32),
            Some(id @ 1..=21) => return BuiltInType::from_u8(u8::try_from(id).ok()?),
            _ => current = view.supertype(&current)?,
        }
    }
    None
}

fn check_operand(
    operand: &ExtensionObject,
    index: usize,
    count: usize,
    view: &View<'_>,
) -> Result<Operand, StatusCode> {
    let invalid = |_| StatusCode::BadFilterOperandInvalid;
    if operand.is::<LiteralOperand>() {
        let literal: LiteralOperand = operand
            .decode_as()
            .map_err(|_| StatusCode::BadFilterLiteralInvalid)?;
        return Ok(Operand::Literal(literal.value));
    }
    if operand.is::<ElementOperand>() {
        let element: ElementOperand = operand.decode_as().map_err(invalid)?;
        let at = usize::try_from(element.index).unwrap_or(usize::MAX);
        // Elements refer to later ones only, so there is no loop (OPC 10000-4, 7.7.4.2).
        return match at > index && at < count {
            true => Ok(Operand::Element(at)),
            false => Err(StatusCode::BadFilterOperandInvalid),
        };
    }
    if operand.is::<SimpleAttributeOperand>() {
        let field: SimpleAttributeOperand = operand.decode_as().map_err(invalid)?;
        return Ok(Operand::Field(Field::check(field, view)?));
    }
    // AttributeOperand is for queries only (OPC 10000-4, 7.22.3).
    Err(StatusCode::BadFilterOperandInvalid)
}

impl Operator {
    /// Returns the operator of an element.
    fn of(operator: FilterOperator) -> Result<Self, StatusCode> {
        use FilterOperator as F;
        Ok(match operator {
            F::Equals => Self::Equals,
            F::IsNull => Self::IsNull,
            F::GreaterThan => Self::GreaterThan,
            F::LessThan => Self::LessThan,
            F::GreaterThanOrEqual => Self::GreaterThanOrEqual,
            F::LessThanOrEqual => Self::LessThanOrEqual,
            F::Like => Self::Like,
            F::Not => Self::Not,
            F::Between => Self::Between,
            F::InList => Self::InList,
            F::And => Self::And,
            F::Or => Self::Or,
            // A placeholder: `check_element` takes the type from the second operand.
            F::Cast => Self::Cast(BuiltInType::Variant),
            F::OfType => Self::OfType,
            F::BitwiseAnd => Self::BitwiseAnd,
            F::BitwiseOr => Self::BitwiseOr,
            F::InView | F::RelatedTo => return Err(StatusCode::BadFilterOperatorUnsupported),
            _ => return Err(StatusCode::BadFilterOperatorInvalid),
        })
    }

    /// Returns true if it takes this number of operands.
    fn takes(self, count: usize) -> bool {
        match self {
            Self::IsNull | Self::Not | Self::OfType => count == 1,
            Self::Between => count == 3,
            Self::InList => count >= 2,
            _ => count == 2,
        }
    }
}
