//! One node: a `UAObject`, `UAVariable`, ... element (OPC 10000-6, Annex F.6 to F.13).

use roxmltree::Node as Element;
use takt_ua::{LocalizedText, NodeId};

use crate::error::{NodeSetError, Reason};
use crate::model::{
    Attributes, DataTypeDefinition, DataTypeField, Reference, RolePermission, UaNode, UaVariable,
    ValueAttributes,
};
use crate::reader::Reader;
use crate::value;

/// BaseDataType, the default of the attribute DataType of a Variable (OPC 10000-6, F.8).
const BASE_DATA_TYPE: u32 = 24;

/// Reads a node; `None` if the element is not a node.
pub(crate) fn read(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
) -> Result<Option<UaNode>, NodeSetError> {
    let Some(attributes) = attributes(reader, element)? else {
        return Ok(None);
    };
    let node_id = reader.plain_node_id(element, "NodeId", reader.required(element, "NodeId")?)?;
    if node_id.is_null() {
        return Err(reader.invalid(
            element,
            "NodeId",
            &node_id.to_string(),
            "the NodeId of a node",
        ));
    }
    let browse_name = reader.qualified_name(element, reader.required(element, "BrowseName")?)?;
    let mut display_name = reader.localized(element, "DisplayName");
    if display_name.is_empty() {
        display_name.push(LocalizedText::from(browse_name.name.as_str()));
    }
    Ok(Some(UaNode {
        node_id,
        display_name,
        browse_name,
        description: reader.localized(element, "Description"),
        parent: reader.node_id_attribute(element, "ParentNodeId")?,
        references: references(reader, element)?,
        attributes,
        role_permissions: role_permissions(reader, element)?,
        access_restrictions: access_restrictions(reader, element)?,
        line: reader.line(element),
    }))
}

fn attributes(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
) -> Result<Option<Attributes>, NodeSetError> {
    let is_abstract = || reader.flag(element, "IsAbstract", false);
    let event_notifier = || reader.parsed(element, "EventNotifier", 0u8, "a number from 0 to 255");
    Ok(Some(match element.tag_name().name() {
        "UAObject" => Attributes::Object {
            event_notifier: event_notifier()?,
        },
        "UAVariable" => Attributes::Variable(Box::new(variable(reader, element)?)),
        "UAMethod" => Attributes::Method {
            executable: reader.flag(element, "Executable", true)?,
            declaration: reader.node_id_attribute(element, "MethodDeclarationId")?,
        },
        "UAObjectType" => Attributes::ObjectType {
            is_abstract: is_abstract()?,
        },
        "UAVariableType" => Attributes::VariableType {
            is_abstract: is_abstract()?,
            value: Box::new(value_attributes(reader, element)?),
        },
        "UAReferenceType" => Attributes::ReferenceType {
            is_abstract: is_abstract()?,
            symmetric: reader.flag(element, "Symmetric", false)?,
            inverse_name: reader.localized(element, "InverseName"),
        },
        "UADataType" => Attributes::DataType {
            is_abstract: is_abstract()?,
            definition: definition(reader, element)?.map(Box::new),
        },
        "UAView" => Attributes::View {
            contains_no_loops: reader.flag(element, "ContainsNoLoops", false)?,
            event_notifier: event_notifier()?,
        },
        _ => return Ok(None),
    }))
}

fn variable(reader: &Reader<'_>, element: Element<'_, '_>) -> Result<UaVariable, NodeSetError> {
    const BITS: &str = "a number of AccessLevel bits";
    let interval = reader.parsed(
        element,
        "MinimumSamplingInterval",
        0.0f64,
        "a number of milliseconds",
    )?;
    Ok(UaVariable {
        value: value_attributes(reader, element)?,
        // OPC 10000-6, F.8: CurrentRead is the default.
        access_level: reader.parsed(element, "AccessLevel", 1, BITS)?,
        user_access_level: reader.parsed(element, "UserAccessLevel", 1, BITS)?,
        minimum_sampling_interval: interval,
        historizing: reader.flag(element, "Historizing", false)?,
    })
}

fn value_attributes(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
) -> Result<ValueAttributes, NodeSetError> {
    let value = reader
        .children(element)
        .find(|child| child.tag_name().name() == "Value");
    Ok(ValueAttributes {
        data_type: data_type(reader, element)?,
        value_rank: value_rank(reader, element)?,
        array_dimensions: reader.dimensions(element)?,
        value: match value {
            Some(value) => value::read(reader, value)?,
            None => None,
        },
    })
}

