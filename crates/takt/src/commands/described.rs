//! Values of a server, with the names of the fields of structures, and of the values of enumerations.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use serde_json::Value;
use takt_app::client::{Client, DataTypeCache, DeclaredValue};
use takt_app::{Attribute, ClientError};
use takt_ua::json::{DescribedValues, EnumerationForm};
use takt_ua::{BuiltInType, DataValue, DescribedTypes, NamespaceMap, NodeId, Variant, ids};

use crate::output;

/// Largest number of notes about structures that are not shown as fields.
const MOST_NOTES: usize = 50;

/// DataTypes of a server, as far as its values needed them.
#[derive(Debug, Default)]
pub struct Described {
    cache: DataTypeCache,
    /// DataTypes of Variables; `None` for a Variable that does not tell it.
    variables: HashMap<NodeId, Option<NodeId>>,
    /// Epoch of the client, and the NamespaceArray of the first session, whose indexes the NodeIds of Variables have.
    epoch: Option<u64>,
    namespaces: Vec<String>,
    map: Option<NamespaceMap>,
    notes: RefCell<HashSet<String>>,
}

impl Described {
    /// Learns the DataTypes of Values. Without an answer they are shown as they were before.
    pub fn learn(&mut self, client: &mut Client, values: &[(&NodeId, &DataValue)]) {
        if let Err(error) = self.try_learn(client, values) {
            self.note(format!(
                "the DataTypes of the server cannot be read: {error}"
            ));
        }
    }

    fn try_learn(
        &mut self,
        client: &mut Client,
        values: &[(&NodeId, &DataValue)],
    ) -> Result<(), ClientError> {
        let values = values.iter().filter_map(|(node, value)| {
            let inner = value.value.as_ref().filter(|inner| is_described(inner));
            inner.map(|inner| (*node, inner))
        });
        let values: Vec<(&NodeId, &Variant)> = values.collect();
        if values.is_empty() {
            return Ok(());
        }
        self.follow_session(client)?;
        let unknown = values
            .iter()
            .filter(|(node, _)| !self.variables.contains_key(node));
        let unknown: Vec<NodeId> = unknown.map(|(node, _)| NodeId::clone(node)).collect();
        if !unknown.is_empty() {
            let here = |node: &NodeId| match &self.map {
                Some(map) => map.node_id(node),
                None => node.clone(),
            };
            let wanted = unknown.iter().map(|node| (here(node), Attribute::DataType));
            let wanted: Vec<_> = wanted.collect();
            let found = client.read_attributes(&wanted)?;
            for (node, found) in unknown.into_iter().zip(found) {
                let data_type = match found.value {
                    Some(Variant::NodeId(data_type)) => Some(NodeId::clone(&data_type)),
                    _ => None,
                };
                // A missing DataType is kept, too: otherwise each value would ask for it again.
                self.variables.insert(node, data_type);
            }
        }
        let declared = |node: &NodeId| self.variables.get(node).and_then(Option::as_ref);
        let values = values.iter().map(|(node, value)| (declared(node), *value));
        let values: Vec<DeclaredValue<'_>> = values.collect();
        client.describe_values(&mut self.cache, &values)
    }

    /// Forgets the Variables of another session: another server may be there, with other namespaces.
    fn follow_session(&mut self, client: &mut Client) -> Result<(), ClientError> {
        if self.epoch == Some(client.epoch()) {
            return Ok(());
        }
        self.variables.clear();
        let now = match client.namespace_array() {
            Err(error) if error.is_connection() => return Err(error),
            // Without it, indexes are taken as they are.
            now => now.unwrap_or_default(),
        };
        match self.epoch {
            None => self.namespaces = now,
            // Without the NamespaceArray of the first session, its indexes cannot be translated.
            Some(_) if self.namespaces.is_empty() => {}
            Some(_) => self.map = Some(NamespaceMap::between(&self.namespaces, &now)),
        }
        self.epoch = Some(client.epoch());
        Ok(())
    }

