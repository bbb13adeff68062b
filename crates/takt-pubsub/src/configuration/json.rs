//! Configuration in the JSON DataEncoding (OPC 10000-6, 5.4).

use serde_json::Value;
use takt_ua::json_encoding::{JsonContext, JsonDecoder, parse};
use takt_ua::structures::UABinaryFileDataType;

use super::binary::of_file;
use super::{ConfigurationFile, JsonFileError};

/// Longest text that is read, in bytes.
const MAX_LENGTH: usize = 64 << 20;

/// Reads a configuration in the JSON DataEncoding of versions 1.05 and 1.04: the fields of a `PubSubConfiguration2DataType`, or
/// those of a `UABinaryFileDataType` with a configuration as its body. Fields that are missing have their default.
///
/// # Errors
/// The text is not JSON, is something else, or has a value of another type.
pub fn from_json(text: &[u8]) -> Result<ConfigurationFile, JsonFileError> {
    let value = parse(text, MAX_LENGTH)?;
    let has = |field: &str| value.get(field).is_some_and(|field| *field != Value::Null);
    let decoder = JsonDecoder::new(JsonContext::default());
    if has("Body") {
        let file: UABinaryFileDataType = decoder.structure(&value)?;
        return Ok(of_file(file)?);
    }
    // Fields that the structure does not have are ignored, so that any object would be a configuration.
    if !has("Connections") && !has("PublishedDataSets") {
        return Err(JsonFileError::NoConfiguration);
    }
    Ok(ConfigurationFile::new(decoder.structure(&value)?))
}

#[cfg(test)]
#[cfg(feature = "toml")]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use takt_ua::json_encoding::{JsonEncoder, JsonEncoding};
    use takt_ua::{ExtensionObject, Variant};

    use super::*;
    use crate::configuration::from_toml;

    fn publisher() -> ConfigurationFile {
        from_toml(include_str!("../../../../examples/pubsub/publisher.toml")).unwrap()
    }

    #[test]
    fn a_configuration_in_json_is_that_in_toml() {
        let file = publisher();
        for encoding in [JsonEncoding::Compact, JsonEncoding::Verbose] {
            let encoder = JsonEncoder::new(encoding, JsonContext::default());
            let json = encoder.structure(&file.configuration);
            let read = from_json(json.to_string().as_bytes()).unwrap();
            assert_eq!(read.configuration, file.configuration, "{encoding:?}");
            let body = ExtensionObject::from_structure(&file.configuration);
            let whole = encoder.structure(&file.to_structure(Variant::from(body)));
            assert_eq!(from_json(whole.to_string().as_bytes()).unwrap(), file);
        }
    }

    #[test]
    fn other_files_are_refused() {
        for (text, expected) in [
            ("", "the file cannot be decoded: not JSON"),
            ("{}", "the file is no object with the fields"),
            ("[1]", "the file is no object with the fields"),
            ("{\"Connections\": 5}", "the file cannot be decoded"),
            (
                "{\"Connections\": [], \"Connections\": []}",
                "the file cannot be decoded: the field 'Connections' occurs twice",
            ),
            (
                "{\"Body\": {\"UaType\": 12, \"Value\": \"x\"}}",
                "the body of the file is String",
            ),
        ] {
            let error = from_json(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
