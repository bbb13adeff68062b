//! Lengths of messages: they are made, with the longest values that the metadata allows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use takt_pubsub::Now;
use takt_pubsub::publisher::{FieldSource, PublishedField, WriterGroup, longest_value};
use takt_pubsub::security::{KeyRing, PubSubSecurityPolicy, SecurityKeyUpdate};
use takt_ua::enumerations::{MessageSecurityMode, PubSubState};
use takt_ua::structures::{
    FieldMetaData, PubSubConnectionDataType, PublishedDataItemsDataType, PublishedDataSetDataType,
    WriterGroupDataType,
};
use takt_ua::{BuiltInType, DataValue, StatusCode, UaString};

/// Lengths of a NetworkMessage in bytes, from its first header to its signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MessageLength {
    /// Of a key frame with Good values, without security.
    pub(crate) key_frame: usize,
    /// Of the longest message without security: a key frame or a delta frame of all fields, with Good or Uncertain values.
    pub(crate) longest: usize,
    /// SecurityHeader and signature.
    pub(crate) security: usize,
}

impl MessageLength {
    /// Returns the length of the longest message with security.
    pub(crate) fn whole(self) -> usize {
        self.longest + self.security
    }
}

/// Reason why messages have no greatest length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unlimited {
    /// Name of the field; empty if the reason is not a field.
    pub(crate) field: String,
    pub(crate) reason: String,
}

/// Greatest length in bytes of the values of a DataSet for which messages are made. More does not fit any frame.
const LONGEST_DATA_SET: usize = 64 << 10;

/// Checks that the metadata limits the lengths of all fields, and that they are not far beyond any frame.
pub(crate) fn check_fields(data_set: &PublishedDataSetDataType) -> Result<(), Unlimited> {
    let items: Option<PublishedDataItemsDataType> = data_set.data_set_source.decode_as().ok();
    let variables = items.map_or(0, |items| items.published_data.len());
    let mut total = 0_usize;
    for (index, field) in data_set.data_set_meta_data.fields.iter().enumerate() {
        if index >= variables && is_extension(data_set, field) {
            continue;
        }
        let named = |reason: String| Unlimited {
            field: field.name.to_string(),
            reason,
        };
        total = total.saturating_add(length_of(field).map_err(named)?);
        if total > LONGEST_DATA_SET {
            return Err(Unlimited {
                field: String::new(),
                reason: format!(
                    "the values of its DataSet have more than {LONGEST_DATA_SET} bytes"
                ),
            });
        }
    }
    Ok(())
}

/// Returns true if the value of a field without a Variable is that of an extension field, which never changes.
fn is_extension(data_set: &PublishedDataSetDataType, field: &FieldMetaData) -> bool {
    let mut extensions = data_set.extension_fields.iter();
    extensions.any(|extension| extension.key.name == field.name)
}

/// Returns the greatest length of a field's value in bytes, about; or the reason why it has none.
fn length_of(field: &FieldMetaData) -> Result<usize, String> {
    let built_in = BuiltInType::from_u8(field.built_in_type);
    let name = built_in.map_or("of no known type", |it| it.name());
    let length = match (built_in, field.max_string_length) {
        (Some(BuiltInType::String | BuiltInType::ByteString), 0) => {
            return Err(format!("is a {name} without max_string_length"));
        }
        (Some(BuiltInType::String | BuiltInType::ByteString), length) => 4 + length as usize,
        (Some(built_in), _) => match built_in.encoded_size() {
            Some(size) => size,
            None => return Err(format!("is a {name}, which has no greatest length")),
        },
        (None, _) => return Err(format!("is {name}")),
    };
    let dimensions = &field.array_dimensions;
    match field.value_rank {
        -1 => Ok(length),
        ..=0 => Err("may be a scalar or an array of any length".to_owned()),
        rank if usize::try_from(rank) != Ok(dimensions.len()) || dimensions.contains(&0) => {
            Err("is an array without lengths".to_owned())
        }
        _ => Ok(dimensions
            .iter()
            .fold(length, |product, one| product.saturating_mul(*one as usize))),
    }
}

