//! NamespaceIndexes in the file of a history: they are those of its own NamespaceArray.
//!
//! The same namespace may have another index in the next run of the server (OPC 10000-3, 8.2.2). Recorded NodeIds follow the URIs.

use std::sync::{Arc, PoisonError, RwLock};

use takt_history::{HistoryError, HistoryRecordRef, Records, Store, StoredRecords};
use takt_space::AddressSpace;
use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::{DateTime, NamespaceMap, Variant};

/// NamespaceArray of the file, for its writer and its readers.
#[derive(Debug, Default)]
pub(super) struct FileNamespaces(RwLock<Vec<String>>);

impl FileNamespaces {
    fn get(&self) -> Vec<String> {
        let uris = self.0.read().unwrap_or_else(PoisonError::into_inner);
        uris.clone()
    }

    /// Sets the array that the file has.
    pub(super) fn load(&self, store: &Store) -> Result<(), HistoryError> {
        self.set(store.namespaces()?);
        Ok(())
    }

    fn set(&self, uris: Vec<String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = uris;
    }

    /// Returns the map from the indexes of the file to those of the server; `None` if they are the same. A namespace that the server
    /// does not have gets the index 65535.
    pub(super) fn to_server(&self, space: &AddressSpace) -> Option<NamespaceMap> {
        let (file, server) = (self.get(), space.namespaces().all());
        let is_same = file.len() <= server.len() && same(&file, &server);
        (!is_same).then(|| NamespaceMap::between(&file, &server))
    }
}

/// Map of the writer, from the indexes of the server to those of the file.
#[derive(Debug, Default)]
pub(super) struct ToFile {
    /// NamespaceArray of the server for which the map is valid.
    server: Vec<Arc<str>>,
    /// `None`: the indexes are the same.
    map: Option<NamespaceMap>,
}

impl ToFile {
    /// Brings the map up to date. New namespaces of the server get an index in the file, which is durable then.
    pub(super) fn update(
        &mut self,
        space: &AddressSpace,
        namespaces: &FileNamespaces,
        store: &mut Store,
    ) -> Result<Option<&NamespaceMap>, HistoryError> {
        let server = space.namespaces().all();
        if server != self.server {
            let mut file = namespaces.get();
            let known = file.len();
            for uri in &server {
                if !uri.is_empty() && !file.iter().any(|known| **known == **uri) {
                    file.push(uri.as_ref().to_owned());
                }
            }
            if file.len() > known {
                // Before any record has such an index: after a crash it would name no namespace.
                store.set_namespaces(&file)?;
            }
            let is_same = server.len() <= file.len() && same(&file, &server);
            self.map = (!is_same).then(|| NamespaceMap::between(&server, &file));
            self.server = server;
            namespaces.set(file);
        }
        Ok(self.map.as_ref())
    }
}

/// Returns true if two arrays are the same as far as both go.
fn same(file: &[String], server: &[Arc<str>]) -> bool {
    file.iter().zip(server).all(|(one, other)| **one == **other)
}

/// Returns true if an encoded value may have namespace indexes in it.
pub(super) fn has_indexes(value: &[u8]) -> bool {
    // NodeId, ExpandedNodeId, QualifiedName, ExtensionObject, DataValue, Variant (OPC 10000-6, 5.1.2).
    matches!(
        value.first().map(|first| first & 0x3F),
        Some(17 | 18 | 20 | 22 | 23 | 24)
    )
}

/// Returns an encoded value with other indexes; `None` if it cannot be decoded.
pub(super) fn renumbered(value: &[u8], map: &NamespaceMap) -> Option<Vec<u8>> {
    let mut value = Variant::decode(&mut Decoder::new(value)).ok()?;
    map.replace(&mut value);
    Some(value.encode_to_vec())
}

/// Records of values with the indexes of the server.
pub(super) struct ServerRecords {
    pub(super) records: StoredRecords,
    /// `None`: the indexes are the same.
    pub(super) map: Option<NamespaceMap>,
    /// The last value with other indexes.
    pub(super) value: Vec<u8>,
}

