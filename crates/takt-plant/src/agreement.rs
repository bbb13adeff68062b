//! Readers that expect something else than their writers send.

use takt_ua::BuiltInType;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{
    DataSetMetaDataType, DataSetWriterDataType, FieldMetaData, PublishedDataSetDataType,
};

use crate::heard::HeardReader;
use crate::sent::SentGroup;

/// Returns the differences between a reader and its writer, because of which messages would be refused or misread.
pub(crate) fn disagreements(
    sent: &SentGroup<'_>,
    writer: &DataSetWriterDataType,
    heard: &HeardReader<'_>,
) -> Vec<String> {
    let mut found = Vec::new();
    let whose = format!("'{}' of {}", sent.entry, sent.instance.configuration.name);
    let modes = (mode(heard.security), mode(sent.group.security_mode));
    if modes.0 != modes.1 {
        found.push(format!(
            "has security_mode {:?}, and {whose} {:?}",
            modes.0, modes.1
        ));
    }
    let versions = (heard.settings.group_version, sent.settings.group_version);
    if versions.0 != 0 && versions.1 != 0 && versions.0 != versions.1 {
        found.push(format!(
            "has group_version {}, and {whose} {}: it takes none of its messages",
            versions.0, versions.1
        ));
    }
    let intervals = (
        heard.settings.publishing_interval,
        sent.group.publishing_interval,
    );
    if intervals.0 > 0.0 && (intervals.0 - intervals.1).abs() > f64::EPSILON * intervals.1 {
        found.push(format!(
            "expects a publishing_interval of {} ms, and {whose} has {} ms",
            intervals.0, intervals.1
        ));
    }
    let data_sets = &sent
        .instance
        .configuration
        .file
        .configuration
        .published_data_sets;
    let data_set = data_sets.iter().find(|it| it.name == writer.data_set_name);
    let expected = &heard.reader.data_set_meta_data;
    if let Some(difference) = data_set.and_then(|it| difference(expected, it)) {
        found.push(format!(
            "{difference} of DataSet '{}' of {}",
            writer.data_set_name, sent.instance.configuration.name
        ));
    }
    found
}

/// Returns the mode; configurations without one have Invalid.
fn mode(mode: MessageSecurityMode) -> MessageSecurityMode {
    match mode {
        MessageSecurityMode::Invalid => MessageSecurityMode::None,
        mode => mode,
    }
}

/// Returns the first difference between the metadata that a reader expects and that of the DataSet.
fn difference(
    expected: &DataSetMetaDataType,
    data_set: &PublishedDataSetDataType,
) -> Option<String> {
    let sent = &data_set.data_set_meta_data;
    // Without fields, a reader uses the announced metadata.
    if expected.fields.is_empty() {
        return None;
    }
    let versions = (&expected.configuration_version, &sent.configuration_version);
    let majors = (versions.0.major_version, versions.1.major_version);
    if majors.0 != 0 && majors.1 != 0 && majors.0 != majors.1 {
        return Some(format!(
            "expects metadata of version {}, not {}",
            majors.0, majors.1
        ));
    }
    if expected.fields.len() != sent.fields.len() {
        return Some(format!(
            "expects {} fields, not the {}",
            expected.fields.len(),
            sent.fields.len()
        ));
    }
    let mut fields = expected.fields.iter().zip(&sent.fields);
    fields.find_map(|(expected, sent)| {
        let types = (shape(expected), shape(sent));
        (types.0 != types.1).then(|| {
            format!(
                "expects field '{}' as {}, not as the {}",
                expected.name, types.0, types.1
            )
        })
    })
}

/// Returns the type of a field: `Double[6]`.
fn shape(field: &FieldMetaData) -> String {
    let built_in = BuiltInType::from_u8(field.built_in_type);
    let name = built_in.map_or("?", |it| it.name());
    let mut shape = match field.max_string_length {
        0 => name.to_owned(),
        length => format!("{name} of {length} B"),
    };
    match field.value_rank {
        -1 => {}
        rank if rank < 1 => shape.push_str(&format!(" of ValueRank {rank}")),
        _ if field.array_dimensions.is_empty() => shape.push_str("[]"),
        _ => {
            for length in &field.array_dimensions {
                shape.push_str(&format!("[{length}]"));
            }
        }
    }
    shape
}
