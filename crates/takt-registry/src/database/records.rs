//! Records of the database: the standard's structures in UA binary, and the errors of records that cannot be decoded.

use takt_space::{AttributeChange, Change};
use takt_ua::binary::{Decode, DecodeError, Decoder};
use takt_ua::structures::{
    AddNodesItem, AddReferencesItem, DeleteReferencesItem, PubSubKeyPushTargetDataType,
    SecurityGroupDataType,
};
use takt_ua::{NodeId, Variant};

use super::error::DatabaseError;

/// Value instead of a Unix user: no Unix user is known.
pub(super) const NOBODY: u32 = u32::MAX;

/// Kind of a record in the table of references: the reference was added.
pub(super) const ADDED: u8 = 0;
/// Kind of a record in the table of references: the reference was deleted.
pub(super) const DELETED: u8 = 1;

/// Reason for which a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum RecordError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("{0} bytes follow the end of the record")]
    LeftOver(usize),
    #[error("its kind {0} does not exist")]
    Kind(u8),
}

impl RecordError {
    pub(super) fn of(self, table: &'static str, record: impl ToString) -> DatabaseError {
        DatabaseError::Record {
            table,
            record: record.to_string(),
            reason: self.to_string(),
        }
    }
}

/// Decodes a record, which must consist of all the bytes.
pub(super) fn decode<T: for<'a> Decode<'a>>(bytes: &[u8]) -> Result<T, RecordError> {
    let mut decoder = Decoder::new(bytes);
    let record = T::decode(&mut decoder)?;
    match decoder.remaining() {
        0 => Ok(record),
        left => Err(RecordError::LeftOver(left)),
    }
}

/// Decodes a change of references.
pub(super) fn decode_reference(kind: u8, bytes: &[u8]) -> Result<Change, RecordError> {
    match kind {
        ADDED => decode::<AddReferencesItem>(bytes).map(Change::AddReference),
        DELETED => decode::<DeleteReferencesItem>(bytes).map(Change::DeleteReference),
        kind => Err(RecordError::Kind(kind)),
    }
}

/// Decodes an attribute that was written: its key is a node and an AttributeId.
pub(super) fn decode_attribute(key: &[u8], value: &[u8]) -> Result<Change, RecordError> {
    let mut decoder = Decoder::new(key);
    let node_id = NodeId::decode(&mut decoder)?;
    let attribute_id: [u8; 4] = decoder
        .rest()
        .try_into()
        .map_err(|_| RecordError::LeftOver(decoder.remaining()))?;
    Ok(Change::SetAttribute(Box::new(AttributeChange {
        node_id,
        attribute_id: u32::from_be_bytes(attribute_id),
        value: decode(value)?,
        stamp: None,
        previous: Variant::Empty,
        previous_stamp: None,
    })))
}

/// Decodes bytes as each kind of record, for a fuzz target. Returns whether any kind accepted them.
pub(crate) fn decode_any(bytes: &[u8]) -> bool {
    let accepted = [
        decode::<AddNodesItem>(bytes).is_ok(),
        decode::<NodeId>(bytes).is_ok(),
        decode_attribute(bytes, bytes).is_ok(),
        decode::<Variant>(bytes).is_ok(),
        decode::<SecurityGroupDataType>(bytes).is_ok(),
        decode::<PubSubKeyPushTargetDataType>(bytes).is_ok(),
        decode_reference(ADDED, bytes).is_ok(),
        decode_reference(DELETED, bytes).is_ok(),
    ];
    accepted.contains(&true)
}
