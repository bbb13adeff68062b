//! Methods: their arguments, and the Objects that have them (OPC 10000-3, 5.7).

use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::Argument;
use takt_ua::{Elements, NodeId, StatusCode, Variant, ids};

use super::Client;
use super::views::Follow;
use crate::error::ClientError;

impl Client {
    /// Returns the InputArguments of a Method; `None` if it does not show them.
    ///
    /// # Errors
    /// The server does not answer, or an argument cannot be decoded (`BadDecodingError`).
    pub fn input_arguments(
        &mut self,
        method: &NodeId,
    ) -> Result<Option<Vec<Argument>>, ClientError> {
        self.arguments(method, "InputArguments")
    }

    /// Returns the OutputArguments of a Method; `None` if it does not show them.
    ///
    /// # Errors
    /// As [`input_arguments`](Self::input_arguments).
    pub fn output_arguments(
        &mut self,
        method: &NodeId,
    ) -> Result<Option<Vec<Argument>>, ClientError> {
        self.arguments(method, "OutputArguments")
    }

    fn arguments(
        &mut self,
        method: &NodeId,
        name: &str,
    ) -> Result<Option<Vec<Argument>>, ClientError> {
        let properties = self.browse(method, &Follow::forward(ids::HAS_PROPERTY))?;
        let mut properties = properties.iter();
        let found = properties.find(|property| property.browse_name.name.as_str() == name);
        let Some(property) = found else {
            return Ok(None);
        };
        let Variant::Array(array) = self.read_good(&property.node_id.node_id)? else {
            return Ok(Some(Vec::new()));
        };
        let Elements::ExtensionObject(objects) = array.elements else {
            return Ok(Some(Vec::new()));
        };
        let arguments = objects.iter().map(|object| {
            let decoded = object.decode_as::<Argument>();
            decoded.map_err(|_| ClientError::operation(method, StatusCode::BadDecodingError))
        });
        arguments.collect::<Result<_, _>>().map(Some)
    }

    /// Returns the Objects that have a Method as a component. Several Objects may share it.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn objects_of_method(&mut self, method: &NodeId) -> Result<Vec<NodeId>, ClientError> {
        let parent = Follow {
            reference_type: NodeId::numeric(0, ids::HAS_COMPONENT),
            direction: BrowseDirection::Inverse,
        };
        let parents = self.browse(method, &parent)?.into_iter();
        let objects = parents.filter(|parent| parent.node_class == NodeClass::Object);
        Ok(objects.map(|object| object.node_id.node_id).collect())
    }
}
