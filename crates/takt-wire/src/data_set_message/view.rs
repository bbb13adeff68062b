//! Decoder of DataSetMessages.

use takt_ua::binary::{Decode, Decoder, ListRef};
use takt_ua::enumerations::ActionState;
use takt_ua::{DateTime, StatusCode, VariantRef};

use super::{
    Action, ActionFields, DataSetContent, DataSetMessage, DeltaFieldsRef, FieldsRef, flags, rules,
};
use crate::error::{WireError, WireErrorKind, padding};

/// A borrowed [`DataSetMessage`], checked as a whole: no access to it can fail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataSetMessageRef<'a> {
    /// DataSetWriterId of the message, if the NetworkMessage has a PayloadHeader.
    pub data_set_writer_id: Option<u16>,
    /// Sequence number of the message; in a keep-alive, the number of the next message.
    pub sequence_number: Option<u16>,
    /// Time at which the values were collected.
    pub timestamp: Option<DateTime>,
    /// Addition to the timestamp, in units of 10 ps.
    pub pico_seconds: Option<u16>,
    /// Quality of the whole DataSet; the lower 16 bits are 0.
    pub status: Option<StatusCode>,
    /// Major version of the metadata.
    pub major_version: Option<u32>,
    /// Minor version of the metadata.
    pub minor_version: Option<u32>,
    /// Size in bytes if the message was padded, else 0.
    pub configured_size: u16,
    /// Type of the message, and its fields.
    pub content: DataSetContentRef<'a>,
}

