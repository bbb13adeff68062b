//! Property tests of WHERE clauses (OPC 10000-4, 7.7): random filters against a small evaluator that is written differently, by
//! recursion over a tree.

use proptest::prelude::*;
use takt_rt::memory_budget::MemoryBudget;
use takt_services::fuzzing::event_filter;
use takt_space::{AddressSpace, Event};
use takt_ua::enumerations::FilterOperator as F;
use takt_ua::structures::{
    ContentFilter, ContentFilterElement, ElementOperand, EventFilter, LiteralOperand,
    SimpleAttributeOperand,
};
use takt_ua::{ExtensionObject, NodeId, QualifiedName, Variant, ids};

fn space() -> AddressSpace {
    AddressSpace::new("urn:test", 16, 1000, MemoryBudget::new(1 << 20))
}

/// A WHERE clause as a tree.
#[derive(Debug, Clone)]
enum Tree {
    Compare(F, Leaf, Leaf),
    Between(Leaf, Leaf, Leaf),
    InList(Leaf, Vec<Leaf>),
    IsNull(Leaf),
    Like(Leaf, String),
    OfType(u32),
    /// A comparison of two integers after BitwiseAnd or BitwiseOr.
    Bits(F, Leaf, i32, i32),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
}

#[derive(Debug, Clone)]
enum Leaf {
    Severity,
    SourceName,
    Missing,
    Number(i32),
    Double(f64),
    Text(String),
}

/// A value of the evaluator.
#[derive(Debug, Clone, PartialEq)]
enum Plain {
    Null,
    Number(f64),
    Text(String),
}

impl Leaf {
    fn plain(&self, severity: u16, name: &str) -> Plain {
        match self {
            Self::Severity => Plain::Number(f64::from(severity)),
            Self::SourceName => Plain::Text(name.to_owned()),
            Self::Missing => Plain::Null,
            Self::Number(number) => Plain::Number(f64::from(*number)),
            Self::Double(number) => Plain::Number(*number),
            Self::Text(text) => Plain::Text(text.clone()),
        }
    }

    /// Returns true for operands of an integer type, to which a text is converted only if it is an integer.
    fn is_integer(&self) -> bool {
        matches!(self, Self::Severity | Self::Number(_))
    }

    fn range(&self) -> (f64, f64) {
        match self {
            Self::Severity => (0.0, f64::from(u16::MAX)),
            _ => (f64::from(i32::MIN), f64::from(i32::MAX)),
        }
    }

    fn operand(&self) -> ExtensionObject {
        let field = |name: &str| {
            ExtensionObject::from_structure(&SimpleAttributeOperand {
                type_definition_id: ids::BASE_EVENT_TYPE.into(),
                browse_path: vec![QualifiedName::new(0, name)],
                attribute_id: 13,
                ..SimpleAttributeOperand::default()
            })
        };
        match self {
            Self::Severity => field("Severity"),
            Self::SourceName => field("SourceName"),
            Self::Missing => field("NoSuchField"),
            Self::Number(number) => literal(*number),
            Self::Double(number) => literal(*number),
            Self::Text(text) => literal(text.as_str()),
        }
    }
}

fn literal(value: impl Into<Variant>) -> ExtensionObject {
    ExtensionObject::from_structure(&LiteralOperand {
        value: value.into(),
    })
}

fn order(
    left: &Leaf,
    right: &Leaf,
    severity: u16,
    name: &str,
) -> Option<Option<std::cmp::Ordering>> {
    let number = |text: &str, other: &Leaf| {
        let number: f64 = text.parse().ok()?;
        let fits = (other.range().0..=other.range().1).contains(&number);
        let is_whole = text.parse::<i128>().is_ok();
        (!other.is_integer() || (is_whole && fits)).then_some(number)
    };
    match (left.plain(severity, name), right.plain(severity, name)) {
        (Plain::Null, _) | (_, Plain::Null) => None,
        (Plain::Text(left), Plain::Text(right)) => Some(Some(left.cmp(&right))),
        (Plain::Number(left), Plain::Number(right)) => Some(left.partial_cmp(&right)),
        (Plain::Text(text), Plain::Number(right_number)) => {
            Some(number(&text, right).and_then(|left| left.partial_cmp(&right_number)))
        }
        (Plain::Number(left_number), Plain::Text(text)) => {
            Some(number(&text, left).and_then(|right| left_number.partial_cmp(&right)))
        }
    }
}

fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%', rest)) => (0..=text.len()).any(|skip| like(&text[skip..], rest)),
        Some((wanted, rest)) => match text.split_first() {
            Some((first, text)) => (*wanted == '_' || wanted == first) && like(text, rest),
            None => false,
        },
    }
}

fn not(value: Option<bool>) -> Option<bool> {
    value.map(|value| !value)
}

fn evaluate(tree: &Tree, severity: u16, name: &str, event_type: u32) -> Option<bool> {
    let compare = |operator: F, left: &Leaf, right: &Leaf| {
        let order = order(left, right, severity, name)?;
        let Some(order) = order else {
            return Some(false);
        };
        Some(match operator {
            F::Equals => order.is_eq(),
            F::GreaterThan => order.is_gt(),
            F::LessThan => order.is_lt(),
            F::GreaterThanOrEqual => order.is_ge(),
            _ => order.is_le(),
        })
    };
    let and = |left: Option<bool>, right: Option<bool>| match (left, right) {
        (Some(left), Some(right)) => Some(left && right),
        (Some(false), None) | (None, Some(false)) => Some(false),
        _ => None,
    };
    let evaluate = |tree: &Tree| evaluate(tree, severity, name, event_type);
    match tree {
        Tree::Compare(operator, left, right) => compare(*operator, left, right),
        Tree::Between(value, low, high) => and(
            compare(F::GreaterThanOrEqual, value, low),
            compare(F::LessThanOrEqual, value, high),
        ),
        Tree::InList(value, list) => {
            let found: Vec<_> = list
                .iter()
                .map(|one| compare(F::Equals, value, one))
                .collect();
            match (found.contains(&Some(true)), found.contains(&None)) {
                (true, _) => Some(true),
                (false, true) => None,
                (false, false) => Some(false),
            }
        }
        Tree::IsNull(leaf) => Some(leaf.plain(severity, name) == Plain::Null),
        Tree::Like(leaf, pattern) => match leaf.plain(severity, name) {
            Plain::Null => None,
            Plain::Text(text) => {
                let (text, pattern): (Vec<char>, Vec<char>) =
                    (text.chars().collect(), pattern.chars().collect());
                Some(like(&text, &pattern))
            }
            Plain::Number(_) => Some(false),
        },
        Tree::OfType(wanted) => Some(*wanted == event_type || *wanted == ids::BASE_EVENT_TYPE),
        Tree::Bits(operator, leaf, mask, expected) => match leaf.plain(severity, name) {
            Plain::Number(number) if leaf.is_integer() => {
                let number = number as i32;
                let result = if *operator == F::BitwiseAnd {
                    number & mask
                } else {
                    number | mask
                };
                Some(result == *expected)
            }
            _ => None,
        },
        Tree::Not(inner) => not(evaluate(inner)),
        Tree::And(left, right) => and(evaluate(left), evaluate(right)),
        Tree::Or(left, right) => not(and(not(evaluate(left)), not(evaluate(right)))),
    }
}