impl ServerRecords {
    pub(super) fn new(records: StoredRecords, map: Option<NamespaceMap>) -> Self {
        Self {
            records,
            map,
            value: Vec::new(),
        }
    }
}

/// Returns a record with other indexes, which are put into `value`.
fn with_indexes<'r>(
    record: HistoryRecordRef<'r>,
    map: Option<&NamespaceMap>,
    value: &'r mut Vec<u8>,
) -> HistoryRecordRef<'r> {
    let Some(map) = map.filter(|_| has_indexes(record.value)) else {
        return record;
    };
    match renumbered(record.value, map) {
        Some(renumbered) => {
            *value = renumbered;
            HistoryRecordRef { value, ..record }
        }
        None => record,
    }
}

impl Records for ServerRecords {
    fn at_or_after(
        &mut self,
        time: DateTime,
    ) -> Result<Option<HistoryRecordRef<'_>>, HistoryError> {
        let found = self.records.at_or_after(time)?;
        Ok(found.map(|record| with_indexes(record, self.map.as_ref(), &mut self.value)))
    }

    fn at_or_before(
        &mut self,
        time: DateTime,
    ) -> Result<Option<HistoryRecordRef<'_>>, HistoryError> {
        let found = self.records.at_or_before(time)?;
        Ok(found.map(|record| with_indexes(record, self.map.as_ref(), &mut self.value)))
    }
}

#[cfg(test)]
mod tests {
    use takt_history::{HistoryRecord, HistoryStoreOptions, StoreTime};
    use takt_rt::memory_budget::MemoryBudget;
    use takt_ua::{NodeId, StatusCode};

    use super::*;

    fn space(uris: &[&str]) -> AddressSpace {
        let space = AddressSpace::new("urn:server", 10, 10, MemoryBudget::new(1 << 20));
        for uri in uris {
            space.namespaces().register(uri).unwrap();
        }
        space
    }

    fn value(namespace: u16) -> Vec<u8> {
        Variant::from(NodeId::numeric(namespace, 7)).encode_to_vec()
    }

    #[test]
    fn recorded_node_ids_follow_their_namespaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.redb");
        let open = || {
            let store = Store::open(&path, HistoryStoreOptions::default()).unwrap();
            let namespaces = FileNamespaces::default();
            namespaces.load(&store).unwrap();
            (store, namespaces)
        };
        let (mut store, namespaces) = open();
        let key = store.variable("Level", None).unwrap();
        let before = space(&["urn:one", "urn:two"]);
        let mut to_file = ToFile::default();
        let map = to_file.update(&before, &namespaces, &mut store).unwrap();
        assert_eq!(map, None);
        assert_eq!(namespaces.to_server(&before), None);
        for (at, namespace) in [(100, 2), (200, 3)] {
            let record = HistoryRecord {
                source_timestamp: DateTime(at),
                server_timestamp: DateTime(at),
                status: StatusCode::Good,
                value: value(namespace),
            };
            store.append(vec![(key, record)], StoreTime::now()).unwrap();
        }
        drop(store);

        // The model is another one: the indexes of the records name other namespaces.
        let after = space(&["urn:two", "urn:three"]);
        let (mut store, namespaces) = open();
        let records = store.reader().records(key).unwrap();
        let mut records = ServerRecords::new(records, namespaces.to_server(&after));
        let mut found = |at| {
            let record = records.at_or_after(DateTime(at)).unwrap();
            record.unwrap().value.to_vec()
        };
        assert_eq!(found(100), value(u16::MAX));
        assert_eq!(found(200), value(2));
        let mut to_file = ToFile::default();
        let map = to_file.update(&after, &namespaces, &mut store).unwrap();
        let map = map.unwrap().clone();
        assert_eq!(renumbered(&value(2), &map), Some(value(3)));
        assert_eq!(renumbered(&value(3), &map), Some(value(4)));
        drop((records, store));
        let (_, namespaces) = open();
        assert_eq!(namespaces.get()[2..], ["urn:one", "urn:two", "urn:three"]);
        assert!(!has_indexes(&Variant::from(1.5).encode_to_vec()));
    }
}
