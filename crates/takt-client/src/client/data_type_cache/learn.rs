//! Requests for DataTypes.

use std::collections::HashSet;

use takt_ua::enumerations::BrowseDirection;
use takt_ua::structures::{
    EnumDefinition, EnumDescription, ReferenceDescription, StructureDefinition,
    StructureDescription,
};
use takt_ua::{
    BuiltInType, DataValue, DescribedTypes, ExtensionObject, NodeId, QualifiedName, StatusCode,
    Variant, ids,
};

use super::cache::{DataTypeCache, MOST_TYPES};
use super::older::{OlderDefinitions, option_set_structure};
use crate::client::answer_budget::AnswerBudget;
use crate::client::attribute::Attribute;
use crate::client::attributes::AttributeServices;
use crate::client::requests::Requests;
use crate::client::views::{Follow, ViewServices};
use crate::error::ClientError;

/// Number of DataTypes that are asked for at once.
const BATCH: usize = 100;

/// Largest depth of a DataType tree. Real trees are shallow; a deeper one contains a loop.
const DEEPEST: usize = 50;

/// Largest number of subtypes among which a structure is searched.
const MOST_SUBTYPES: usize = 5_000;

/// BrowseName of the binary encoding of a DataType.
const DEFAULT_BINARY: &str = "Default Binary";

/// DataTypeDefinition of a DataType.
pub(super) enum Definition {
    Structure(StructureDefinition),
    Enumeration(EnumDefinition),
    /// None, with the reason.
    None(String),
}

/// A DataType whose supertypes have to be known.
pub(super) struct Undetermined {
    data_type: NodeId,
    name: QualifiedName,
    is_abstract: bool,
    definition: Definition,
}

/// Root of a tree of DataTypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    Structure,
    OptionSet,
    Enumeration,
    BuiltIn(BuiltInType),
}

/// Learns DataTypes from a server.
pub(super) trait DataTypeServices: Requests + Sized {
    /// Learns these DataTypes and those of their fields.
    async fn learn_data_types(
        &mut self,
        cache: &mut DataTypeCache,
        data_types: &[NodeId],
    ) -> Result<(), ClientError> {
        let mut budget = self.answer_budget();
        let mut queue = data_types.to_vec();
        loop {
            let mut seen = HashSet::new();
            // Fields may lead to further DataTypes without end, and no more of them are kept anyway.
            queue.truncate(MOST_TYPES);
            queue.retain(|id| !id.is_null() && !cache.is_asked(id) && seen.insert(id.clone()));
            let batch: Vec<NodeId> = queue.drain(..queue.len().min(BATCH)).collect();
            if batch.is_empty() || cache.count >= MOST_TYPES {
                return Ok(());
            }
            let (structures, others) = self.read_definitions(&batch).await?;
            let ids: Vec<NodeId> = structures
                .iter()
                .map(|it| it.data_type_id.clone())
                .collect();
            let forward = Follow::forward(ids::HAS_ENCODING);
            let encodings = self.browse_many_within(&ids, &forward, &mut budget).await?;
            for (structure, encodings) in structures.iter().zip(encodings) {
                let encodings = binary(encodings.unwrap_or_default());
                cache.insert_structure(self.endpoint(), structure, &encodings);
                queue.extend(cache.types.undescribed_fields(&structure.data_type_id));
            }
            self.learn_others(cache, others, &mut budget).await?;
        }
    }

    /// Reads DataTypeDefinitions: those of concrete structures, and all other DataTypes.
    async fn read_definitions(
        &mut self,
        data_types: &[NodeId],
    ) -> Result<(Vec<StructureDescription>, Vec<Undetermined>), ClientError> {
        const ATTRIBUTES: [Attribute; 3] = [
            Attribute::DataTypeDefinition,
            Attribute::BrowseName,
            Attribute::IsAbstract,
        ];
        let wanted = data_types
            .iter()
            .flat_map(|id| ATTRIBUTES.map(|attribute| (id.clone(), attribute)));
        let wanted: Vec<_> = wanted.collect();
        let values = self.read_attributes(&wanted).await?;
        let (mut structures, mut others) = (Vec::new(), Vec::new());
        for (data_type, values) in data_types.iter().zip(values.chunks(ATTRIBUTES.len())) {
            let [definition, name, is_abstract] = values else {
                continue;
            };
            let name = match &name.value {
                Some(Variant::QualifiedName(name)) => QualifiedName::clone(name),
                _ => QualifiedName::NULL,
            };
            let is_abstract = is_abstract.value == Some(Variant::Boolean(true));
            match decoded(definition) {
                Definition::Structure(definition) if !is_abstract => {
                    structures.push(StructureDescription {
                        data_type_id: data_type.clone(),
                        name,
                        structure_definition: definition,
                    });
                }
                definition => others.push(Undetermined {
                    data_type: data_type.clone(),
                    name,
                    is_abstract,
                    definition,
                }),
            }
        }
        Ok((structures, others))
    }

