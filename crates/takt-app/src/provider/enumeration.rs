//! Enumerations of a Provider.

use takt_ua::structures::{EnumDefinition, EnumField, EnumValueType};
use takt_ua::{ExtensionObject, LocalizedText, ids};

use super::field::{DataType, Kind};
use super::property::Property;

/// An enumeration: a DataType whose values are Int32 (OPC 10000-3, 5.8.3).
///
/// ```
/// use takt_app::{Enumeration, Provider, Variable};
///
/// let state = Enumeration::new("State").field(0, "Off").field(1, "Running");
/// let builder = Provider::builder("Mixer")
///     .variable(Variable::stored("State", 0_i32).data_type(&state))
///     .data_type(state);
/// ```
#[derive(Debug, Clone)]
pub struct Enumeration {
    pub(super) name: String,
    pub(super) description: LocalizedText,
    fields: Vec<(i32, String, LocalizedText)>,
}

impl Enumeration {
    /// Creates an enumeration without values.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: LocalizedText::NULL,
            fields: Vec::new(),
        }
    }

    /// Sets the Description of the DataType.
    #[must_use]
    pub fn description(mut self, text: impl Into<LocalizedText>) -> Self {
        self.description = text.into();
        self
    }

    /// Adds a value and its name.
    #[must_use]
    pub fn field(self, value: i32, name: impl Into<String>) -> Self {
        self.described_field(value, name, LocalizedText::NULL)
    }

    /// Adds a value, its name and its description.
    #[must_use]
    pub fn described_field(
        mut self,
        value: i32,
        name: impl Into<String>,
        description: impl Into<LocalizedText>,
    ) -> Self {
        self.fields.push((value, name.into(), description.into()));
        self
    }

    /// Returns the values and their names.
    pub(super) fn values(&self) -> impl Iterator<Item = (i32, &str)> {
        let fields = self.fields.iter();
        fields.map(|(value, name, _)| (*value, name.as_str()))
    }

    /// Returns the DataTypeDefinition.
    pub(super) fn definition(&self) -> ExtensionObject {
        let fields = self
            .fields
            .iter()
            .map(|(value, name, description)| EnumField {
                value: i64::from(*value),
                display_name: name.as_str().into(),
                description: description.clone(),
                name: name.as_str().into(),
            });
        ExtensionObject::from_structure(&EnumDefinition {
            fields: fields.collect(),
        })
    }

    /// Returns the Property with the names: `EnumStrings` if the values are 0, 1, 2 and so on without descriptions,
    /// otherwise `EnumValues`.
    pub(super) fn names(&self) -> Property {
        let mut fields = (0..).zip(&self.fields);
        if fields.all(|(index, field)| field.0 == index && field.2 == LocalizedText::NULL) {
            let names: Vec<LocalizedText> = self
                .fields
                .iter()
                .map(|field| field.1.as_str().into())
                .collect();
            return Property {
                name: "EnumStrings",
                data_type: ids::LOCALIZED_TEXT,
                value_rank: 1,
                value: names.into(),
            };
        }
        let values = self.fields.iter().map(|(value, name, description)| {
            ExtensionObject::from_structure(&EnumValueType {
                value: i64::from(*value),
                display_name: name.as_str().into(),
                description: description.clone(),
            })
        });
        Property {
            name: "EnumValues",
            data_type: ids::ENUM_VALUE_TYPE,
            value_rank: 1,
            value: values.collect::<Vec<_>>().into(),
        }
    }
}

impl From<&Enumeration> for DataType {
    fn from(enumeration: &Enumeration) -> Self {
        Self::own(&enumeration.name, Kind::Enumeration)
    }
}
