//! Properties of Variables and Methods. The registry and the Provider itself show the same ones.

use takt_ua::binary::Encode;
use takt_ua::{ExtensionObject, LocalizedText, Structure, Variant, ids};

use super::field::Field;
use super::method::Method;
use super::variable::Variable;

/// A Property with a BrowseName of namespace 0.
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) data_type: u32,
    /// ValueRank (OPC 10000-3, 5.6.2): -1 scalar, 1 one dimension.
    pub(super) value_rank: i32,
    pub(super) value: Variant,
}

impl Property {
    fn scalar<S: Structure + Encode>(name: &'static str, data_type: u32, value: &S) -> Self {
        Self {
            name,
            data_type,
            value_rank: -1,
            value: ExtensionObject::from_structure(value).into(),
        }
    }

    fn arguments(name: &'static str, arguments: &[Field], own: u16) -> Option<Self> {
        let value: Vec<ExtensionObject> = arguments
            .iter()
            .map(|argument| ExtensionObject::from_structure(&argument.argument(own)))
            .collect();
        (!value.is_empty()).then(|| Self {
            name,
            data_type: ids::ARGUMENT,
            value_rank: 1,
            value: value.into(),
        })
    }

    /// Returns the identifier of the NodeId of the Property. No path contains `#`, so it is not that of a Variable.
    pub(super) fn identifier(&self, path: &str) -> String {
        format!("{path}#{}", self.name)
    }
}

/// Returns the Properties of a Variable: its unit, its range, and the names of its states.
pub(super) fn of_variable(variable: &Variable) -> Vec<Property> {
    let unit = variable.unit.as_ref();
    let unit = unit.map(|unit| Property::scalar("EngineeringUnits", ids::EU_INFORMATION, unit));
    let range = variable.range.as_ref();
    let range = range.map(|range| Property::scalar("EURange", ids::RANGE, range));
    let names: Vec<LocalizedText> = variable
        .states
        .iter()
        .map(|name| LocalizedText::from(name.as_str()))
        .collect();
    let states = (!names.is_empty()).then(|| Property {
        name: "EnumStrings",
        data_type: ids::LOCALIZED_TEXT,
        value_rank: 1,
        value: names.into(),
    });
    [unit, range, states].into_iter().flatten().collect()
}

/// Returns the Properties of a Method, its arguments, at a server where the Provider's namespace has the index `own`.
pub(super) fn of_method(method: &Method, own: u16) -> Vec<Property> {
    let inputs = Property::arguments("InputArguments", &method.inputs, own);
    let outputs = Property::arguments("OutputArguments", &method.outputs, own);
    inputs.into_iter().chain(outputs).collect()
}