    /// Learns DataTypes that are no concrete structures with a definition, by their supertypes.
    async fn learn_others(
        &mut self,
        cache: &mut DataTypeCache,
        others: Vec<Undetermined>,
        budget: &mut AnswerBudget,
    ) -> Result<(), ClientError> {
        let ids: Vec<NodeId> = others.iter().map(|it| it.data_type.clone()).collect();
        let roots = self.roots(&cache.types, &ids, budget).await?;
        for (other, root) in others.into_iter().zip(roots) {
            let id = &other.data_type;
            match (root, other.definition) {
                (None, Definition::None(reason)) => cache.refuse(id, reason),
                (None, _) => cache.refuse(id, "its supertypes do not lead to a built-in type"),
                (Some(Root::Structure | Root::OptionSet), _) if other.is_abstract => {
                    // A value of an abstract type is one of a subtype, within an ExtensionObject.
                    cache.insert_simple(id, BuiltInType::ExtensionObject);
                }
                (Some(Root::OptionSet), _) => {
                    let structure = option_set_structure(id, &other.name);
                    let forward = Follow::forward(ids::HAS_ENCODING);
                    let node = std::slice::from_ref(id);
                    let mut found = self.browse_many_within(node, &forward, budget).await?;
                    let encodings = found.pop().and_then(Result::ok).unwrap_or_default();
                    cache.insert_structure(self.endpoint(), &structure, &binary(encodings));
                }
                (Some(Root::Structure), Definition::None(reason)) => {
                    self.learn_older_structure(cache, id, reason).await?;
                }
                (Some(Root::Structure), _) => {
                    cache.refuse(
                        id,
                        "it is a structure, its DataTypeDefinition is another one",
                    );
                }
                (Some(root), Definition::Enumeration(definition)) => {
                    let built_in_type = match root {
                        Root::BuiltIn(built_in_type) => built_in_type,
                        _ => BuiltInType::Int32,
                    };
                    let description = EnumDescription {
                        data_type_id: id.clone(),
                        name: other.name,
                        enum_definition: definition,
                        built_in_type: built_in_type as u8,
                    };
                    cache.insert_enumeration(self.endpoint(), &description);
                }
                (Some(Root::Enumeration), _) => {
                    self.learn_older_enumeration(cache, id, other.name, budget)
                        .await?;
                }
                (Some(Root::BuiltIn(built_in_type)), _) => cache.insert_simple(id, built_in_type),
            }
        }
        Ok(())
    }

    /// Returns the roots of DataTypes, along the inverse of HasSubtype.
    async fn roots(
        &mut self,
        known: &DescribedTypes,
        data_types: &[NodeId],
        budget: &mut AnswerBudget,
    ) -> Result<Vec<Option<Root>>, ClientError> {
        let mut roots = vec![None; data_types.len()];
        let mut left: Vec<(usize, NodeId)> = data_types.iter().cloned().enumerate().collect();
        let supertype = Follow {
            reference_type: NodeId::numeric(0, ids::HAS_SUBTYPE),
            direction: BrowseDirection::Inverse,
        };
        for _ in 0..DEEPEST {
            left.retain(|(at, current)| {
                let root = root_of(known, current);
                if let (Some(root), Some(place)) = (root, roots.get_mut(*at)) {
                    *place = Some(root);
                }
                root.is_none()
            });
            if left.is_empty() {
                break;
            }
            let nodes: Vec<NodeId> = left.iter().map(|(_, current)| current.clone()).collect();
            let above = self.browse_many_within(&nodes, &supertype, budget).await?;
            let next = left.iter().zip(above).filter_map(|((at, _), above)| {
                let above = above.ok()?.into_iter().next()?;
                Some((*at, above.node_id.node_id))
            });
            left = next.collect();
        }
        Ok(roots)
    }

