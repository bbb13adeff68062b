//! Content masks as lists of names.

use std::marker::PhantomData;

use takt_ua::UaString;
use takt_ua::enumerations as ua;
use takt_wire::HeaderLayout;
use toml::Value;

use super::scalar::{read_string, write_string};
use super::value::{TomlValue, toml_value};

/// Names of the bits of an option set.
pub(super) trait Bits {
    const NAMES: &'static [(&'static str, u32)];
}

macro_rules! bits {
    ($($name:ident: $($bit:ident)*;)*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub(super) enum $name {}

        impl Bits for $name {
            const NAMES: &'static [(&'static str, u32)] = &[$((stringify!($bit), ua::$name::$bit as u32),)*];
        }
    )*};
}

bits! {
    UadpNetworkMessageContentMask: PublisherId GroupHeader WriterGroupId GroupVersion NetworkMessageNumber SequenceNumber PayloadHeader
        Timestamp PicoSeconds DataSetClassId PromotedFields;
    UadpDataSetMessageContentMask: Timestamp PicoSeconds Status MajorVersion MinorVersion SequenceNumber;
    JsonNetworkMessageContentMask: NetworkMessageHeader DataSetMessageHeader SingleDataSetMessage PublisherId DataSetClassId ReplyTo
        WriterGroupName;
    JsonDataSetMessageContentMask: DataSetWriterId MetaDataVersion SequenceNumber Timestamp Status MessageType DataSetWriterName
        FieldEncoding1 PublisherId WriterGroupName MinorVersion FieldEncoding2;
    DataSetFieldContentMask: StatusCode SourceTimestamp ServerTimestamp SourcePicoSeconds ServerPicoSeconds RawData;
    DataSetFieldFlags: PromotedField;
}

/// Option set: a list of names, or the number if it has bits without a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mask<B>(pub(super) u32, PhantomData<B>);

impl<B> Mask<B> {
    pub(super) fn new(bits: u32) -> Self {
        Self(bits, PhantomData)
    }

    /// Returns the option set; `None` if it is the usual one, which is left out.
    pub(super) fn unless(bits: u32, usual: u32) -> Option<Self> {
        (bits != usual).then(|| Self::new(bits))
    }
}

impl<B: Bits> TomlValue for Mask<B> {
    fn read(value: &Value) -> Result<Self, String> {
        let names = || {
            B::NAMES
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        if let Some(number) = value.as_integer() {
            let bits = u32::try_from(number).map_err(|_| "expected 32 bits".to_owned())?;
            return Ok(Self::new(bits));
        }
        let list = value
            .as_array()
            .ok_or_else(|| format!("expected a list of {}", names()))?;
        list.iter().try_fold(Self::new(0), |mask, name| {
            let bit = B::NAMES
                .iter()
                .find(|(known, _)| name.as_str() == Some(known));
            match bit {
                Some((_, bit)) => Ok(Self::new(mask.0 | bit)),
                None => Err(format!("{name} is not one of {}", names())),
            }
        })
    }

    fn write(&self) -> Value {
        let named = B::NAMES.iter().fold(0, |all, (_, bit)| all | bit);
        if self.0 & !named != 0 {
            return i64::from(self.0).into();
        }
        let set = B::NAMES.iter().filter(|(_, bit)| self.0 & bit != 0);
        set.map(|(name, _)| Value::from(*name))
            .collect::<Vec<_>>()
            .into()
    }
}

toml_value!(Mask<B> where [B: Bits]);

/// Encoding of fields, a DataSetFieldContentMask: `"Variant"`, `"RawData"`, `"DataValue"` (with StatusCode and SourceTimestamp),
/// or the members of the DataValue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FieldEncoding(pub(super) u32);

impl FieldEncoding {
    const NAMES: [(&'static str, u32); 3] = [
        ("Variant", 0),
        ("RawData", ua::DataSetFieldContentMask::RawData),
        (
            "DataValue",
            ua::DataSetFieldContentMask::StatusCode | ua::DataSetFieldContentMask::SourceTimestamp,
        ),
    ];

    pub(super) fn unless(bits: u32, usual: u32) -> Option<Self> {
        (bits != usual).then_some(Self(bits))
    }
}

impl TomlValue for FieldEncoding {
    fn read(value: &Value) -> Result<Self, String> {
        let Some(text) = value.as_str() else {
            return Mask::<DataSetFieldContentMask>::read(value).map(|mask| Self(mask.0));
        };
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, bits)| Self(*bits)).ok_or_else(|| {
            "expected \"Variant\", \"RawData\", \"DataValue\", or a list of members of a DataValue".to_owned()
        })
    }

    fn write(&self) -> Value {
        match Self::NAMES.iter().find(|(_, bits)| *bits == self.0) {
            Some((name, _)) => Value::from(*name),
            None => Mask::<DataSetFieldContentMask>::new(self.0).write(),
        }
    }
}

toml_value!(FieldEncoding);

/// HeaderLayoutUri: the end of a URI of Annex A, or any other URI; `{ uri = "..." }` is used unchanged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout(pub(super) String);

/// Beginning of the URIs of Annex A.
const LAYOUTS: &str = "http://opcfoundation.org/UA/PubSub-Layouts/";

