//! Announcements: information of a Publisher about itself (OPC 10000-14, 7.2.4.6.3 to 7.2.4.6.11).

use takt_ua::binary::{Decoder, Encode, Encoder};
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{
    ActionMethodDataType, ActionTargetDataType, ApplicationDescription, DataSetMetaDataType,
    EndpointDescription, PubSubConnectionDataType, WriterGroupDataType,
};
use takt_ua::{DateTime, StatusCode, UaString};

use crate::error::{WireEncodeError, WireError, WireErrorKind, padding};

const PUBLISHER_ENDPOINTS: u8 = 1;
const DATA_SET_META_DATA: u8 = 2;
const DATA_SET_WRITER_CONFIGURATION: u8 = 3;
const PUB_SUB_CONNECTIONS: u8 = 4;
const APPLICATION_INFORMATION: u8 = 5;
const ACTION_RESPONDER: u8 = 6;
const ACTION_META_DATA: u8 = 7;

const APPLICATION_DESCRIPTION: u16 = 1;
const STATUS: u16 = 2;

const STATUS_CODES: &str =
    "different numbers of statusCodes and DataSetWriterIds (OPC 10000-14, 7.2.4.6.9)";
const ACTION_METHODS: &str =
    "different numbers of ActionMethods and ActionTargets (OPC 10000-14, 7.2.4.6.11)";
const READER_GROUPS: &str =
    "an announced connection with ReaderGroups (OPC 10000-14, 7.2.4.6.8 and 7.2.4.6.10)";

/// A discovery announcement.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscoveryAnnouncement {
    /// Sequence number of the announcement, increased by 1 for each announcement of the Publisher.
    pub sequence_number: u16,
    /// Announced information.
    pub content: AnnouncementContent,
}

/// The types of announcements.
#[derive(Debug, Clone, PartialEq)]
pub enum AnnouncementContent {
    /// The OPC UA Endpoints of the Publisher (OPC 10000-14, 7.2.4.6.6).
    PublisherEndpoints {
        /// The Endpoints.
        endpoints: Vec<EndpointDescription>,
        /// Good if the Publisher provides the Endpoints.
        status_code: StatusCode,
    },
    /// Metadata of a DataSetWriter (OPC 10000-14, 7.2.4.6.4).
    DataSetMetaData {
        /// DataSetWriterId of the DataSetWriter.
        data_set_writer_id: u16,
        /// Its metadata.
        meta_data: Box<DataSetMetaDataType>,
        /// Good if the Publisher provides the metadata.
        status_code: StatusCode,
    },
    /// Configuration of DataSetWriters of a WriterGroup (OPC 10000-14, 7.2.4.6.9).
    DataSetWriterConfiguration {
        /// DataSetWriterIds of the DataSetWriters.
        data_set_writer_ids: Vec<u16>,
        /// The WriterGroup, with these DataSetWriters only.
        data_set_writer_config: Box<WriterGroupDataType>,
        /// Status of each DataSetWriter: Good if the Publisher provides its configuration.
        status_codes: Vec<StatusCode>,
    },
    /// The PubSubConnections of the Publisher, without ReaderGroups (OPC 10000-14, 7.2.4.6.8).
    PubSubConnections(Vec<PubSubConnectionDataType>),
    /// Description or state of the application (OPC 10000-14, 7.2.4.6.3).
    ApplicationInformation(ApplicationInformation),
    /// The PubSubConnections with DataSetWriters for Actions, without ReaderGroups (OPC 10000-14, 7.2.4.6.10).
    ActionResponder(Vec<PubSubConnectionDataType>),
    /// Actions of a DataSetWriter (OPC 10000-14, 7.2.4.6.11).
    ActionMetaData {
        /// DataSetWriterId of the DataSetWriter.
        data_set_writer_id: u16,
        /// Targets of the Action.
        action_targets: Vec<ActionTargetDataType>,
        /// Fields of requests. Its name is that of the Action.
        request: Box<DataSetMetaDataType>,
        /// Fields of responses.
        response: Box<DataSetMetaDataType>,
        /// The Methods behind the targets: none, or one for each target.
        action_methods: Vec<ActionMethodDataType>,
    },
}

