//! Published Actions (OPC 10000-14, 6.2.3.10 and 7.2.4.6.11).

use takt_ua::structures::{
    ActionMethodDataType, ActionTargetDataType, DataSetMetaDataType, DataSetWriterDataType,
    PublishedActionDataType, PublishedActionMethodDataType, PublishedDataSetDataType,
    WriterGroupDataType,
};
use takt_ua::{BuiltInType, StatusCode, UaString, Variant};
use takt_wire::AnnouncementContent;
use takt_wire::json::JsonDiscoveryContent;

/// Action that a DataSetWriter of the Responder offers: its ActionMetaData.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PublishedAction {
    /// DataSetWriterId of the Responder's DataSetWriter.
    pub data_set_writer_id: u16,
    /// Name of the DataSetWriter.
    pub data_set_writer_name: UaString,
    /// Targets of the Action.
    pub action_targets: Vec<ActionTargetDataType>,
    /// Metadata of requests. Its name is the name of the Action.
    pub request: Box<DataSetMetaDataType>,
    /// Metadata of responses.
    pub response: Box<DataSetMetaDataType>,
    /// Methods of the targets: none, or one for each target.
    pub action_methods: Vec<ActionMethodDataType>,
}

impl PublishedAction {
    /// Returns the Action of a DataSetWriter; `None` if its PublishedDataSet is not a PublishedAction.
    pub fn of_writer(
        writer: &DataSetWriterDataType,
        data_sets: &[PublishedDataSetDataType],
    ) -> Option<Self> {
        let data_set = data_sets
            .iter()
            .find(|data_set| data_set.name == writer.data_set_name)?;
        let source = &data_set.data_set_source;
        let (request, action_targets, action_methods) =
            match source.decode_as::<PublishedActionMethodDataType>() {
                Ok(source) => (
                    source.request_data_set_meta_data,
                    source.action_targets,
                    source.action_methods,
                ),
                Err(_) => {
                    let source: PublishedActionDataType = source.decode_as().ok()?;
                    (
                        source.request_data_set_meta_data,
                        source.action_targets,
                        Vec::new(),
                    )
                }
            };
        Some(Self {
            data_set_writer_id: writer.data_set_writer_id,
            data_set_writer_name: writer.name.clone(),
            action_targets,
            request: Box::new(request),
            response: Box::new(data_set.data_set_meta_data.clone()),
            action_methods,
        })
    }

    /// Returns the Action of an announcement; `None` if it does not announce an Action.
    pub fn of_announcement(content: &AnnouncementContent) -> Option<Self> {
        match content {
            AnnouncementContent::ActionMetaData {
                data_set_writer_id,
                action_targets,
                request,
                response,
                action_methods,
            } => Some(Self {
                data_set_writer_id: *data_set_writer_id,
                data_set_writer_name: UaString::default(),
                action_targets: action_targets.clone(),
                request: request.clone(),
                response: response.clone(),
                action_methods: action_methods.clone(),
            }),
            _ => None,
        }
    }

    /// Returns the Action of an announcement in JSON; `None` if it does not announce an Action.
    pub fn of_json(content: &JsonDiscoveryContent) -> Option<Self> {
        match content {
            JsonDiscoveryContent::ActionMetaData {
                data_set_writer_id: Some(data_set_writer_id),
                data_set_writer_name,
                action_targets,
                request,
                response,
                action_methods,
            } => Some(Self {
                data_set_writer_id: *data_set_writer_id,
                data_set_writer_name: data_set_writer_name.clone(),
                action_targets: action_targets.clone(),
                request: request.clone(),
                response: response.clone(),
                action_methods: action_methods.clone(),
            }),
            _ => None,
        }
    }

    /// Returns the Responder's announcement of the Action.
    pub fn announcement(&self) -> AnnouncementContent {
        AnnouncementContent::ActionMetaData {
            data_set_writer_id: self.data_set_writer_id,
            action_targets: self.action_targets.clone(),
            request: self.request.clone(),
            response: self.response.clone(),
            action_methods: self.action_methods.clone(),
        }
    }

    /// Returns the Responder's announcement of the Action in JSON.
    pub fn json(&self) -> JsonDiscoveryContent {
        JsonDiscoveryContent::ActionMetaData {
            data_set_writer_id: Some(self.data_set_writer_id),
            data_set_writer_name: self.data_set_writer_name.clone(),
            action_targets: self.action_targets.clone(),
            request: self.request.clone(),
            response: self.response.clone(),
            action_methods: self.action_methods.clone(),
        }
    }

    /// Returns the target with an ActionTargetId.
    pub fn target(&self, action_target_id: u16) -> Option<&ActionTargetDataType> {
        let mut targets = self.action_targets.iter();
        targets.find(|target| target.action_target_id == action_target_id)
    }

    /// Checks arguments of the Action: their number must be the number of fields, and each must have the type of its field.
    ///
    /// # Errors
    /// BadArgumentsMissing, BadTooManyArguments or BadTypeMismatch, as for a Method (OPC 10000-4, 5.12.2.2).
    pub fn check_arguments(&self, arguments: &[Variant]) -> Result<(), StatusCode> {
        let fields = &self.request.fields;
        if arguments.len() < fields.len() {
            return Err(StatusCode::BadArgumentsMissing);
        }
        if arguments.len() > fields.len() {
            return Err(StatusCode::BadTooManyArguments);
        }
        let fits = |(field, value): (&takt_ua::structures::FieldMetaData, &Variant)| {
            let of_type = match BuiltInType::from_u8(field.built_in_type) {
                Some(BuiltInType::Variant) | None => true,
                Some(wanted) => value.built_in_type() == Some(wanted),
            };
            let of_rank = match field.value_rank {
                -1 => !value.is_array(),
                1.. => value.is_array(),
                _ => true,
            };
            of_type && of_rank
        };
        match fields.iter().zip(arguments).all(fits) {
            true => Ok(()),
            false => Err(StatusCode::BadTypeMismatch),
        }
    }
}

/// Returns true if a WriterGroup is that of a Responder: all its DataSetWriters offer Actions, and none sends data.
pub(crate) fn offers_actions(
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
) -> bool {
    let mut writers = group.data_set_writers.iter();
    !group.data_set_writers.is_empty()
        && writers.all(|writer| PublishedAction::of_writer(writer, data_sets).is_some())
}

/// Returns the metadata of requests or responses of a DataSetWriter.
pub(super) fn meta_data(
    actions: &[PublishedAction],
    is_request: bool,
    data_set_writer_id: u16,
) -> Option<&DataSetMetaDataType> {
    let mut actions = actions.iter();
    let action = actions.find(|action| action.data_set_writer_id == data_set_writer_id)?;
    Some(match is_request {
        true => &action.request,
        false => &action.response,
    })
}