/// Returns the lengths of the NetworkMessages of an interval. The metadata must have passed [`check_fields`].
///
/// # Errors
/// A message cannot be made.
pub(crate) fn lengths(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
) -> Result<Vec<MessageLength>, String> {
    let mut plain = WriterGroupDataType {
        enabled: true,
        // Chunks are told from whole messages by their lengths.
        max_network_message_size: 0,
        ..group.clone()
    };
    plain.data_set_writers.retain(|writer| writer.enabled);
    for writer in &mut plain.data_set_writers {
        let fields = data_sets
            .iter()
            .find(|data_set| data_set.name == writer.data_set_name)
            .map_or(0, |data_set| data_set.data_set_meta_data.fields.len());
        // A heartbeat has no field that a delta frame could have, and sends nothing in its place.
        if fields == 0 {
            writer.key_frame_count = 1;
        }
    }
    let protected = plain.clone();
    plain.security_mode = MessageSecurityMode::None;
    plain.security_group_id = UaString::null();
    let (good, uncertain) = (StatusCode::Good, StatusCode::Uncertain);
    // Each change of the status is a change of all fields, so that delta frames have all of them.
    let runs = [&[good, uncertain, good][..], &[uncertain, good]];
    let of_runs = |group: &WriterGroupDataType, keys: Option<&KeyRing>| {
        let mut longest: Vec<usize> = Vec::new();
        let mut first = Vec::new();
        for statuses in runs {
            for lengths in published(connection, group, data_sets, statuses, keys)? {
                if first.is_empty() {
                    first.clone_from(&lengths);
                }
                if longest.len() < lengths.len() {
                    longest.resize(lengths.len(), 0);
                }
                for (longest, length) in longest.iter_mut().zip(lengths) {
                    *longest = (*longest).max(length);
                }
            }
        }
        Ok::<_, String>((first, longest))
    };
    let (key_frames, longest) = of_runs(&plain, None)?;
    let with_security = match protected.security_mode {
        MessageSecurityMode::Sign | MessageSecurityMode::SignAndEncrypt => {
            of_runs(&protected, Some(&keys()?))?.1
        }
        _ => longest.clone(),
    };
    let messages = longest.into_iter().enumerate().map(|(index, longest)| {
        let at = |lengths: &[usize]| lengths.get(index).copied().unwrap_or_default();
        MessageLength {
            key_frame: at(&key_frames),
            longest,
            security: at(&with_security).saturating_sub(longest),
        }
    });
    Ok(messages.collect())
}

/// Returns the lengths of the messages of several intervals, each with another status of all values.
fn published(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
    statuses: &[StatusCode],
    keys: Option<&KeyRing>,
) -> Result<Vec<Vec<usize>>, String> {
    let status = Arc::new(AtomicU32::new(0));
    let mut source = |field: PublishedField<'_>| -> Option<FieldSource> {
        // The engine has the values of extension fields.
        if field.variable.is_none() && is_extension(field.data_set, field.meta_data) {
            return None;
        }
        let value = longest_value(field.meta_data)?;
        let status = Arc::clone(&status);
        Some(FieldSource::Callback(Box::new(move || {
            let status = StatusCode(status.load(Ordering::Relaxed));
            DataValue::good(value.clone()).with_status(status)
        })))
    };
    let mut engine = WriterGroup::new(connection, group, data_sets, &mut source)
        .map_err(|error| error.to_string())?;
    if let Some(keys) = keys {
        engine.set_keys(keys);
    }
    let mut lengths = Vec::new();
    for one in statuses {
        status.store(one.0, Ordering::Relaxed);
        let mut messages: Vec<Vec<u8>> = Vec::new();
        engine
            .publish(Now::read(), PubSubState::Operational, &mut messages)
            .map_err(|error| error.to_string())?;
        lengths.push(messages.iter().map(Vec::len).collect());
    }
    Ok(lengths)
}

/// Returns keys for messages that are never sent. Both SecurityPolicies have the same lengths.
fn keys() -> Result<KeyRing, String> {
    let policy = PubSubSecurityPolicy::PubSubAes256Ctr;
    let update = SecurityKeyUpdate {
        security_policy_uri: policy.uri().to_owned(),
        first_token_id: 1,
        keys: vec![vec![0; policy.key_data_length()].into()],
        time_to_next_key: Duration::from_secs(3600),
        key_lifetime: Duration::from_secs(3600),
    };
    let mut ring = KeyRing::new();
    ring.update(&update, Instant::now())
        .map_err(|error| error.to_string())?;
    Ok(ring)
}