    /// Learns the DataTypes of values that are no Values of Variables: arguments, fields of Events.
    pub fn learn_declared(&mut self, client: &mut Client, values: &[DeclaredValue<'_>]) {
        let mut needed = values.iter().filter(|(_, value)| is_described(value));
        if needed.next().is_none() {
            return;
        }
        if let Err(error) = client.describe_values(&mut self.cache, values) {
            self.note(format!(
                "the DataTypes of the server cannot be read: {error}"
            ));
        }
    }

    /// Learns the DataType of a Variable, and its subtypes: everything that its Values can be.
    pub fn learn_variable(&mut self, client: &mut Client, node: &NodeId) {
        let learned = client.read(node).and_then(|value| {
            self.try_learn(client, &[(node, &value)])?;
            let data_type = match self.variables.get(node) {
                Some(known) => known.clone(),
                // The present value may be of a simple type or missing, so that the lines above did not ask.
                None => match client.read_attribute(node, Attribute::DataType)?.value {
                    Some(Variant::NodeId(data_type)) => Some(NodeId::clone(&data_type)),
                    _ => None,
                },
            };
            if let Some(data_type) = &data_type {
                client.describe_subtypes(&mut self.cache, data_type)?;
            }
            self.variables.insert(node.clone(), data_type);
            Ok(())
        });
        if let Err(error) = learned {
            self.note(format!(
                "the DataTypes of the server cannot be read: {error}"
            ));
        }
    }

    /// Returns the DataType of a Variable that was learned.
    pub fn data_type(&self, node: &NodeId) -> Option<&NodeId> {
        self.variables.get(node).and_then(Option::as_ref)
    }

    pub fn cache(&mut self) -> &mut DataTypeCache {
        &mut self.cache
    }

    pub fn types(&self) -> &DescribedTypes {
        self.cache.types()
    }

    /// Returns a value as text.
    pub fn text(&self, value: &Variant, data_type: Option<&NodeId>) -> String {
        let values = DescribedValues::new(self.cache.types(), EnumerationForm::Text);
        let text = values.text(value, data_type);
        self.note_undecoded(&values);
        text
    }

    /// Returns a value as JSON.
    pub fn json(&self, value: &Variant, data_type: Option<&NodeId>) -> Value {
        let values = DescribedValues::new(self.cache.types(), EnumerationForm::NameAndNumber);
        let json = values.value(value, data_type);
        self.note_undecoded(&values);
        json
    }

    /// Returns a DataValue in one line, as [`output::data_value`] does.
    pub fn data_value(&self, value: &DataValue, data_type: Option<&NodeId>) -> String {
        output::data_value(value, |inner| self.text(inner, data_type))
    }

    /// Returns a row for programs, as [`output::data_value_json`] does.
    pub fn data_value_json(
        &self,
        node: &str,
        value: &DataValue,
        data_type: Option<&NodeId>,
    ) -> Value {
        output::data_value_json(node, value, |inner| self.json(inner, data_type))
    }

    fn note_undecoded(&self, values: &DescribedValues<'_>) {
        for undecoded in values.take_undecoded() {
            self.note(format!(
                "{}; it is shown in base64",
                self.cache.reason(&undecoded)
            ));
        }
    }

    /// Prints a note once.
    fn note(&self, note: String) {
        let mut notes = self.notes.borrow_mut();
        if notes.len() < MOST_NOTES && !notes.contains(&note) {
            output::complain(format_args!("note: {note}"));
            notes.insert(note);
        }
    }
}

/// Returns the DataType of the values of an attribute other than Value, if it is an enumeration.
pub fn of_attribute(attribute: Attribute) -> Option<NodeId> {
    (attribute == Attribute::NodeClass).then(|| NodeId::from(ids::NODE_CLASS))
}

/// Returns whether the DataType adds something to what is shown of a value.
fn is_described(value: &Variant) -> bool {
    value.built_in_type().is_some_and(|built_in| {
        // An integer may be a value of an enumeration. A Variant or DataValue may hold one, or a structure.
        built_in.is_integer()
            || matches!(
                built_in,
                BuiltInType::ExtensionObject | BuiltInType::Variant | BuiltInType::DataValue
            )
    })
}