/// Borrowed [`DataSetContent`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DataSetContentRef<'a> {
    /// A placeholder: nothing in the message is valid.
    Invalid,
    /// All fields of the DataSet.
    KeyFrame(FieldsRef<'a>),
    /// The changed fields.
    DeltaFrame(DeltaFieldsRef<'a>),
    /// The fields of an event.
    Event(ListRef<'a, VariantRef<'a>>),
    /// Keep-alive: no values have changed.
    KeepAlive,
    /// A request of a Requestor for an Action.
    ActionRequest(ActionRef<'a>),
    /// The response of a Responder to such a request.
    ActionResponse(ActionRef<'a>),
}

/// A borrowed [`Action`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActionRef<'a> {
    /// The target of the Action.
    pub action_target_id: u16,
    /// Id chosen by the Requestor and returned by the Responder.
    pub request_id: u16,
    /// State that a request asks for or a response reports.
    pub action_state: ActionState,
    /// Arguments or results.
    pub fields: ActionFieldsRef<'a>,
}

/// Borrowed [`ActionFields`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ActionFieldsRef<'a> {
    /// Values encoded with their types.
    Variant(ListRef<'a, VariantRef<'a>>),
    /// Values whose types and sizes only the metadata has.
    RawData {
        /// Number of fields.
        field_count: u16,
        /// All fields, encoded, with the padding that follows them.
        bytes: &'a [u8],
    },
}

fn refuse<T>(offset: usize, what: &'static str) -> Result<T, WireError> {
    Err(WireError::new(offset, WireErrorKind::Forbidden(what)))
}

impl<'a> DataSetMessageRef<'a> {
    /// Reads and checks a message that consists of all remaining bytes of `decoder`. The bytes behind the fields must
    /// be zeros, which are padding.
    pub(crate) fn decode(
        data_set_writer_id: Option<u16>,
        decoder: &mut Decoder<'a>,
    ) -> Result<Self, WireError> {
        let size = decoder.remaining();
        let mut message = Self::decode_start(data_set_writer_id, decoder)?;
        message.configured_size = match message.content {
            // The rest shall not be processed (Table 162).
            DataSetContentRef::Invalid => padded_size(size, decoder.remaining()),
            _ => padded_size(size, padding(decoder)?),
        };
        Ok(message)
    }

    /// Reads and checks a message that begins at the current position. Bytes behind its fields are ignored; RawData
    /// fields take all remaining bytes.
    pub(crate) fn decode_start(
        data_set_writer_id: Option<u16>,
        decoder: &mut Decoder<'a>,
    ) -> Result<Self, WireError> {
        let (start, flags1) = (decoder.position(), decoder.u8()?);
        let mut message = Self {
            data_set_writer_id,
            sequence_number: None,
            timestamp: None,
            pico_seconds: None,
            status: None,
            major_version: None,
            minor_version: None,
            configured_size: 0,
            content: DataSetContentRef::Invalid,
        };
        if flags1 & flags::VALID == 0 {
            return Ok(message);
        }
        let set = |bit: u8| flags1 & bit != 0;
        // Both bits together are reserved.
        if flags1 & flags::FIELD_ENCODING == flags::FIELD_ENCODING {
            return Err(reserved(start, "DataSetFlags1", flags1));
        }
        // Without the second byte its bits are 0: a key frame without a timestamp.
        let (start2, flags2) = match set(flags::FLAGS2) {
            true => (decoder.position(), decoder.u8()?),
            false => (start, 0),
        };
        if flags2 & flags::RESERVED2 != 0 {
            return Err(reserved(start2, "DataSetFlags2", flags2));
        }
        let set2 = |bit: u8| flags2 & bit != 0;
        if set2(flags::PICO_SECONDS) && !set2(flags::TIMESTAMP) {
            return refuse(start2, rules::PICO_SECONDS);
        }
        message.sequence_number = set(flags::SEQUENCE_NUMBER)
            .then(|| decoder.u16())
            .transpose()?;
        message.timestamp = set2(flags::TIMESTAMP)
            .then(|| DateTime::decode(decoder))
            .transpose()?;
        message.pico_seconds = set2(flags::PICO_SECONDS)
            .then(|| decoder.u16())
            .transpose()?;
        message.status = set(flags::STATUS)
            .then(|| decoder.u16())
            .transpose()?
            .map(|upper| StatusCode(u32::from(upper) << 16));
        message.major_version = set(flags::MAJOR_VERSION)
            .then(|| decoder.u32())
            .transpose()?;
        message.minor_version = set(flags::MINOR_VERSION)
            .then(|| decoder.u32())
            .transpose()?;
        let encoding = flags1 & flags::FIELD_ENCODING;
        message.content = match flags2 & flags::MESSAGE_TYPE {
            flags::KEY_FRAME => DataSetContentRef::KeyFrame(key_frame(encoding, decoder)?),
            flags::DELTA_FRAME => {
                if encoding == flags::RAW_DATA {
                    return refuse(start, rules::DELTA_RAW_DATA);
                }
                DataSetContentRef::DeltaFrame(delta_frame(encoding, decoder)?)
            }
            flags::EVENT => {
                if encoding != 0 {
                    return refuse(start, rules::EVENT_ENCODING);
                }
                DataSetContentRef::Event(counted(decoder)?)
            }
            flags::KEEP_ALIVE => DataSetContentRef::KeepAlive,
            kind @ (flags::ACTION_REQUEST | flags::ACTION_RESPONSE) => {
                if encoding == flags::DATA_VALUE {
                    return refuse(start, rules::ACTION_ENCODING);
                }
                let action = action(encoding, decoder)?;
                match kind {
                    flags::ACTION_REQUEST => DataSetContentRef::ActionRequest(action),
                    _ => DataSetContentRef::ActionResponse(action),
                }
            }
            _ => return Err(reserved(start2, "DataSetFlags2", flags2)),
        };
        Ok(message)
    }

    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> DataSetMessage {
        DataSetMessage {
            data_set_writer_id: self.data_set_writer_id,
            sequence_number: self.sequence_number,
            timestamp: self.timestamp,
            pico_seconds: self.pico_seconds,
            status: self.status,
            major_version: self.major_version,
            minor_version: self.minor_version,
            configured_size: self.configured_size,
            content: self.content.to_owned(),
        }
    }
}

#[cold]
fn reserved(offset: usize, field: &'static str, value: u8) -> WireError {
    WireError::new(
        offset,
        WireErrorKind::Reserved {
            field,
            value: value.into(),
        },
    )
}

/// Returns the size that a message was padded to; 0 without padding, and for sizes above the range of ConfiguredSize.
fn padded_size(size: usize, padding: usize) -> u16 {
    match padding {
        0 => 0,
        _ => u16::try_from(size).unwrap_or(0),
    }
}

fn counted<'a, T: Decode<'a>>(decoder: &mut Decoder<'a>) -> Result<ListRef<'a, T>, WireError> {
    let count = usize::from(decoder.u16()?);
    Ok(ListRef::take(decoder, count)?)
}

/// Takes the remaining bytes.
fn rest<'a>(decoder: &mut Decoder<'a>) -> Result<&'a [u8], WireError> {
    Ok(decoder.bytes(decoder.remaining())?)
}

