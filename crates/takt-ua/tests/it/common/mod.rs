//! Strategies for every built-in type.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use takt_ua::{
    Array, ByteString, DataValue, DateTime, DiagnosticInfo, Elements, ExpandedNodeId,
    ExtensionObject, ExtensionObjectBody, Guid, Identifier, LocalizedText, NodeId, QualifiedName,
    StatusCode, UaString, Variant, XmlElement,
};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[ -~]{1,12}", "\\PC{0,8}"]
}

pub(crate) fn ua_string() -> impl Strategy<Value = UaString> {
    option::of(text()).prop_map(UaString::from)
}

pub(crate) fn byte_string() -> impl Strategy<Value = ByteString> {
    option::of(vec(any::<u8>(), 0..12)).prop_map(|bytes| bytes.as_deref().into())
}

pub(crate) fn guid() -> impl Strategy<Value = Guid> {
    any::<(u32, u16, u16, [u8; 8])>().prop_map(|(data1, data2, data3, data4)| Guid {
        data1,
        data2,
        data3,
        data4,
    })
}

pub(crate) fn node_id() -> impl Strategy<Value = NodeId> {
    let identifier = prop_oneof![
        any::<u32>().prop_map(Identifier::Numeric),
        any::<u8>().prop_map(|id| Identifier::Numeric(u32::from(id))),
        any::<u16>().prop_map(|id| Identifier::Numeric(u32::from(id))),
        text().prop_map(|id| Identifier::String(id.into())),
        guid().prop_map(Identifier::Guid),
        vec(any::<u8>(), 0..8).prop_map(|id| Identifier::Opaque(id.into())),
    ];
    let namespace = prop_oneof![Just(0), 0..256_u16, any::<u16>()];
    (namespace, identifier).prop_map(|(namespace, identifier)| NodeId {
        namespace,
        identifier,
    })
}

pub(crate) fn expanded_node_id() -> impl Strategy<Value = ExpandedNodeId> {
    (
        node_id(),
        option::of("[a-z:/.;%]{1,12}"),
        prop_oneof![Just(0), any::<u32>()],
    )
        .prop_map(|(mut node_id, namespace_uri, server_index)| {
            if namespace_uri.is_some() {
                node_id.namespace = 0;
            }
            ExpandedNodeId {
                node_id,
                namespace_uri: namespace_uri.into(),
                server_index,
            }
        })
}

pub(crate) fn qualified_name() -> impl Strategy<Value = QualifiedName> {
    (any::<u16>(), ua_string()).prop_map(|(namespace, name)| QualifiedName { namespace, name })
}

pub(crate) fn localized_text() -> impl Strategy<Value = LocalizedText> {
    (ua_string(), ua_string()).prop_map(|(locale, text)| LocalizedText { locale, text })
}

pub(crate) fn extension_object() -> impl Strategy<Value = ExtensionObject> {
    let body = prop_oneof![
        Just(ExtensionObjectBody::None),
        vec(any::<u8>(), 0..12).prop_map(ExtensionObjectBody::Binary),
        text().prop_map(ExtensionObjectBody::Xml),
    ];
    (node_id(), body).prop_map(|(type_id, body)| ExtensionObject { type_id, body })
}

pub(crate) fn date_time() -> impl Strategy<Value = DateTime> {
    // Texts have no other instants after 9999-12-31T23:59:58.
    prop_oneof![Just(0), Just(i64::MAX), 0..2_650_467_743_990_000_000_i64].prop_map(DateTime)
}

pub(crate) fn status_code() -> impl Strategy<Value = StatusCode> {
    prop_oneof![
        Just(StatusCode::Good),
        Just(StatusCode::BadTimeout),
        any::<u32>().prop_map(StatusCode)
    ]
}