    /// Learns the DataTypes of encodings. `declared` are the DataTypes of the Variables.
    async fn learn_encodings(
        &mut self,
        cache: &mut DataTypeCache,
        encodings: &[NodeId],
        declared: &[NodeId],
    ) -> Result<(), ClientError> {
        let mut budget = self.answer_budget();
        let inverse = Follow {
            reference_type: NodeId::numeric(0, ids::HAS_ENCODING),
            direction: BrowseDirection::Inverse,
        };
        let found = self
            .browse_many_within(encodings, &inverse, &mut budget)
            .await?;
        let (mut of_encoding, mut lost) = (Vec::new(), Vec::new());
        for (encoding, references) in encodings.iter().zip(found) {
            let references = references.unwrap_or_default();
            match references.into_iter().next() {
                Some(found) => of_encoding.push((encoding, found.node_id.node_id)),
                None => lost.push(encoding),
            }
        }
        let data_types: Vec<NodeId> = of_encoding.iter().map(|(_, id)| id.clone()).collect();
        self.learn_data_types(cache, &data_types).await?;
        for (encoding, data_type) in of_encoding {
            if cache.types.is_structure(&data_type) {
                cache.insert_encoding(encoding, &data_type);
            } else {
                let reason = cache.refusal(&data_type).unwrap_or("it is no structure");
                let reason = format!("DataType {data_type}: {reason}");
                cache.refuse(encoding, reason);
            }
        }
        for encoding in lost {
            self.learn_lost_encoding(cache, encoding, declared, &mut budget)
                .await?;
        }
        Ok(())
    }

    /// Learns the DataType of an encoding that is no node, or has no DataType.
    async fn learn_lost_encoding(
        &mut self,
        cache: &mut DataTypeCache,
        encoding: &NodeId,
        declared: &[NodeId],
        budget: &mut AnswerBudget,
    ) -> Result<(), ClientError> {
        let mut candidates = declared.to_vec();
        // Some servers send the DataType instead.
        candidates.push(encoding.clone());
        let is_known = |cache: &DataTypeCache| {
            cache.types.is_structure(encoding) || cache.types.of_encoding(encoding).is_some()
        };
        self.learn_data_types(cache, &candidates).await?;
        if is_known(cache) {
            // It was asked for as a DataType above, and may have been refused as one.
            cache.refused.remove(encoding);
            return Ok(());
        }
        // A value may be of a subtype of the declared DataType.
        let subtypes = self.subtypes(declared, budget).await?;
        let ids: Vec<NodeId> = subtypes.into_iter().map(|(id, _)| id).collect();
        self.learn_data_types(cache, &ids).await?;
        if is_known(cache) {
            cache.refused.remove(encoding);
            return Ok(());
        }
        match declared {
            // No other type is possible.
            [only] if ids.is_empty() && cache.types.is_structure(only) => {
                cache.refused.remove(encoding);
                cache.insert_encoding(encoding, only);
            }
            _ => cache.refuse(encoding, "the server has no DataType with this encoding"),
        }
        Ok(())
    }

    /// Returns the subtypes of DataTypes, the first 5000.
    async fn subtypes(
        &mut self,
        data_types: &[NodeId],
        budget: &mut AnswerBudget,
    ) -> Result<Vec<(NodeId, QualifiedName)>, ClientError> {
        let follow = Follow::forward(ids::HAS_SUBTYPE);
        let mut seen: HashSet<NodeId> = data_types.iter().cloned().collect();
        let mut found = Vec::new();
        let mut level = data_types.to_vec();
        while !level.is_empty() && found.len() < MOST_SUBTYPES {
            let mut next = Vec::new();
            for below in self.browse_many_within(&level, &follow, budget).await? {
                for reference in below.unwrap_or_default() {
                    let id = reference.node_id.node_id;
                    if seen.insert(id.clone()) {
                        next.push(id.clone());
                        found.push((id, reference.browse_name));
                    }
                }
            }
            level = next;
        }
        Ok(found)
    }