/// Information of an application about itself.
#[derive(Debug, Clone, PartialEq)]
pub enum ApplicationInformation {
    /// Description of the application (OPC 10000-14, 7.2.4.6.5).
    ApplicationDescription {
        /// Names, URIs, addresses.
        application_description: Box<ApplicationDescription>,
        /// Identifiers of its capabilities, see OPC 10000-12.
        capabilities: Vec<UaString>,
    },
    /// The state of the PubSubConnection (OPC 10000-14, 7.2.4.6.7).
    Status {
        /// The state.
        status: PubSubState,
        /// Times of cyclic reports: of the next report, and of sending this one.
        cyclic: Option<(DateTime, DateTime)>,
    },
}

impl DiscoveryAnnouncement {
    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, WireError> {
        let start = decoder.position();
        let announcement_type = decoder.u8()?;
        let sequence_number = decoder.u16()?;
        // Structures are boxed here and not by the decoder, for which the values in them would be nested ones: a tolerant
        // decoder replaces a bad value of the outermost structure only.
        let content = match announcement_type {
            PUBLISHER_ENDPOINTS => AnnouncementContent::PublisherEndpoints {
                endpoints: decoder.value()?,
                status_code: decoder.value()?,
            },
            DATA_SET_META_DATA => AnnouncementContent::DataSetMetaData {
                data_set_writer_id: decoder.u16()?,
                meta_data: Box::new(decoder.value()?),
                status_code: decoder.value()?,
            },
            DATA_SET_WRITER_CONFIGURATION => AnnouncementContent::DataSetWriterConfiguration {
                data_set_writer_ids: decoder.value()?,
                data_set_writer_config: Box::new(decoder.value()?),
                status_codes: decoder.value()?,
            },
            PUB_SUB_CONNECTIONS => AnnouncementContent::PubSubConnections(decoder.value()?),
            APPLICATION_INFORMATION => {
                let information = ApplicationInformation::decode(decoder)?;
                AnnouncementContent::ApplicationInformation(information)
            }
            ACTION_RESPONDER => AnnouncementContent::ActionResponder(decoder.value()?),
            ACTION_META_DATA => AnnouncementContent::ActionMetaData {
                data_set_writer_id: decoder.u16()?,
                action_targets: decoder.value()?,
                request: Box::new(decoder.value()?),
                response: Box::new(decoder.value()?),
                action_methods: decoder.value()?,
            },
            value => {
                let field = "AnnouncementType";
                let kind = WireErrorKind::Reserved {
                    field,
                    value: value.into(),
                };
                return Err(WireError::new(start, kind));
            }
        };
        if let Some(rule) = content.length_rule() {
            return Err(WireError::new(start, WireErrorKind::Forbidden(rule)));
        }
        padding(decoder)?;
        Ok(Self {
            sequence_number,
            content,
        })
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), WireEncodeError> {
        if let Some(rule) = self.content.length_rule().or(self.content.sender_rule()) {
            return Err(WireEncodeError::Forbidden(rule));
        }
        encoder.u8(self.content.announcement_type())?;
        encoder.u16(self.sequence_number)?;
        match &self.content {
            AnnouncementContent::PublisherEndpoints {
                endpoints,
                status_code,
            } => {
                endpoints.encode(encoder)?;
                status_code.encode(encoder)?;
            }
            AnnouncementContent::DataSetMetaData {
                data_set_writer_id,
                meta_data,
                status_code,
            } => {
                encoder.u16(*data_set_writer_id)?;
                meta_data.encode(encoder)?;
                status_code.encode(encoder)?;
            }
            AnnouncementContent::DataSetWriterConfiguration {
                data_set_writer_ids,
                data_set_writer_config,
                status_codes,
            } => {
                data_set_writer_ids.encode(encoder)?;
                data_set_writer_config.encode(encoder)?;
                status_codes.encode(encoder)?;
            }
            AnnouncementContent::PubSubConnections(connections)
            | AnnouncementContent::ActionResponder(connections) => connections.encode(encoder)?,
            AnnouncementContent::ApplicationInformation(information) => {
                information.encode(encoder)?;
            }
            AnnouncementContent::ActionMetaData {
                data_set_writer_id,
                action_targets,
                request,
                response,
                action_methods,
            } => {
                encoder.u16(*data_set_writer_id)?;
                action_targets.encode(encoder)?;
                request.encode(encoder)?;
                response.encode(encoder)?;
                action_methods.encode(encoder)?;
            }
        }
        Ok(())
    }
}

