//! The Object with the configuration of a Variable's history (OPC 10000-11, 5.2.3; OPC 10000-13, 4.2.1.2).

use takt_client::model::HISTORICAL_CONFIGURATION;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, ObjectAttributes};
use takt_ua::{ExpandedNodeId, ExtensionObject, NodeId, QualifiedName, Variant, ids};

use super::variable::Variable;

/// Returns the identifier of the Object of a Variable.
pub(super) fn path(variable: &str) -> String {
    format!("{variable}#{HISTORICAL_CONFIGURATION}")
}

/// Returns the Object of a Variable. Its type requires the nodes with the values.
pub(super) fn object(variable: ExpandedNodeId, node: ExpandedNodeId) -> AddNodesItem {
    AddNodesItem {
        parent_node_id: variable,
        reference_type_id: NodeId::numeric(0, ids::HAS_HISTORICAL_CONFIGURATION),
        requested_new_node_id: node,
        browse_name: QualifiedName::new(0, HISTORICAL_CONFIGURATION),
        node_class: NodeClass::Object,
        node_attributes: ExtensionObject::from_structure(&ObjectAttributes::default()),
        type_definition: NodeId::numeric(0, ids::HISTORICAL_DATA_CONFIGURATION_TYPE).into(),
    }
}

/// Returns the values that the type requires, with the identifiers of their Variables.
pub(super) fn values(variable: &Variable) -> Vec<(String, Variant)> {
    let Some(recording) = variable.recording else {
        return Vec::new();
    };
    let settings = takt_history::AggregateSettings::new(recording.is_stepped());
    let values = [
        ("Stepped", Variant::from(settings.stepped)),
        (
            "AggregateConfiguration.TreatUncertainAsBad",
            Variant::from(settings.treat_uncertain_as_bad),
        ),
        (
            "AggregateConfiguration.PercentDataBad",
            Variant::from(settings.percent_data_bad),
        ),
        (
            "AggregateConfiguration.PercentDataGood",
            Variant::from(settings.percent_data_good),
        ),
        (
            "AggregateConfiguration.UseSlopedExtrapolation",
            Variant::from(settings.use_sloped_extrapolation),
        ),
    ];
    let object = path(&variable.path);
    let values = values.into_iter();
    values
        .map(|(name, value)| (format!("{object}.{name}"), value))
        .collect()
}
