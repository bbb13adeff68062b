//! Interoperability tests that every foreign product must pass with Takt, in both directions: run by the `interop_*`
//! tests for each.
//!
//! Differences of the products are described in `peers/README.md`; here they are methods of [`Peer`].

mod checks;
mod foreign;
mod machine;
mod nodesets;
mod ours;
mod python;
mod relay;
mod results;
mod reverse;
mod secured;
mod subscribing;

pub use crate::checker::Checker;
pub use checks::{CHECKS, Check, client_passes_checks};
pub use foreign::{
    client_against_provider, client_against_registry, client_through_registry, peers_agree,
};
pub use nodesets::{CompanionNodeSets, assert_same_nodes};
pub use ours::{command_line_against_server, command_line_against_special_servers};
pub use python::{client_decodes_own_types, provider_of_the_guide};
pub use results::{Role, passed};
pub use reverse::{
    checker_waits_for_registry, client_waits_for_registry, command_line_waits_for_server,
};
pub use secured::{
    CURVE_POLICIES, Foreign, POLICIES, Token, add_user_with, client_logs_in_without_security,
    client_on_secured_channels, client_passes_secured_checks, command_line_on_secured_channels,
};
pub use subscribing::client_subscribes;

use serde_json::{Value, json};

use crate::peer::Peer;

impl Peer {
    /// Returns whether its server applies an IndexRange.
    fn applies_index_range(self) -> bool {
        self != Self::Asyncua
    }

    /// Returns the StatusCode of its server for a Write of a Variable that is not writable.
    fn not_writable(self) -> &'static str {
        match self {
            Self::Asyncua => "BadUserAccessDenied",
            _ => "BadNotWritable",
        }
    }
}

/// Returns the Variables of every peer server: name, DataType, initial value.
fn peer_variables() -> Vec<(&'static str, &'static str, Value)> {
    let array: Vec<u32> = (0..1024).collect();
    vec![
        ("UInt32", "UInt32", json!(42)),
        ("Double", "Double", json!(2.5)),
        ("String", "String", json!("Grüße")),
        ("Boolean", "Boolean", json!(true)),
        (
            "LocalizedText",
            "LocalizedText",
            json!({"locale": "en", "text": "Spindle"}),
        ),
        ("DateTime", "DateTime", json!("2024-02-29T12:34:56.789Z")),
        ("UInt32Array", "UInt32", json!(array)),
        ("Matrix", "Double", json!([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ("ReadOnly", "Int64", json!("-9007199254740993")),
    ]
}

/// Returns whether two values printed by different products are equal: numbers by value, 64-bit integers as text or
/// number, nested arrays by their elements, DateTimes with any number of decimals.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Number(number), Value::String(text))
        | (Value::String(text), Value::Number(number)) => number.to_string() == *text,
        (Value::String(a), Value::String(b)) => {
            a == b || without_zeros(a).is_some_and(|a| Some(a) == without_zeros(b))
        }
        (Value::Array(_), Value::Array(_)) => {
            let (a, b) = (flat(a), flat(b));
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b))
        }
        _ => a == b,
    }
}

/// Converts `…56.789000Z` to `…56.789Z`.
fn without_zeros(text: &str) -> Option<String> {
    let (seconds, fraction) = text.strip_suffix('Z')?.split_once('.')?;
    Some(format!("{seconds}.{}Z", fraction.trim_end_matches('0')))
}

/// Returns the elements of nested arrays, in order.
fn flat(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(elements) => elements.iter().flat_map(flat).collect(),
        scalar => vec![scalar],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_across_products() {
        for (a, b) in [
            (json!(42), json!(42.0)),
            (
                json!(-9_007_199_254_740_993_i64),
                json!("-9007199254740993"),
            ),
            (json!([[1, 2], [3, 4]]), json!([1.0, 2.0, 3.0, 4.0])),
            (
                json!("2024-02-29T12:34:56.789000Z"),
                json!("2024-02-29T12:34:56.789Z"),
            ),
        ] {
            assert!(same(&a, &b), "{a} {b}");
        }
        assert!(!same(&json!([1, 2]), &json!([1, 3])));
        assert!(!same(&json!("a"), &json!("b")));
    }
}