impl AnnouncementContent {
    fn announcement_type(&self) -> u8 {
        match self {
            Self::PublisherEndpoints { .. } => PUBLISHER_ENDPOINTS,
            Self::DataSetMetaData { .. } => DATA_SET_META_DATA,
            Self::DataSetWriterConfiguration { .. } => DATA_SET_WRITER_CONFIGURATION,
            Self::PubSubConnections(_) => PUB_SUB_CONNECTIONS,
            Self::ApplicationInformation(_) => APPLICATION_INFORMATION,
            Self::ActionResponder(_) => ACTION_RESPONDER,
            Self::ActionMetaData { .. } => ACTION_META_DATA,
        }
    }

    /// Returns the broken rule if arrays that belong together differ in length.
    fn length_rule(&self) -> Option<&'static str> {
        match self {
            Self::DataSetWriterConfiguration {
                data_set_writer_ids,
                status_codes,
                ..
            } => (data_set_writer_ids.len() != status_codes.len()).then_some(STATUS_CODES),
            Self::ActionMetaData {
                action_targets,
                action_methods,
                ..
            } => {
                let fitting =
                    action_methods.is_empty() || action_methods.len() == action_targets.len();
                (!fitting).then_some(ACTION_METHODS)
            }
            _ => None,
        }
    }

    /// Returns the rule that a sender would break. Receivers tolerate it.
    fn sender_rule(&self) -> Option<&'static str> {
        match self {
            Self::PubSubConnections(connections) | Self::ActionResponder(connections) => {
                let without =
                    |connection: &PubSubConnectionDataType| connection.reader_groups.is_empty();
                (!connections.iter().all(without)).then_some(READER_GROUPS)
            }
            _ => None,
        }
    }
}

impl ApplicationInformation {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, WireError> {
        let start = decoder.position();
        match decoder.u16()? {
            APPLICATION_DESCRIPTION => Ok(Self::ApplicationDescription {
                application_description: Box::new(decoder.value()?),
                capabilities: decoder.value()?,
            }),
            STATUS => {
                let is_cyclic = decoder.bool()?;
                Ok(Self::Status {
                    status: decoder.value()?,
                    cyclic: match is_cyclic {
                        true => Some((decoder.value()?, decoder.value()?)),
                        false => None,
                    },
                })
            }
            other => {
                let kind = WireErrorKind::Reserved {
                    field: "ApplicationInformationType",
                    value: other,
                };
                Err(WireError::new(start, kind))
            }
        }
    }

    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), WireEncodeError> {
        match self {
            Self::ApplicationDescription {
                application_description,
                capabilities,
            } => {
                encoder.u16(APPLICATION_DESCRIPTION)?;
                application_description.encode(encoder)?;
                capabilities.encode(encoder)?;
            }
            Self::Status { status, cyclic } => {
                encoder.u16(STATUS)?;
                encoder.bool(cyclic.is_some())?;
                status.encode(encoder)?;
                if let Some((next_report_time, timestamp)) = cyclic {
                    next_report_time.encode(encoder)?;
                    timestamp.encode(encoder)?;
                }
            }
        }
        Ok(())
    }
}
