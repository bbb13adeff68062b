//! DataTypes that a Provider defines: their nodes, and the checks of their declarations.

use std::collections::BTreeSet;

use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{
    AddNodesItem, GenericAttributeValue, GenericAttributes, ObjectAttributes,
};
use takt_ua::{ExpandedNodeId, ExtensionObject, LocalizedText, NodeId, QualifiedName, ids};

use super::enumeration::Enumeration;
use super::error::{DeclarationMistake, ProviderError};
use super::field::DataType;
use super::property::Property;
use super::structure::StructureDataType;
use super::texts::{Names, Texts};

/// AttributeId of DataTypeDefinition (OPC 10000-6, A.1).
const DATA_TYPE_DEFINITION: u32 = 23;

/// DataType that a Provider defines.
#[derive(Debug, Clone)]
pub enum OwnType {
    /// An enumeration.
    Enumeration(Enumeration),
    /// A structure.
    Structure(StructureDataType),
}

impl From<Enumeration> for OwnType {
    fn from(enumeration: Enumeration) -> Self {
        Self::Enumeration(enumeration)
    }
}

impl From<StructureDataType> for OwnType {
    fn from(structure: StructureDataType) -> Self {
        Self::Structure(structure)
    }
}

impl OwnType {
    fn name(&self) -> &str {
        match self {
            Self::Enumeration(enumeration) => &enumeration.name,
            Self::Structure(structure) => &structure.name,
        }
    }

    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Enumeration(enumeration) => enumeration.into(),
            Self::Structure(structure) => structure.into(),
        }
    }

    /// Returns the nodes at a server where the Provider's namespace has the index `own`: the DataType, and its Default Binary
    /// encoding if it is a structure.
    pub(super) fn nodes(&self, own: u16) -> Vec<AddNodesItem> {
        let data_type = self.data_type();
        let (supertype, description, definition) = match self {
            Self::Enumeration(enumeration) => (
                ids::ENUMERATION,
                &enumeration.description,
                enumeration.definition(),
            ),
            Self::Structure(structure) => (
                ids::STRUCTURE,
                &structure.description,
                structure.definition(own),
            ),
        };
        let texts = Texts {
            description: (*description != LocalizedText::NULL).then(|| description.clone()),
            ..Texts::default()
        };
        let names = Names::new(self.name(), &texts);
        let node = AddNodesItem {
            parent_node_id: NodeId::numeric(0, supertype).into(),
            reference_type_id: NodeId::numeric(0, ids::HAS_SUBTYPE),
            requested_new_node_id: data_type.node_id(own).into(),
            browse_name: QualifiedName::new(own, self.name()),
            node_class: NodeClass::DataType,
            // DataTypeAttributes have no DataTypeDefinition.
            node_attributes: ExtensionObject::from_structure(&GenericAttributes {
                specified_attributes: names.mask,
                display_name: names.display_name,
                description: names.description,
                attribute_values: vec![GenericAttributeValue {
                    attribute_id: DATA_TYPE_DEFINITION,
                    value: definition.into(),
                }],
                ..GenericAttributes::default()
            }),
            type_definition: ExpandedNodeId::default(),
        };
        match self {
            Self::Enumeration(_) => vec![node],
            Self::Structure(_) => vec![node, encoding(&data_type, own)],
        }
    }

    /// Returns the Properties of the DataType.
    pub(super) fn properties(&self) -> Vec<Property> {
        match self {
            Self::Enumeration(enumeration) => vec![enumeration.names()],
            Self::Structure(_) => Vec::new(),
        }
    }

    fn check(&self) -> Result<(), DeclarationMistake> {
        let (values, names): (Vec<i32>, Vec<&str>) = match self {
            Self::Enumeration(enumeration) => enumeration.values().unzip(),
            Self::Structure(structure) => {
                let names = structure.fields.iter().map(|field| field.name.as_str());
                (Vec::new(), names.collect())
            }
        };
        if names.is_empty() {
            return Err(DeclarationMistake::NoFields);
        }
        let mut seen = BTreeSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(**name)) {
            return Err(DeclarationMistake::DuplicateField((*name).to_owned()));
        }
        let mut seen = BTreeSet::new();
        match values.iter().find(|value| !seen.insert(**value)) {
            Some(value) => Err(DeclarationMistake::DuplicateField(value.to_string())),
            None => Ok(()),
        }
    }
}

/// Returns the encoding of a structure. It is the target of HasEncoding only (OPC 10000-3, 5.8.3).
fn encoding(data_type: &DataType, own: u16) -> AddNodesItem {
    let name = "Default Binary";
    let names = Names::new(name, &Texts::default());
    AddNodesItem {
        parent_node_id: data_type.node_id(own).into(),
        reference_type_id: NodeId::numeric(0, ids::HAS_ENCODING),
        requested_new_node_id: data_type.encoding_id(own).into(),
        browse_name: QualifiedName::new(0, name),
        node_class: NodeClass::Object,
        node_attributes: ExtensionObject::from_structure(&ObjectAttributes {
            specified_attributes: names.mask,
            display_name: names.display_name,
            ..ObjectAttributes::default()
        }),
        type_definition: NodeId::numeric(0, ids::DATA_TYPE_ENCODING_TYPE).into(),
    }
}

/// Checks that each DataType has a name of its own, and fields. A structure comes after the DataTypes of its fields.
pub(super) fn check(types: &[OwnType]) -> Result<(), ProviderError> {
    let mut known = BTreeSet::new();
    for own in types {
        let name = own.name();
        if name.is_empty() || name.contains(['/', '#', ':']) {
            return Err(ProviderError::Path(name.to_owned()));
        }
        let failed = |mistake| ProviderError::Declaration {
            path: name.to_owned(),
            mistake,
        };
        own.check().map_err(failed)?;
        // Fields have only types that come before, so that no structure can contain itself.
        if let OwnType::Structure(structure) = own {
            for field in &*structure.fields {
                check_known(&known, &field.data_type).map_err(failed)?;
            }
        }
        if !known.insert(own.data_type().path().to_owned()) {
            return Err(ProviderError::Duplicate(name.to_owned()));
        }
    }
    Ok(())
}

/// Checks that a DataType of the Provider is in a list of their [paths](DataType::path).
pub(super) fn check_known(
    known: &BTreeSet<String>,
    data_type: &DataType,
) -> Result<(), DeclarationMistake> {
    let path = data_type.path();
    match path.is_empty() || known.contains(path) {
        true => Ok(()),
        false => Err(DeclarationMistake::UnknownDataType(
            path.trim_start_matches('#').to_owned(),
        )),
    }
}