fn data_type(reader: &Reader<'_>, element: Element<'_, '_>) -> Result<NodeId, NodeSetError> {
    let data_type = reader.node_id_attribute(element, "DataType")?;
    Ok(data_type.unwrap_or_else(|| NodeId::numeric(0, BASE_DATA_TYPE)))
}

fn value_rank(reader: &Reader<'_>, element: Element<'_, '_>) -> Result<i32, NodeSetError> {
    const EXPECTED: &str = "a ValueRank: -3 or greater";
    let rank = reader.parsed(element, "ValueRank", -1i32, EXPECTED)?;
    if rank < -3 {
        return Err(reader.invalid(element, "ValueRank", &rank.to_string(), EXPECTED));
    }
    Ok(rank)
}

fn references(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
) -> Result<Vec<Reference>, NodeSetError> {
    let tables = reader
        .children(element)
        .filter(|child| child.tag_name().name() == "References");
    let mut references = Vec::new();
    for reference in tables.flat_map(|table| reader.children(table)) {
        if reference.tag_name().name() != "Reference" {
            let (element_name, parent) = (reference.tag_name().name().into(), "References".into());
            return Err(reader.error(
                reference,
                Reason::UnexpectedElement {
                    element: element_name,
                    parent,
                },
            ));
        }
        let reference_type = reader.required(reference, "ReferenceType")?;
        references.push(Reference {
            reference_type: reader.node_id(reference, "ReferenceType", reference_type)?,
            target: reader.node_id(reference, "Reference", &reader.text(reference))?,
            is_forward: reader.flag(reference, "IsForward", true)?,
            line: reader.line(reference),
        });
    }
    Ok(references)
}

fn role_permissions(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
) -> Result<Vec<RolePermission>, NodeSetError> {
    let tables = reader
        .children(element)
        .filter(|child| child.tag_name().name() == "RolePermissions");
    let entries = tables.flat_map(|table| reader.children(table));
    entries
        .map(|entry| {
            Ok(RolePermission {
                role: reader.node_id(entry, "RolePermission", &reader.text(entry))?,
                permissions: reader.parsed(
                    entry,
                    "Permissions",
                    0,
                    "a number of PermissionType bits",
                )?,
            })
        })
        .collect()
}

fn access_restrictions(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
) -> Result<Option<u16>, NodeSetError> {
    // No attribute is not the same as 0: 0 says that there are no restrictions.
    if element.attribute("AccessRestrictions").is_none() {
        return Ok(None);
    }
    reader
        .parsed(
            element,
            "AccessRestrictions",
            0,
            "a number of AccessRestrictionType bits",
        )
        .map(Some)
}

fn definition(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
) -> Result<Option<DataTypeDefinition>, NodeSetError> {
    let Some(definition) = reader
        .children(element)
        .find(|child| child.tag_name().name() == "Definition")
    else {
        return Ok(None);
    };
    let fields = reader
        .children(definition)
        .filter(|child| child.tag_name().name() == "Field");
    Ok(Some(DataTypeDefinition {
        name: definition.attribute("Name").unwrap_or("").to_owned(),
        is_union: reader.flag(definition, "IsUnion", false)?,
        is_option_set: reader.flag(definition, "IsOptionSet", false)?,
        fields: fields
            .map(|element| field(reader, element))
            .collect::<Result<_, _>>()?,
    }))
}

fn field(reader: &Reader<'_>, element: Element<'_, '_>) -> Result<DataTypeField, NodeSetError> {
    // OPC 10000-6, F.13 defines -1 as the default of Value, but documents do not use it: a field of a structure has
    // no Value.
    let value = match element.attribute("Value") {
        Some(_) => Some(reader.parsed(element, "Value", 0i64, "a whole number")?),
        None => None,
    };
    Ok(DataTypeField {
        name: reader.required(element, "Name")?.to_owned(),
        display_name: reader.localized(element, "DisplayName"),
        description: reader.localized(element, "Description"),
        data_type: data_type(reader, element)?,
        value_rank: value_rank(reader, element)?,
        array_dimensions: reader.dimensions(element)?,
        max_string_length: reader.parsed(element, "MaxStringLength", 0, "a number of bytes")?,
        value,
        is_optional: reader.flag(element, "IsOptional", false)?,
        allow_sub_types: reader.flag(element, "AllowSubTypes", false)?,
    })
}
