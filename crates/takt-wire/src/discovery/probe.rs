//! Probes: requests of a Subscriber for information of Publishers (OPC 10000-14, 7.2.4.6.12).

use takt_ua::UaString;
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};

use crate::error::{WireError, WireErrorKind, padding};

const PUBLISHER_INFORMATION: u8 = 1;
const FIND_APPLICATIONS: u8 = 2;

const PUBLISHER_ENDPOINTS: u8 = 1;
const DATA_SET_META_DATA: u8 = 2;
const DATA_SET_WRITER_CONFIGURATION: u8 = 3;
const WRITER_GROUP_CONFIGURATION: u8 = 4;
const PUB_SUB_CONNECTIONS: u8 = 5;

/// A probe: a Subscriber's request for information. Publishers answer with announcements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscoveryProbe {
    /// The OPC UA Endpoints of the Publisher.
    PublisherEndpoints,
    /// The metadata of these DataSetWriters.
    DataSetMetaData {
        /// DataSetWriterIds of the DataSetWriters.
        data_set_writer_ids: Vec<u16>,
    },
    /// The configuration of these DataSetWriters, and of their WriterGroup.
    DataSetWriterConfiguration {
        /// DataSetWriterIds of the DataSetWriters.
        data_set_writer_ids: Vec<u16>,
    },
    /// The configuration of a WriterGroup.
    WriterGroupConfiguration {
        /// WriterGroupId of the WriterGroup.
        writer_group_id: u16,
        /// True if its DataSetWriters are requested too.
        include_data_set_writers: bool,
    },
    /// The PubSubConnections of the Publisher.
    PubSubConnections {
        /// Requested transport profiles; all if empty.
        transport_profile_uris: Vec<UaString>,
        /// True if their WriterGroups are requested too.
        include_writer_groups: bool,
        /// True if the WriterGroups' DataSetWriters are requested too.
        include_data_set_writers: bool,
    },
    /// All applications. The PublisherId of the message is null.
    FindApplications,
}

impl DiscoveryProbe {
    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, WireError> {
        let start = decoder.position();
        let probe = match decoder.u8()? {
            PUBLISHER_INFORMATION => Self::decode_information(decoder)?,
            FIND_APPLICATIONS => Self::FindApplications,
            value => {
                let field = "ProbeType";
                let kind = WireErrorKind::Reserved {
                    field,
                    value: value.into(),
                };
                return Err(WireError::new(start, kind));
            }
        };
        padding(decoder)?;
        Ok(probe)
    }

    fn decode_information(decoder: &mut Decoder<'_>) -> Result<Self, WireError> {
        let start = decoder.position();
        Ok(match decoder.u8()? {
            PUBLISHER_ENDPOINTS => {
                // Version 1.04 has a null array of DataSetWriterIds here.
                if decoder.rest().starts_with(&[0xFF; 4]) {
                    decoder.bytes(4)?;
                }
                Self::PublisherEndpoints
            }
            DATA_SET_META_DATA => Self::DataSetMetaData {
                data_set_writer_ids: decoder.value()?,
            },
            DATA_SET_WRITER_CONFIGURATION => Self::DataSetWriterConfiguration {
                data_set_writer_ids: decoder.value()?,
            },
            WRITER_GROUP_CONFIGURATION => Self::WriterGroupConfiguration {
                writer_group_id: decoder.u16()?,
                include_data_set_writers: decoder.bool()?,
            },
            PUB_SUB_CONNECTIONS => Self::PubSubConnections {
                transport_profile_uris: Vec::decode(decoder)?,
                include_writer_groups: decoder.bool()?,
                include_data_set_writers: decoder.bool()?,
            },
            value => {
                let field = "InformationType";
                let kind = WireErrorKind::Reserved {
                    field,
                    value: value.into(),
                };
                return Err(WireError::new(start, kind));
            }
        })
    }
}

impl Encode for DiscoveryProbe {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self {
            Self::FindApplications => encoder.u8(FIND_APPLICATIONS),
            Self::PublisherEndpoints => {
                encoder.bytes(&[PUBLISHER_INFORMATION, PUBLISHER_ENDPOINTS])
            }
            Self::DataSetMetaData {
                data_set_writer_ids,
            } => {
                encoder.bytes(&[PUBLISHER_INFORMATION, DATA_SET_META_DATA])?;
                data_set_writer_ids.encode(encoder)
            }
            Self::DataSetWriterConfiguration {
                data_set_writer_ids,
            } => {
                encoder.bytes(&[PUBLISHER_INFORMATION, DATA_SET_WRITER_CONFIGURATION])?;
                data_set_writer_ids.encode(encoder)
            }
            Self::WriterGroupConfiguration {
                writer_group_id,
                include_data_set_writers,
            } => {
                encoder.bytes(&[PUBLISHER_INFORMATION, WRITER_GROUP_CONFIGURATION])?;
                encoder.u16(*writer_group_id)?;
                encoder.bool(*include_data_set_writers)
            }
            Self::PubSubConnections {
                transport_profile_uris,
                include_writer_groups,
                include_data_set_writers,
            } => {
                encoder.bytes(&[PUBLISHER_INFORMATION, PUB_SUB_CONNECTIONS])?;
                transport_profile_uris.encode(encoder)?;
                encoder.bool(*include_writer_groups)?;
                encoder.bool(*include_data_set_writers)
            }
        }
    }
}
