//! Models in the address space, and the import order of documents (OPC 10000-6, Annex F.5).

use takt_nodeset::ModelTableEntry;
use takt_ua::{DateTime, NodeIdRef, QualifiedNameRef, Variant, VariantRef, ids};

use super::error::{ImportError, ImportReason};
use crate::address_space::{STANDARD_NAMESPACE, View};
use crate::value::Value;

/// Checks that the models of a document are new, and that the required models exist and are recent enough.
pub(super) fn check(
    view: &View<'_>,
    name: &str,
    models: &[ModelTableEntry],
) -> Result<(), ImportError> {
    for model in models {
        if is_there(view, &model.uri) {
            return Err(ImportError::new(
                name,
                model.line,
                ImportReason::ModelExists(model.uri.clone()),
            ));
        }
        for required in &model.required_models {
            let in_this_document = models.iter().any(|model| model.uri == required.uri);
            if in_this_document {
                continue;
            }
            let error = |reason| Err(ImportError::new(name, required.line, reason));
            let uri = required.uri.clone();
            if !is_there(view, &uri) {
                return error(ImportReason::ModelMissing {
                    uri,
                    version: required.version.clone(),
                    publication_date: required.publication_date,
                });
            }
            if let (Some(required), Some(found)) =
                (required.publication_date, published(view, &uri))
                && found < required
            {
                return error(ImportReason::ModelTooOld {
                    uri,
                    required,
                    found,
                });
            }
        }
    }
    Ok(())
}

/// Returns true if a model exists, which means that its namespace has nodes.
fn is_there(view: &View<'_>, uri: &str) -> bool {
    uri == STANDARD_NAMESPACE
        || view
            .namespaces()
            .index_of(uri)
            .is_some_and(|index| view.has_nodes_of(index))
}

/// Returns the publication date of a model, if its NamespaceMetadata (OPC 10000-5, 6.3.13) contains it.
fn published(view: &View<'_>, uri: &str) -> Option<DateTime> {
    let metadata = view.children(ids::SERVER_NAMESPACES, ids::HAS_COMPONENT);
    let metadata = metadata.into_iter().find(|node_id| {
        view.node(node_id)
            .is_some_and(|node| node.browse_name().name == Some(uri))
    })?;
    let name = QualifiedNameRef {
        namespace: 0,
        name: Some("NamespacePublicationDate"),
    };
    let date = view.child(&metadata, ids::HAS_PROPERTY, name)?;
    date_time(view, date.as_ref())
}

fn date_time(view: &View<'_>, node_id: NodeIdRef<'_>) -> Option<DateTime> {
    let node = view.node(node_id)?;
    let date = match node.value() {
        Some(Value::Stored(stored)) => match stored.get().value? {
            Variant::DateTime(date) => date,
            _ => return None,
        },
        Some(_) => return None,
        None => {
            let mut decoder = takt_ua::binary::Decoder::new(node.standard()?.value()?);
            match <VariantRef<'_> as takt_ua::binary::Decode>::decode(&mut decoder).ok()? {
                VariantRef::DateTime(date) => date,
                _ => return None,
            }
        }
    };
    // The null DateTime stands for an unknown date.
    (date != DateTime::MIN).then_some(date)
}

/// Returns the indices of documents, given by their models, in an order in which each follows those that it requires. Documents
/// that require each other, or a model that is not among them, keep their order.
pub(super) fn order(documents: &[Vec<ModelTableEntry>]) -> Vec<usize> {
    let defines =
        |document: &[ModelTableEntry], uri: &str| document.iter().any(|model| model.uri == uri);
    let mut waiting: Vec<usize> = (0..documents.len()).collect();
    let mut order = Vec::with_capacity(documents.len());
    while !waiting.is_empty() {
        let is_ready = |index: usize| {
            let required = documents[index]
                .iter()
                .flat_map(|model| &model.required_models);
            required.into_iter().all(|required| {
                // A document may require a model that it defines itself; it does not wait for itself.
                let mut others = waiting.iter().filter(|other| **other != index);
                !others.any(|other| defines(&documents[*other], &required.uri))
            })
        };
        // If none is ready, they require each other: the first one is taken.
        let position = waiting
            .iter()
            .position(|index| is_ready(*index))
            .unwrap_or(0);
        order.push(waiting.remove(position));
    }
    order
}

#[cfg(test)]
mod tests {
    use takt_nodeset::RequiredModel;

    use super::*;

    fn document(uri: &str, required: &[&str]) -> Vec<ModelTableEntry> {
        let required_models = required.iter().map(|uri| RequiredModel {
            uri: (*uri).to_owned(),
            ..RequiredModel::default()
        });
        vec![ModelTableEntry {
            uri: uri.to_owned(),
            required_models: required_models.collect(),
            ..ModelTableEntry::default()
        }]
    }

    #[test]
    fn documents_come_after_what_they_require() {
        let documents = [
            document("tool", &["ua", "machinery", "di"]),
            document("machinery", &["ua", "di", "ia"]),
            document("di", &["ua"]),
            Vec::new(),
            document("ia", &["di", "elsewhere"]),
        ];
        assert_eq!(order(&documents), [2, 3, 4, 1, 0]);
        assert_eq!(
            order(&[document("a", &["b"]), document("b", &["a"])]),
            [0, 1]
        );
        assert_eq!(order(&[document("a", &["a"])]), [0]);
        assert!(order(&[]).is_empty());
    }
}