/// Appends the elements of a tree, the root first. Returns its index.
fn elements(tree: &Tree, filter: &mut Vec<ContentFilterElement>) -> u32 {
    let index = filter.len();
    filter.push(ContentFilterElement::default());
    let element = |tree: &Tree, filter: &mut Vec<ContentFilterElement>| {
        let index = elements(tree, filter);
        ExtensionObject::from_structure(&ElementOperand { index })
    };
    let (operator, operands) = match tree {
        Tree::Compare(operator, left, right) => (*operator, vec![left.operand(), right.operand()]),
        Tree::Between(value, low, high) => (
            F::Between,
            vec![value.operand(), low.operand(), high.operand()],
        ),
        Tree::InList(value, list) => {
            let list = list.iter().map(Leaf::operand);
            (
                F::InList,
                std::iter::once(value.operand()).chain(list).collect(),
            )
        }
        Tree::IsNull(leaf) => (F::IsNull, vec![leaf.operand()]),
        Tree::Like(leaf, pattern) => (F::Like, vec![leaf.operand(), literal(pattern.as_str())]),
        Tree::OfType(id) => (F::OfType, vec![literal(NodeId::from(*id))]),
        Tree::Bits(operator, leaf, mask, expected) => {
            let bits = filter.len();
            filter.push(ContentFilterElement {
                filter_operator: *operator,
                filter_operands: vec![leaf.operand(), literal(*mask)],
            });
            let index = u32::try_from(bits).unwrap();
            let bits = ExtensionObject::from_structure(&ElementOperand { index });
            (F::Equals, vec![bits, literal(*expected)])
        }
        Tree::Not(inner) => (F::Not, vec![element(inner, filter)]),
        Tree::And(left, right) => (F::And, vec![element(left, filter), element(right, filter)]),
        Tree::Or(left, right) => (F::Or, vec![element(left, filter), element(right, filter)]),
    };
    filter[index] = ContentFilterElement {
        filter_operator: operator,
        filter_operands: operands,
    };
    u32::try_from(index).unwrap()
}

fn filter_of(elements: Vec<ContentFilterElement>) -> ExtensionObject {
    let clause = Leaf::Severity.operand().decode_as().unwrap();
    ExtensionObject::from_structure(&EventFilter {
        select_clauses: vec![clause],
        where_clause: ContentFilter { elements },
    })
}

fn leaf() -> impl Strategy<Value = Leaf> {
    prop_oneof![
        Just(Leaf::Severity),
        Just(Leaf::SourceName),
        Just(Leaf::Missing),
        (-2..6_i32).prop_map(Leaf::Number),
        prop_oneof![Just(0.5), Just(3.0), Just(f64::NAN), Just(1e300)].prop_map(Leaf::Double),
        prop_oneof![
            Just("3"),
            Just("a"),
            Just("-1"),
            Just("2.5"),
            Just("ab"),
            Just("")
        ]
        .prop_map(|text| Leaf::Text(text.to_owned())),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let compare = prop_oneof![
        Just(F::Equals),
        Just(F::GreaterThan),
        Just(F::LessThan),
        Just(F::GreaterThanOrEqual),
        Just(F::LessThanOrEqual),
    ];
    let bits = prop_oneof![Just(F::BitwiseAnd), Just(F::BitwiseOr)];
    let simple = prop_oneof![
        (compare, leaf(), leaf())
            .prop_map(|(operator, left, right)| Tree::Compare(operator, left, right)),
        (leaf(), leaf(), leaf()).prop_map(|(value, low, high)| Tree::Between(value, low, high)),
        (leaf(), prop::collection::vec(leaf(), 1..4))
            .prop_map(|(value, list)| Tree::InList(value, list)),
        leaf().prop_map(Tree::IsNull),
        (leaf(), "[ab%_]{0,5}").prop_map(|(leaf, pattern)| Tree::Like(leaf, pattern)),
        prop_oneof![
            Just(ids::BASE_EVENT_TYPE),
            Just(ids::SYSTEM_EVENT_TYPE),
            Just(ids::AUDIT_EVENT_TYPE)
        ]
        .prop_map(Tree::OfType),
        (bits, leaf(), 0..8_i32, 0..8_i32).prop_map(|(operator, leaf, mask, expected)| Tree::Bits(
            operator, leaf, mask, expected
        )),
    ];
    simple.prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| Tree::Not(Box::new(one))),
            (inner.clone(), inner.clone())
                .prop_map(|(left, right)| Tree::And(Box::new(left), Box::new(right))),
            (inner.clone(), inner)
                .prop_map(|(left, right)| Tree::Or(Box::new(left), Box::new(right))),
        ]
    })
}