fn key_frame<'a>(encoding: u8, decoder: &mut Decoder<'a>) -> Result<FieldsRef<'a>, WireError> {
    Ok(match encoding {
        flags::RAW_DATA => FieldsRef::RawData(rest(decoder)?),
        flags::DATA_VALUE => FieldsRef::DataValue(counted(decoder)?),
        _ => FieldsRef::Variant(counted(decoder)?),
    })
}

fn delta_frame<'a>(
    encoding: u8,
    decoder: &mut Decoder<'a>,
) -> Result<DeltaFieldsRef<'a>, WireError> {
    let start = decoder.position();
    let fields = match encoding {
        flags::DATA_VALUE => DeltaFieldsRef::DataValue(counted(decoder)?),
        _ => DeltaFieldsRef::Variant(counted(decoder)?),
    };
    match fields.has_duplicates() {
        true => refuse(start, rules::DELTA_TWICE),
        false => Ok(fields),
    }
}

fn action<'a>(encoding: u8, decoder: &mut Decoder<'a>) -> Result<ActionRef<'a>, WireError> {
    Ok(ActionRef {
        action_target_id: decoder.u16()?,
        request_id: decoder.u16()?,
        action_state: ActionState(i32::from(decoder.u8()?)),
        fields: match encoding {
            flags::RAW_DATA => ActionFieldsRef::RawData {
                field_count: decoder.u16()?,
                bytes: rest(decoder)?,
            },
            _ => ActionFieldsRef::Variant(counted(decoder)?),
        },
    })
}

fn variants<'a>(fields: &ListRef<'a, VariantRef<'a>>) -> Vec<takt_ua::Variant> {
    fields.iter().map(|field| field.to_owned()).collect()
}

impl DataSetContentRef<'_> {
    /// Returns whether this is an Action request or response; invalid messages, which cannot be told apart, return
    /// `invalid`.
    pub(crate) fn action(&self, invalid: Option<bool>) -> Option<bool> {
        match self {
            Self::ActionRequest(_) => Some(true),
            Self::ActionResponse(_) => Some(false),
            Self::Invalid => invalid,
            _ => None,
        }
    }

    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> DataSetContent {
        match self {
            Self::Invalid => DataSetContent::Invalid,
            Self::KeyFrame(fields) => DataSetContent::KeyFrame(fields.to_owned()),
            Self::DeltaFrame(fields) => DataSetContent::DeltaFrame(fields.to_owned()),
            Self::Event(fields) => DataSetContent::Event(variants(fields)),
            Self::KeepAlive => DataSetContent::KeepAlive,
            Self::ActionRequest(action) => DataSetContent::ActionRequest(action.to_owned()),
            Self::ActionResponse(action) => DataSetContent::ActionResponse(action.to_owned()),
        }
    }
}

impl ActionRef<'_> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> Action {
        Action {
            action_target_id: self.action_target_id,
            request_id: self.request_id,
            action_state: self.action_state,
            fields: match self.fields {
                ActionFieldsRef::Variant(fields) => ActionFields::Variant(variants(&fields)),
                ActionFieldsRef::RawData { field_count, bytes } => ActionFields::RawData {
                    field_count,
                    bytes: bytes.to_vec(),
                },
            },
        }
    }
}