    /// Learns a DataType and, if it is a structure, its subtypes.
    async fn learn_subtypes(
        &mut self,
        cache: &mut DataTypeCache,
        data_type: &NodeId,
    ) -> Result<(), ClientError> {
        let wanted = std::slice::from_ref(data_type);
        self.learn_data_types(cache, wanted).await?;
        let is_structure =
            cache.types.built_in_type(data_type) == Some(BuiltInType::ExtensionObject);
        // Any structure of the server is too many.
        if !is_structure || data_type.standard_id() == Some(ids::STRUCTURE) {
            return Ok(());
        }
        let mut budget = self.answer_budget();
        let subtypes = self.subtypes(wanted, &mut budget).await?;
        let subtypes: Vec<NodeId> = subtypes.into_iter().map(|(id, _)| id).collect();
        self.learn_data_types(cache, &subtypes).await
    }

    /// Learns the structures with these names.
    async fn learn_named(
        &mut self,
        cache: &mut DataTypeCache,
        names: &[String],
    ) -> Result<(), ClientError> {
        let unknown = |cache: &DataTypeCache| {
            let unknown = names.iter().filter(|name| !cache.types.contains_name(name));
            unknown.cloned().collect::<Vec<String>>()
        };
        let ids = unknown(cache)
            .into_iter()
            .filter_map(|name| name.parse().ok());
        let ids: Vec<NodeId> = ids.collect();
        for id in &ids {
            if cache.is_asked_encoding(id) {
                continue;
            }
            self.learn_encodings(cache, std::slice::from_ref(id), &[])
                .await?;
        }
        let names = unknown(cache);
        if names.is_empty() {
            return Ok(());
        }
        let mut budget = self.answer_budget();
        let all = [NodeId::numeric(0, ids::STRUCTURE)];
        let found = self.subtypes(&all, &mut budget).await?;
        let is_named = |known: &QualifiedName| {
            let full = known.to_string();
            names
                .iter()
                .any(|name| *name == full || known.name == **name)
        };
        let found = found.into_iter().filter(|(_, known)| is_named(known));
        let found: Vec<NodeId> = found.map(|(id, _)| id).collect();
        self.learn_data_types(cache, &found).await
    }
}

impl<C: Requests> DataTypeServices for C {}

/// Decodes a DataTypeDefinition.
fn decoded(value: &DataValue) -> Definition {
    let status = value.status_code();
    match &value.value {
        _ if status.is_bad() => {
            let reason = match status {
                StatusCode::BadAttributeIdInvalid => "it has no DataTypeDefinition".to_owned(),
                status => format!("its DataTypeDefinition cannot be read: {status}"),
            };
            Definition::None(reason)
        }
        Some(Variant::ExtensionObject(object)) => of_object(object),
        _ => Definition::None("it has no DataTypeDefinition".to_owned()),
    }
}

fn of_object(object: &ExtensionObject) -> Definition {
    if object.is_null() {
        return Definition::None("its DataTypeDefinition is null".to_owned());
    }
    if let Ok(definition) = object.decode_as::<StructureDefinition>() {
        return Definition::Structure(definition);
    }
    match object.decode_as::<EnumDefinition>() {
        Ok(definition) => Definition::Enumeration(definition),
        Err(error) => Definition::None(format!("its DataTypeDefinition is damaged: {error}")),
    }
}

/// Returns the NodeIds of binary encodings. A server may name none of them as the standard does.
fn binary(references: Vec<ReferenceDescription>) -> Vec<NodeId> {
    let is_default = |it: &&ReferenceDescription| it.browse_name.name == *DEFAULT_BINARY;
    let found = references.iter().filter(is_default);
    found.map(|it| it.node_id.node_id.clone()).collect()
}

fn root_of(known: &DescribedTypes, data_type: &NodeId) -> Option<Root> {
    match data_type.standard_id() {
        Some(ids::STRUCTURE | ids::UNION) => return Some(Root::Structure),
        Some(ids::OPTION_SET) => return Some(Root::OptionSet),
        Some(ids::ENUMERATION) => return Some(Root::Enumeration),
        _ => {}
    }
    if known.is_structure(data_type) {
        return Some(Root::Structure);
    }
    known.built_in_type(data_type).map(Root::BuiltIn)
}
