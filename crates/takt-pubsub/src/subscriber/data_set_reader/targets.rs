//! Targets of the fields of a DataSetReader (OPC 10000-14, 6.2.11).

use takt_ua::ExtensionObject;
use takt_ua::enumerations::OverrideValueHandling;
use takt_ua::structures::{DataSetMetaDataType, DataSetReaderDataType, TargetVariablesDataType};

use crate::error::{ConfigurationError, ConfigurationProblem};
use crate::subscriber::target::{DataTarget, ReaderTarget, SubscribedField};

/// Returns the targets of a reader: those of its TargetVariables, or those that `target` has for the fields of the metadata.
pub(super) fn targets_of(
    configuration: &DataSetReaderDataType,
    meta_data: &DataSetMetaDataType,
    subscribed: &ExtensionObject,
    target: &mut dyn DataTarget,
) -> Result<Vec<ReaderTarget>, ConfigurationError> {
    let variables: Option<TargetVariablesDataType> = subscribed.decode_as().ok();
    let mut targets = Vec::new();
    let Some(variables) = variables else {
        for (index, meta_data) in meta_data.fields.iter().enumerate() {
            let field = SubscribedField {
                reader: configuration,
                meta_data,
                target: None,
            };
            if let Some(found) = target.target(field) {
                let made = ReaderTarget::new(index, meta_data, found, None);
                targets.push(made.map_err(|problem| problem.at(meta_data.name.as_str()))?);
            }
        }
        return Ok(targets);
    };
    for (position, variable) in variables.target_variables.iter().enumerate() {
        let id = variable.data_set_field_id;
        let by_id = meta_data
            .fields
            .iter()
            .position(|field| field.data_set_field_id == id);
        // Without a DataSetFieldId, the position of a target is that of its field.
        // No field has the index that stands for an unknown id, which the error below names.
        let index = match id == takt_ua::Guid::default() {
            true => position,
            false => by_id.unwrap_or(usize::MAX),
        };
        let place = format!("target {position}");
        let Some(field) = meta_data.fields.get(index) else {
            let what = format!("{id} is not a field of the metadata");
            return Err(ConfigurationProblem::parameter("DataSetFieldId", what).at(&place));
        };
        let wanted = SubscribedField {
            reader: configuration,
            meta_data: field,
            target: Some(variable),
        };
        let at = |problem: ConfigurationProblem| problem.at(field.name.as_str());
        let found = target.target(wanted);
        let found = found.ok_or_else(|| at(ConfigurationProblem::Unbound("target")))?;
        let handling = variable.override_value_handling;
        // A null override value would be served as a usable one, with the status GoodLocalOverride.
        if handling == OverrideValueHandling::OverrideValue && variable.override_value.is_empty() {
            let problem = ConfigurationProblem::parameter("OverrideValue", "is null");
            return Err(at(problem));
        }
        targets.push(ReaderTarget::new(index, field, found, Some(variable)).map_err(at)?);
    }
    Ok(targets)
}
