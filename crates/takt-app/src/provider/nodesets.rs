//! NodeSets of a Provider: companion specifications whose types it instantiates and whose structures it encodes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use takt_client::model;
use takt_services::{BuildError, Server};
use takt_space::{AddressSpace, AddressSpaceError, ImportError, View};
use takt_ua::enumerations::NodeClass;
use takt_ua::{NodeId, ids};

use super::model_structure::ModelStructure;

/// Largest number of types that are searched for a name.
const MAX_TYPES: usize = 100_000;

/// Error of NodeSets that cannot be loaded, or of a type that they do not have.
#[derive(Debug, thiserror::Error)]
pub enum NodeSetsError {
    /// A file cannot be read.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// A document is not valid, or needs another one.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The address space for them could not be built.
    #[error(transparent)]
    Server(#[from] BuildError),
    /// The NamespaceArray is full.
    #[error(transparent)]
    AddressSpace(#[from] AddressSpaceError),
    /// A type does not exist.
    #[error(transparent)]
    Type(#[from] TypeNameError),
}

/// Error of a [`TypeName`] without a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeNameError {
    /// No NodeSet has the namespace.
    #[error("no NodeSet has the namespace {0}: see `ProviderBuilder::nodesets`")]
    Namespace(String),
    /// The namespace has no such type.
    #[error("{name} is no type{}", suggestion(.similar.as_deref()))]
    Unknown {
        /// The name.
        name: TypeName,
        /// Most similar name of a type of this namespace.
        similar: Option<String>,
    },
}

fn suggestion(similar: Option<&str>) -> String {
    similar.map_or_else(String::new, |similar| format!(": did you mean {similar}?"))
}

/// Name of a type: its namespace URI and its BrowseName, which are the same at every server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeName {
    namespace_uri: String,
    name: String,
}

impl TypeName {
    /// Creates the name of a type, for example `MachineToolType` of `http://opcfoundation.org/UA/MachineTool/`.
    pub fn new(namespace_uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace_uri: namespace_uri.into(),
            name: name.into(),
        }
    }

    /// Creates the name of a type of namespace 0, for example `FolderType`.
    pub fn standard(name: impl Into<String>) -> Self {
        Self::new(takt_space::STANDARD_NAMESPACE, name)
    }

    /// Returns the type with this name below one of the types of `roots`.
    pub(super) fn find(&self, view: &View<'_>, roots: &[u32]) -> Result<NodeId, TypeNameError> {
        let namespace = view.namespaces().index_of(&self.namespace_uri);
        let namespace =
            namespace.ok_or_else(|| TypeNameError::Namespace(self.namespace_uri.clone()))?;
        let mut found: Vec<NodeId> = roots.iter().map(|root| NodeId::from(*root)).collect();
        // A name that differs more is hardly a typing error.
        let mut similar = (0.7, None);
        let mut next = 0;
        while let Some(candidate) = found.get(next).cloned() {
            next += 1;
            if let Some(node) = view.node(&candidate) {
                let name = node.browse_name();
                let text = name.name.unwrap_or_default();
                if name.namespace == namespace && text == self.name {
                    return Ok(candidate);
                }
                let likeness = strsim::jaro_winkler(text, &self.name);
                if name.namespace == namespace && likeness > similar.0 {
                    similar = (likeness, Some(text.to_owned()));
                }
            }
            // A faulty NodeSet may have a cycle of subtypes: this limit ends it.
            if found.len() < MAX_TYPES {
                found.extend(view.children(&candidate, ids::HAS_SUBTYPE));
            }
        }
        Err(TypeNameError::Unknown {
            name: self.clone(),
            similar: similar.1,
        })
    }
}

impl std::fmt::Display for TypeName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} of {}", self.name, self.namespace_uri)
    }
}

/// NodeSets (OPC 10000-6, Annex F) that are loaded for a Provider.
///
/// A Provider shows their types at its own endpoints. Its registry has to load them too: `takt registry --nodeset FILE`.
#[derive(Clone)]
pub struct NodeSets {
    documents: Arc<[(String, String)]>,
    server: Arc<Server>,
}

impl NodeSets {
    /// Loads NodeSet2 files, each after those that it requires; their order does not matter.
    ///
    /// # Errors
    /// A file cannot be read, is not valid, or requires a model that is not among them.
    pub fn load<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, NodeSetsError> {
        let mut documents = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let xml = std::fs::read_to_string(path).map_err(|source| NodeSetsError::File {
                path: path.to_owned(),
                source,
            })?;
            documents.push((path.display().to_string(), xml));
        }
        Self::from_documents(documents)
    }

    /// Loads NodeSet2 documents, each with a name for errors.
    ///
    /// # Errors
    /// A document is not valid, or requires a model that is not among them.
    pub fn from_documents<N: Into<String>, X: Into<String>>(
        documents: impl IntoIterator<Item = (N, X)>,
    ) -> Result<Self, NodeSetsError> {
        let documents = documents.into_iter();
        let documents: Arc<[(String, String)]> = documents
            .map(|(name, xml)| (name.into(), xml.into()))
            .collect();
        // The NamespaceIndexes are those of every Provider that imports them.
        let server = Server::builder("NodeSets", model::provider_uri("")).build()?;
        import(server.address_space(), Some(&documents))?;
        Ok(Self { documents, server })
    }

    /// Returns the structure with this name, whose values are encoded by its DataTypeDefinition.
    ///
    /// # Errors
    /// There is no such DataType, or it is no structure.
    pub fn structure(&self, name: &TypeName) -> Result<ModelStructure, NodeSetsError> {
        let space = self.server.address_space();
        let data_type = name.find(&space.view(), &[ids::STRUCTURE])?;
        let structure = ModelStructure::new(Arc::clone(space), data_type);
        structure.ok_or_else(|| {
            NodeSetsError::Type(TypeNameError::Unknown {
                name: name.clone(),
                similar: None,
            })
        })
    }

    /// Returns the DataType with this name, for [`Variable::data_type`](crate::Variable::data_type).
    ///
    /// # Errors
    /// There is no such DataType.
    pub fn data_type(&self, name: &TypeName) -> Result<NodeId, NodeSetsError> {
        let view = self.server.address_space().view();
        Ok(name.find(&view, &[ids::BASE_DATA_TYPE])?)
    }

    pub(super) fn documents(&self) -> &[(String, String)] {
        &self.documents
    }
}

/// Imports the types of the registry's model, and NodeSets, into the address space of a Provider.
pub(super) fn import(
    space: &AddressSpace,
    documents: Option<&[(String, String)]>,
) -> Result<(), ImportError> {
    space.import_types(model::NODESET_NAME, model::NODESET)?;
    if let Some(documents) = documents {
        space.import_nodesets(documents)?;
    }
    Ok(())
}

/// Returns the roots of the types that an instance may have.
pub(super) fn roots(node_class: NodeClass) -> &'static [u32] {
    match node_class {
        NodeClass::Object => &[ids::BASE_OBJECT_TYPE],
        NodeClass::Variable => &[ids::BASE_VARIABLE_TYPE],
        _ => &[ids::BASE_OBJECT_TYPE, ids::BASE_VARIABLE_TYPE],
    }
}
