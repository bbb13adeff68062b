//! The NamespaceArray in the database: it only grows, so that a NodeId stays what it is.

use takt_services::{AddressSpace, Change};

use crate::database::Contents;

/// The namespaces that the server has and the database has not, as changes to be recorded.
pub(crate) fn unknown(space: &AddressSpace, contents: &Contents) -> Vec<Change> {
    (0_u16..)
        .zip(space.namespaces().all())
        .filter(|(index, _)| !contents.namespaces.iter().any(|(known, _)| known == index))
        .map(|(index, uri)| Change::AddNamespace {
            index,
            uri: uri.as_ref().to_owned(),
        })
        .collect()
}
