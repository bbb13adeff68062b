//! NodeIds of items in later Sessions: an index of a namespace is valid in one Session only (OPC 10000-3, 8.2.2).
//!
//! An item keeps the NamespaceArray by which it was requested. If a server comes back with another one, the item is requested by the
//! indexes of that one. If the server does not have the namespace any more, it has no such node.

use std::sync::Arc;

use takt_ua::{Elements, NamespaceMap, NodeId, Variant, ids};

use super::core::{Core, Publishing};
use super::options::Monitored;
use super::session_namespaces::SessionNamespaces;
use crate::client::{Attribute, AttributeServices};
use crate::error::ClientError;

impl<C: Publishing> Core<C> {
    /// Reads the NamespaceArray if new items need it. Their NodeIds are those of this Session.
    pub(super) async fn know_namespaces(
        &mut self,
        items: &[(NodeId, Monitored)],
    ) -> Result<(), ClientError> {
        let greatest = items.iter().map(|(node, monitored)| {
            let of_filter = u16::from(has_namespaces(monitored));
            node.namespace.max(of_filter)
        });
        let greatest = greatest.max().unwrap_or(0);
        let known = self.namespaces.uris.as_ref().map_or(0, |uris| uris.len());
        let is_known =
            self.namespaces.epoch == self.client.epoch() && usize::from(greatest) < known;
        match greatest == 0 || is_known {
            true => Ok(()),
            false => self.read_namespaces().await,
        }
    }

    /// Reads the NamespaceArray if items that are requested again need it.
    pub(super) async fn follow_namespaces(&mut self) -> Result<(), ClientError> {
        let Some(created) = &self.created else {
            return Ok(());
        };
        let mut again = created.to_restore.iter();
        let is_other = self.namespaces.epoch != self.client.epoch();
        let is_due = again.any(|handle| {
            let item = self.items.get(handle);
            item.is_some_and(|item| match is_other {
                true => item.namespaces.is_some(),
                // A server that has just started may add its namespaces one after another.
                false => self.namespaces.lacks(item),
            })
        });
        match is_due {
            true => self.read_namespaces().await,
            false => Ok(()),
        }
    }

    async fn read_namespaces(&mut self) -> Result<(), ClientError> {
        let array = NodeId::numeric(0, ids::SERVER_NAMESPACE_ARRAY);
        let values = self
            .client
            .read_attributes(&[(array, Attribute::Value)])
            .await?;
        let epoch = self.client.epoch();
        let value = values.into_iter().next().and_then(|value| value.value);
        let uris: Arc<[String]> = match value {
            Some(Variant::Array(array)) => match array.elements {
                Elements::String(uris) => uris.iter().map(|uri| uri.as_str().to_owned()).collect(),
                _ => Arc::default(),
            },
            _ => Arc::default(),
        };
        if uris.is_empty() {
            // A server without a NamespaceArray has nothing by which indexes could be compared.
            self.namespaces.epoch = epoch;
            return Ok(());
        }
        self.namespaces = SessionNamespaces {
            uris: Some(uris),
            epoch,
        };
        Ok(())
    }
}

/// Returns true if the filter of an item names anything in another namespace than 0.
fn has_namespaces(monitored: &Monitored) -> bool {
    let Monitored::Events(query) = monitored else {
        return false;
    };
    let filter = query.parameters(0).filter;
    let mut standard = filter.clone();
    // A map without other namespaces changes everything that belongs to one.
    let only_standard = NamespaceMap::between(&["standard"], &["standard"]);
    only_standard.replace_filter(&mut standard);
    standard != filter
}
