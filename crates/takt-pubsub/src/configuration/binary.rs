//! Binary configuration file of the standard (OPC 10000-14, 6.2.12.1 and 9.1.3.7.1).

use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder, Limits};
use takt_ua::structures::{
    PubSubConfiguration2DataType, PubSubConfigurationDataType, UABinaryFileDataType,
};
use takt_ua::{ExtensionObject, ExtensionObjectBody, Structure, Variant};

use super::{BinaryFileError, ConfigurationFile};

/// Reads a binary file. Also reads a body of the older type PubSubConfigurationDataType, which open62541 writes.
///
/// # Errors
/// The bytes are not such a file, or are damaged.
pub fn from_binary_file(bytes: &[u8]) -> Result<ConfigurationFile, BinaryFileError> {
    if bytes.trim_ascii_start().starts_with(b"<") {
        return Err(BinaryFileError::Xml("file"));
    }
    let mut decoder = Decoder::with_limits(bytes, Limits::DEFAULT);
    let file = ExtensionObject::decode(&mut decoder)?;
    let end = decoder.position();
    if matches!(file.body, ExtensionObjectBody::Xml(_)) {
        return Err(BinaryFileError::Xml("file"));
    }
    if !file.is::<UABinaryFileDataType>() {
        return Err(BinaryFileError::NoBinaryFile(file.type_id));
    }
    if decoder.remaining() > 0 {
        return Err(BinaryFileError::TrailingBytes(end));
    }
    of_file(file.decode_as()?)
}

/// Returns the content of a file that is decoded.
pub(super) fn of_file(
    mut file: UABinaryFileDataType,
) -> Result<ConfigurationFile, BinaryFileError> {
    let configuration = match std::mem::take(&mut file.body) {
        Variant::ExtensionObject(body) => configuration_of(&body)?,
        Variant::Empty => return Err(BinaryFileError::NoConfiguration("null".to_owned())),
        other => {
            let array = if other.is_array() { "an array of " } else { "" };
            let built_in = other.built_in_type().map_or("?", |found| found.name());
            return Err(BinaryFileError::NoConfiguration(format!(
                "{array}{built_in}"
            )));
        }
    };
    Ok(ConfigurationFile::from_parts(configuration, file))
}

fn configuration_of(
    body: &ExtensionObject,
) -> Result<PubSubConfiguration2DataType, BinaryFileError> {
    if matches!(body.body, ExtensionObjectBody::Xml(_)) {
        return Err(BinaryFileError::Xml("body of the file"));
    }
    if body.is::<PubSubConfiguration2DataType>() {
        return Ok(body.decode_as()?);
    }
    if !body.is::<PubSubConfigurationDataType>() {
        let what = format!("the structure {}", body.type_id);
        return Err(BinaryFileError::NoConfiguration(what));
    }
    let older: PubSubConfigurationDataType = body.decode_as()?;
    Ok(PubSubConfiguration2DataType {
        published_data_sets: older.published_data_sets,
        connections: older.connections,
        enabled: older.enabled,
        ..PubSubConfiguration2DataType::default()
    })
}

/// Writes a binary file with a PubSubConfiguration2DataType.
///
/// # Errors
/// A part is longer than the binary encoding can represent.
pub fn to_binary_file(file: &ConfigurationFile) -> Result<Vec<u8>, EncodeError> {
    let body = encoded(&file.configuration)?;
    let structure = file.to_structure(Variant::from(body));
    let mut bytes = Vec::new();
    encoded(&structure)?.encode(&mut Encoder::growing(&mut bytes, usize::MAX))?;
    Ok(bytes)
}

fn encoded<T: Structure>(structure: &T) -> Result<ExtensionObject, EncodeError> {
    let mut bytes = Vec::new();
    structure.encode(&mut Encoder::growing(&mut bytes, usize::MAX))?;
    Ok(ExtensionObject {
        type_id: takt_ua::NodeId::numeric(0, T::BINARY_ENCODING_ID),
        body: ExtensionObjectBody::Binary(bytes),
    })
}