impl TomlValue for Layout {
    fn read(value: &Value) -> Result<Self, String> {
        if let Some(uri) = value.get("uri").and_then(Value::as_str) {
            return Ok(Self(uri.to_owned()));
        }
        let text = value.as_str().ok_or("expected a text")?;
        if text.contains(':') || text.is_empty() {
            return Ok(Self(text.to_owned()));
        }
        let uri = format!("{LAYOUTS}{text}");
        let json = ["JSON-Minimal", "JSON-DataSetMessage", "JSON-NetworkMessage"];
        if HeaderLayout::from_uri(&uri).is_some() || json.contains(&text) {
            return Ok(Self(uri));
        }
        let json = json.join(", ");
        Err(format!(
            "expected UADP-Periodic-Fixed, UADP-Dynamic, {json}, or a whole URI"
        ))
    }

    fn write(&self) -> Value {
        let short = self.0.strip_prefix(LAYOUTS).unwrap_or(&self.0);
        // The shortest form that is read as the same URI.
        let plain = [short, &self.0].map(Value::from);
        let same = |plain: &Value| Self::read(plain).is_ok_and(|read| read == *self);
        plain.into_iter().find(same).unwrap_or_else(|| {
            let uri = ("uri".to_owned(), Value::from(self.0.as_str()));
            Value::Table(toml::Table::from_iter([uri]))
        })
    }
}

toml_value!(Layout);

/// Returns the name of the mapping of a HeaderLayoutUri of Annex A: `UADP` or `JSON`.
pub(super) fn mapping_of_layout(uri: &str) -> Option<&str> {
    let (mapping, _) = uri.strip_prefix(LAYOUTS)?.split_once('-')?;
    Some(mapping)
}

/// Defaults of masks: those of the layout, or else the bits that a Subscriber needs to tell messages apart and to notice that one
/// is missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsualMasks {
    pub(super) uadp_network_message: u32,
    pub(super) uadp_data_set_message: u32,
    pub(super) json_network_message: u32,
    pub(super) json_data_set_message: u32,
    pub(super) field: u32,
}

impl UsualMasks {
    /// Returns the HeaderLayoutUri of a table, and the masks that are usual with it.
    pub(super) fn read(layout: Option<Layout>) -> (UaString, Self) {
        let uri = read_string(layout.map(|layout| layout.0));
        let usual = Self::of_layout(uri.as_option());
        (uri, usual)
    }

    /// Returns the layout for a table, and the masks that are usual with it.
    pub(super) fn write(uri: &UaString) -> (Option<Layout>, Self) {
        let usual = Self::of_layout(uri.as_option());
        (write_string(uri).map(Layout), usual)
    }

    pub(super) fn of_layout(uri: Option<&str>) -> Self {
        use ua::{
            JsonDataSetMessageContentMask as JsonData,
            JsonNetworkMessageContentMask as JsonNetwork, UadpDataSetMessageContentMask as Data,
            UadpNetworkMessageContentMask as Network,
        };
        let usual = Self {
            uadp_network_message: Network::PublisherId
                | Network::GroupHeader
                | Network::WriterGroupId
                | Network::SequenceNumber
                | Network::PayloadHeader,
            uadp_data_set_message: Data::Status | Data::SequenceNumber,
            json_network_message: JsonNetwork::NetworkMessageHeader
                | JsonNetwork::DataSetMessageHeader
                | JsonNetwork::PublisherId,
            json_data_set_message: JsonData::DataSetWriterId
                | JsonData::SequenceNumber
                | JsonData::Timestamp
                | JsonData::Status
                | JsonData::MessageType,
            field: 0,
        };
        let data_set_header = JsonData::DataSetWriterId
            | JsonData::SequenceNumber
            | JsonData::Timestamp
            | JsonData::Status
            | JsonData::MinorVersion
            | JsonData::FieldEncoding2;
        match uri.and_then(|uri| uri.strip_prefix(LAYOUTS)) {
            // Tables A.16 and A.17.
            Some("JSON-Minimal") => {
                return Self {
                    json_network_message: JsonNetwork::SingleDataSetMessage,
                    json_data_set_message: 0,
                    field: ua::DataSetFieldContentMask::RawData,
                    ..usual
                };
            }
            // Tables A.18 and A.19.
            Some("JSON-DataSetMessage") => {
                return Self {
                    json_network_message: JsonNetwork::DataSetMessageHeader
                        | JsonNetwork::SingleDataSetMessage,
                    json_data_set_message: data_set_header | JsonData::PublisherId,
                    ..usual
                };
            }
            // Tables A.20 and A.21.
            Some("JSON-NetworkMessage") => {
                return Self {
                    json_data_set_message: data_set_header,
                    ..usual
                };
            }
            _ => {}
        }
        match uri.and_then(HeaderLayout::from_uri) {
            None => usual,
            Some(layout) => Self {
                uadp_network_message: layout.network_message_content_mask(),
                uadp_data_set_message: layout.data_set_message_content_mask(),
                field: layout.data_set_field_content_mask().unwrap_or(0),
                ..usual
            },
        }
    }

    /// Returns the masks for a KeyFrameCount. Unless every DataSetMessage is a key frame, its header has the MessageType (Tables
    /// A.19 and A.21).
    pub(super) fn with_key_frame_count(self, key_frame_count: u32) -> Self {
        let header = ua::JsonNetworkMessageContentMask::DataSetMessageHeader;
        let has_header = self.json_network_message & header != 0;
        Self {
            json_data_set_message: match key_frame_count != 1 && has_header {
                true => self.json_data_set_message | ua::JsonDataSetMessageContentMask::MessageType,
                false => self.json_data_set_message,
            },
            ..self
        }
    }
}
