//! DataTypes and attributes by name.

use takt_ua::{BuiltInType, NodeId};
use toml::Value;

use super::value::{TomlValue, toml_value};

/// DataType: `"Double"`, `"UInt32[100]"`, `"Byte[3][4]"`, `"String[]"`; or its NodeId, in which case the BuiltInType is a
/// separate key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DataType {
    BuiltIn(BuiltInType, Vec<u32>),
    Node(NodeId),
}

impl TomlValue for DataType {
    fn read(value: &Value) -> Result<Self, String> {
        let text = value.as_str().ok_or("expected the name of a type")?;
        if text.contains('=') {
            return text
                .parse()
                .map(Self::Node)
                .map_err(|error: takt_ua::ParseNodeIdError| error.to_string());
        }
        let (name, mut rest) = text.split_at(text.find('[').unwrap_or(text.len()));
        let built_in = BuiltInType::from_name(name).ok_or_else(|| {
            format!("'{name}' is not a built-in type, such as Double, UInt32 or String; others are NodeIds, such as \"i=3003\"")
        })?;
        let mut dimensions = Vec::new();
        while !rest.is_empty() {
            let length = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let (length, after) = length.ok_or("expected dimensions such as [100] or [3][4]")?;
            let length = if length.is_empty() {
                Ok(0)
            } else {
                length.parse()
            };
            dimensions.push(
                length.map_err(|_| "expected dimensions such as [100] or [3][4]".to_owned())?,
            );
            rest = after;
        }
        Ok(Self::BuiltIn(built_in, dimensions))
    }

    fn write(&self) -> Value {
        match self {
            Self::Node(id) => id.to_string().into(),
            Self::BuiltIn(built_in, dimensions) => {
                let length = |length: &u32| match length {
                    0 => "[]".to_owned(),
                    length => format!("[{length}]"),
                };
                let dimensions: String = dimensions.iter().map(length).collect();
                format!("{}{dimensions}", built_in.name()).into()
            }
        }
    }
}

toml_value!(DataType);

/// Built-in type: its name, or any number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BuiltIn(pub(super) u8);

impl TomlValue for BuiltIn {
    fn read(value: &Value) -> Result<Self, String> {
        let found = match value {
            Value::String(name) => BuiltInType::from_name(name).map(|found| found as u8),
            value => value
                .as_integer()
                .and_then(|number| u8::try_from(number).ok()),
        };
        found
            .map(Self)
            .ok_or_else(|| "expected a built-in type, such as Double".to_owned())
    }

    fn write(&self) -> Value {
        match BuiltInType::from_u8(self.0) {
            Some(known) => known.name().into(),
            None => i64::from(self.0).into(),
        }
    }
}

toml_value!(BuiltIn);

/// Attribute: its name or number; Value by default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Attribute(pub(super) u32);

/// Names of the attributes from 1 on (OPC 10000-6, A.1).
const ATTRIBUTES: [&str; 27] = [
    "NodeId",
    "NodeClass",
    "BrowseName",
    "DisplayName",
    "Description",
    "WriteMask",
    "UserWriteMask",
    "IsAbstract",
    "Symmetric",
    "InverseName",
    "ContainsNoLoops",
    "EventNotifier",
    "Value",
    "DataType",
    "ValueRank",
    "ArrayDimensions",
    "AccessLevel",
    "UserAccessLevel",
    "MinimumSamplingInterval",
    "Historizing",
    "Executable",
    "UserExecutable",
    "DataTypeDefinition",
    "RolePermissions",
    "UserRolePermissions",
    "AccessRestrictions",
    "AccessLevelEx",
];

pub(super) const VALUE: Attribute = Attribute(13);

impl Attribute {
    pub(super) fn unless_value(id: u32) -> Option<Self> {
        (id != VALUE.0).then_some(Self(id))
    }
}

impl TomlValue for Attribute {
    fn read(value: &Value) -> Result<Self, String> {
        let found = match value {
            Value::String(name) => {
                let index = ATTRIBUTES.iter().position(|known| known == name);
                index.map(|index| index as u32 + 1)
            }
            value => value
                .as_integer()
                .and_then(|number| u32::try_from(number).ok()),
        };
        found
            .map(Self)
            .ok_or_else(|| "expected the name of an attribute, such as Value".to_owned())
    }

    fn write(&self) -> Value {
        let index = self
            .0
            .checked_sub(1)
            .and_then(|index| ATTRIBUTES.get(index as usize));
        index.map_or_else(|| i64::from(self.0).into(), |name| Value::from(*name))
    }
}

toml_value!(Attribute);