pub(crate) fn diagnostic_info() -> impl Strategy<Value = DiagnosticInfo> {
    let leaf = (
        option::of(any::<i32>()),
        option::of(any::<i32>()),
        option::of(any::<i32>()),
        option::of(any::<i32>()),
        option::of(ua_string()),
        option::of(status_code()),
    )
        .prop_map(
            |(
                symbolic_id,
                namespace_uri,
                locale,
                localized_text,
                additional_info,
                inner_status_code,
            )| {
                DiagnosticInfo {
                    symbolic_id,
                    namespace_uri,
                    locale,
                    localized_text,
                    additional_info,
                    inner_status_code,
                    inner_diagnostic_info: None,
                }
            },
        );
    vec(leaf, 1..4).prop_map(|levels| {
        levels
            .into_iter()
            .reduce(|inner, outer| DiagnosticInfo {
                inner_diagnostic_info: Some(Box::new(inner)),
                ..outer
            })
            .unwrap_or_default()
    })
}

/// Floats without NaN, which is not equal to itself.
pub(crate) fn float() -> impl Strategy<Value = f32> {
    any::<f32>().prop_filter("NaN", |value| !value.is_nan())
}

/// Doubles without NaN, which is not equal to itself.
pub(crate) fn double() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("NaN", |value| !value.is_nan())
}

fn data_value_of(variant: impl Strategy<Value = Variant>) -> impl Strategy<Value = DataValue> {
    let timestamp = || option::of(date_time());
    let picoseconds = || option::of(0..10_000_u16);
    (
        option::of(variant),
        option::of(status_code()),
        timestamp(),
        picoseconds(),
        timestamp(),
        picoseconds(),
    )
        .prop_map(
            |(
                value,
                status,
                source_timestamp,
                source_picoseconds,
                server_timestamp,
                server_picoseconds,
            )| DataValue {
                value,
                status,
                source_timestamp,
                source_picoseconds,
                server_timestamp,
                server_picoseconds,
            },
        )
}

/// Scalars and arrays that cannot contain Variants.
fn leaf() -> BoxedStrategy<Variant> {
    macro_rules! both {
        ($($strategy:expr),* $(,)?) => {
            prop_oneof![
                Just(Variant::Empty),
                $($strategy.prop_map(Variant::from),)*
                $(vec($strategy, 0..6).prop_map(Variant::from),)*
            ]
        };
    }
    let xml = || ua_string().prop_map(XmlElement);
    both![
        any::<bool>(),
        any::<i8>(),
        any::<u8>(),
        any::<i16>(),
        any::<u16>(),
        any::<i32>(),
        any::<u32>(),
        any::<i64>(),
        any::<u64>(),
        float(),
        double(),
        ua_string(),
        date_time(),
        guid(),
        byte_string(),
        xml(),
        node_id(),
        expanded_node_id(),
        status_code(),
        qualified_name(),
        localized_text(),
        extension_object(),
        diagnostic_info(),
    ]
    .boxed()
}

/// Gives arrays of the right length two dimensions.
fn fold(variant: Variant, rows: u32) -> Variant {
    match variant {
        Variant::Array(array) => {
            let columns = u32::try_from(array.len()).unwrap_or(0) / rows;
            match Array::matrix(array.elements.clone(), &[rows, columns]) {
                Ok(matrix) if columns > 0 => matrix.into(),
                _ => Variant::Array(array),
            }
        }
        scalar => scalar,
    }
}

pub(crate) fn variant() -> BoxedStrategy<Variant> {
    leaf()
        .prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                data_value_of(inner.clone()).prop_map(Variant::from),
                vec(data_value_of(inner.clone()), 0..4).prop_map(Variant::from),
                vec(inner, 0..4).prop_map(|elements| Elements::from(elements).into()),
            ]
        })
        .prop_flat_map(|variant| (Just(variant), 1..4_u32))
        .prop_map(|(variant, rows)| fold(variant, rows))
        .boxed()
}

pub(crate) fn data_value() -> impl Strategy<Value = DataValue> {
    data_value_of(variant())
}
