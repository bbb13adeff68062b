//! Parser of JSON texts: bounded in length and depth, and with no field twice in an object.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::error::shortened;
use super::mend::mend;
use super::{JsonDecodeError, JsonDecodeErrorKind};
use crate::json_nesting::MAX_DEPTH;

/// Largest number of values in a text: those of arrays and the fields of objects. They take at most about 100 MiB.
const MAX_VALUES: usize = 1 << 20;

/// Reads a JSON text of at most `max_length` bytes and 2^20 values.
///
/// `serde_json` alone would keep the last of two fields with the same name, but the standard requires an error
/// (OPC 10000-6, 5.4.2.16).
pub fn parse(text: &[u8], max_length: usize) -> Result<Value, JsonDecodeError> {
    if text.len() > max_length {
        return Err(JsonDecodeError::new(JsonDecodeErrorKind::TooLong {
            length: text.len(),
            maximum: max_length,
        }));
    }
    // Some senders begin with a byte order mark, which RFC 8259 allows a parser to ignore.
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let (problem, values) = (RefCell::new(None), Cell::new(0));
    let seed = Strict {
        depth: 0,
        problem: &problem,
        values: &values,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = seed
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| {
        let kind = problem.into_inner();
        JsonDecodeError::new(
            kind.unwrap_or_else(|| JsonDecodeErrorKind::NotJson(error.to_string())),
        )
    })
}

/// Reads a JSON text of a foreign application as [`parse`] does: one value that is not JSON does not spoil the others.
///
/// If the text is not JSON, it is read again: bytes that are not UTF-8 become U+FFFD, and a word that is no number of JSON
/// becomes a text, `NaN` and `Infinity` among them, which are texts in OPC UA (OPC 10000-6, 5.4.2.4).
pub fn parse_tolerant(text: &[u8], max_length: usize) -> Result<Value, JsonDecodeError> {
    let parsed = parse(text, max_length);
    match &parsed {
        Err(error) if matches!(error.kind(), JsonDecodeErrorKind::NotJson(_)) => {
            // A mended text is longer, but not more than three times.
            parse(&mend(text), max_length.saturating_mul(3)).or(parsed)
        }
        _ => parsed,
    }
}

/// Builds a value, and stores an error that `serde_json` cannot represent.
#[derive(Clone, Copy)]
struct Strict<'p> {
    depth: usize,
    problem: &'p RefCell<Option<JsonDecodeErrorKind>>,
    /// Number of values so far.
    values: &'p Cell<usize>,
}

impl Strict<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fail(JsonDecodeErrorKind::TooDeep));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }

    /// Counts a value before it is kept.
    fn count<E: Error>(self) -> Result<(), E> {
        self.values.set(self.values.get() + 1);
        match self.values.get() <= MAX_VALUES {
            true => Ok(()),
            false => Err(self.fail(JsonDecodeErrorKind::TooManyValues {
                maximum: MAX_VALUES,
            })),
        }
    }

    fn fail<E: Error>(self, kind: JsonDecodeErrorKind) -> E {
        // `serde_json` keeps only the text of an error, so the kind takes its own way.
        let error = E::custom(&kind);
        *self.problem.borrow_mut() = Some(kind);
        error
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        // JSON has no NaN and no infinity, so this is never null.
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut elements = Vec::new();
        while let Some(element) = sequence.next_element_seed(inner)? {
            self.count()?;
            elements.push(element);
        }
        Ok(elements.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            self.count()?;
            let value = entries.next_value_seed(inner)?;
            if object.contains_key(&name) {
                return Err(self.fail(JsonDecodeErrorKind::DuplicateField(shortened(&name))));
            }
            object.insert(name, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StatusCode;

    fn problem(text: &str) -> JsonDecodeErrorKind {
        parse(text.as_bytes(), 1000).unwrap_err().kind().clone()
    }

    #[test]
    fn parsing_agrees_with_serde_json() {
        for text in [
            r#"{"a":[1,-2,3.5,"x",null,true],"b":{"c":18446744073709551615}}"#,
            "[]",
            " 7 ",
            r#""\u00e9""#,
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text.as_bytes(), 1000), Ok(expected));
        }
        assert_eq!(parse(b"\xEF\xBB\xBF1", 1000), Ok(Value::from(1)));
    }

    #[test]
    fn one_word_that_is_not_json_does_not_spoil_the_others() {
        let tolerant = |text: &[u8]| parse_tolerant(text, 1000);
        let expected = serde_json::json!({"a": 1, "b": "NaN", "c": ["-Infinity", "1e999", true]});
        let text = br#"{"a": 1, "b": NaN, "c": [-Infinity,1e999, true]}"#;
        assert_eq!(tolerant(text), Ok(expected));
        let expected = serde_json::json!({"a": "caf\u{FFFD}", "b": "NaN: \", NaN"});
        let text = b"{\"a\": \"caf\xE9\", \"b\": \"NaN: \\\", NaN\"}";
        assert_eq!(tolerant(text), Ok(expected));
        let text = b"{\"a\": 007, \"b\": -1.5E+3}";
        assert_eq!(
            tolerant(text),
            Ok(serde_json::json!({"a": "007", "b": -1500.0}))
        );
        // An end that is missing is not made up.
        for text in [
            &b"{\"a\": \"x}"[..],
            b"{\"a\": NaN",
            b"{\"a\" 1}",
            b"{NaN: 1,}",
            b"\xFF",
            b"",
        ] {
            assert!(tolerant(text).is_err(), "{text:?}");
        }
        let twice = br#"{"a": NaN, "a": 1}"#;
        let twice = tolerant(twice).unwrap_err();
        assert!(matches!(twice.kind(), JsonDecodeErrorKind::NotJson(_)));
    }

    #[test]
    fn a_hostile_text_is_refused() {
        assert_eq!(
            problem(r#"{"a":1,"b":{"c":1,"c":2}}"#),
            JsonDecodeErrorKind::DuplicateField("c".into())
        );
        assert_eq!(problem(&"[".repeat(101)), JsonDecodeErrorKind::TooDeep);
        assert!(matches!(problem("{} x"), JsonDecodeErrorKind::NotJson(_)));
        assert!(matches!(problem("{\"a\""), JsonDecodeErrorKind::NotJson(_)));
        assert!(matches!(problem("1e999"), JsonDecodeErrorKind::NotJson(_)));
        assert_eq!(
            problem(&" ".repeat(1001)),
            JsonDecodeErrorKind::TooLong {
                length: 1001,
                maximum: 1000
            }
        );
        for (open, value, close) in [("[", "0,", "0]"), ("[", "[],", "0]")] {
            let text = |count| format!("{open}{}{close}", value.repeat(count));
            assert!(parse(text(MAX_VALUES - 1).as_bytes(), usize::MAX).is_ok());
            let error = parse(text(MAX_VALUES).as_bytes(), usize::MAX).unwrap_err();
            let maximum = MAX_VALUES;
            assert_eq!(
                error.kind(),
                &JsonDecodeErrorKind::TooManyValues { maximum }
            );
            let limits = StatusCode::BadEncodingLimitsExceeded;
            assert_eq!(error.status_code(), limits);
        }
        let bytes = b"\"\xFF\"";
        assert!(matches!(
            parse(bytes, 1000).unwrap_err().kind(),
            JsonDecodeErrorKind::NotJson(_)
        ));
    }
}