proptest! {
    #[test]
    fn filters_select_what_a_plain_evaluator_selects(
        tree in tree(),
        severity in 1..6_u16,
        name in prop_oneof![Just("a"), Just("ab"), Just("3"), Just("bab")],
        event_type in prop_oneof![Just(ids::BASE_EVENT_TYPE), Just(ids::SYSTEM_EVENT_TYPE)],
    ) {
        let event = Event::new(event_type, ids::SERVER).severity(severity).source_name(name);
        let mut list = Vec::new();
        elements(&tree, &mut list);
        let passes = event_filter(&filter_of(list), &event, &space());
        let expected = evaluate(&tree, severity, name, event_type) == Some(true);
        prop_assert_eq!(passes, Some(expected), "{:?}", tree);
    }

    #[test]
    fn any_bytes_are_a_filter_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        use takt_ua::binary::{Decode, Decoder};
        let mut filter = Vec::new();
        takt_ua::binary::Encode::encode(&NodeId::numeric(0, 727), &mut takt_ua::binary::Encoder::growing(&mut filter, 100)).unwrap();
        filter.push(1);
        filter.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
        filter.extend(bytes);
        let filter = ExtensionObject::decode(&mut Decoder::new(&filter)).unwrap();
        let event = Event::default();
        let _ = event_filter(&filter, &event, &space());
    }
}

#[test]
fn casts_convert_and_fail_to_null() {
    let event = Event::default().severity(700).source_name("12");
    let cast = |leaf: Leaf, data_type: u32, expected: ExtensionObject| {
        let element = ExtensionObject::from_structure(&ElementOperand { index: 1 });
        let elements = vec![
            ContentFilterElement {
                filter_operator: F::Equals,
                filter_operands: vec![element, expected],
            },
            ContentFilterElement {
                filter_operator: F::Cast,
                filter_operands: vec![leaf.operand(), literal(NodeId::from(data_type))],
            },
        ];
        event_filter(&filter_of(elements), &event, &space())
    };
    assert_eq!(
        cast(Leaf::SourceName, ids::INT16, literal(12_i16)),
        Some(true)
    );
    assert_eq!(
        cast(Leaf::Severity, ids::STRING, literal("700")),
        Some(true)
    );
    assert_eq!(
        cast(Leaf::Severity, ids::BYTE, literal(188_u8)),
        Some(false)
    );
    assert_eq!(cast(Leaf::Severity, ids::STRUCTURE, literal(1)), None);
    assert_eq!(cast(Leaf::Severity, 4_000_000, literal(1)), None);
}

#[test]
fn hostile_filters_are_refused_or_bounded() {
    let event = Event::default().message("a".repeat(60_000).as_str());
    let message = SimpleAttributeOperand {
        browse_path: vec![QualifiedName::new(0, "Message")],
        attribute_id: 13,
        ..SimpleAttributeOperand::default()
    };
    let message = ExtensionObject::from_structure(&message);
    let like = |pattern: &str| ContentFilterElement {
        filter_operator: F::Like,
        filter_operands: vec![message.clone(), literal(pattern)],
    };
    // Each of them alone would take more steps than an evaluation may.
    let patterns = vec![like(&"%a".repeat(90)); 100];
    assert_eq!(
        event_filter(&filter_of(patterns), &event, &space()),
        Some(false)
    );
    let many = vec![like("a"); 200];
    assert_eq!(
        event_filter(&filter_of(many), &event, &space()),
        None,
        "too many operands"
    );
    let long = vec![like(&"%a".repeat(40_000))];
    assert_eq!(
        event_filter(&filter_of(long), &event, &space()),
        None,
        "too long"
    );
    let chain = |index: u32| ContentFilterElement {
        filter_operator: F::And,
        filter_operands: vec![
            ExtensionObject::from_structure(&ElementOperand { index: index + 1 });
            2
        ],
    };
    // Both operands of each element are the next one: by recursion that would be 2^99 evaluations.
    let mut deep: Vec<_> = (0..99).map(chain).collect();
    deep.push(like("a%"));
    assert!(event_filter(&filter_of(deep), &event, &space()).is_some());
    let unknown = ContentFilterElement {
        filter_operator: F(99),
        filter_operands: Vec::new(),
    };
    assert_eq!(
        event_filter(&filter_of(vec![unknown]), &event, &space()),
        None
    );
}
