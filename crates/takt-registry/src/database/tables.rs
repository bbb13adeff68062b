//! Tables of the file, and the storage of changes in them.

use redb::{
    MultimapTableDefinition, ReadTransaction, ReadableDatabase, ReadableMultimapTable,
    ReadableTable, TableDefinition, TableHandle, WriteTransaction,
};
use takt_database::DatabaseKind;
use takt_space::Change;
use takt_ua::binary::Encode;
use takt_ua::structures::AddNodesItem;
use takt_ua::{DateTime, ExpandedNodeId, NodeId};

use super::contents::{
    AddedNamespace, Contents, NewProvider, ProviderRecord, Registration, SecurityGroupRecord,
};
use super::error::{DatabaseError, FORMAT};
use super::instantiated;
use super::owners;
use super::push_targets;
use super::records::{
    ADDED, DELETED, NOBODY, RecordError, decode, decode_attribute, decode_reference,
};

const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
const NAMESPACES: TableDefinition<u16, &str> = TableDefinition::new("namespaces");
/// Table: ApplicationName → Unix user, or `NOBODY`; digest of the secret, or empty.
const PROVIDERS: TableDefinition<&str, (u32, &[u8])> = TableDefinition::new("providers");
/// Table: number → owner, AddNodesItem.
const NODES: TableDefinition<u64, (&str, &[u8])> = TableDefinition::new("nodes");
const NUMBER_OF_NODE: TableDefinition<&[u8], u64> = TableDefinition::new("number of node");
/// Table: number → owner, ADDED or DELETED, AddReferencesItem or DeleteReferencesItem.
const REFERENCES: TableDefinition<u64, (&str, u8, &[u8])> = TableDefinition::new("references");
/// Table: node and AttributeId, see [`attribute_key`] → number, owner, value. The last value that was written counts.
const ATTRIBUTES: TableDefinition<&[u8], (u64, &str, &[u8])> = TableDefinition::new("attributes");
/// Table: node at either end → numbers in `REFERENCES`.
const REFERENCES_OF: MultimapTableDefinition<&[u8], u64> =
    MultimapTableDefinition::new("references of node");

/// Table: name → SecurityGroupDataType, Unix user, first and current token, time at which the next key becomes
/// current (ticks of DateTime), and the concatenated key data of all tokens.
const SECURITY_GROUPS: TableDefinition<&str, SecurityGroupRow<'static>> =
    TableDefinition::new("security groups");
type SecurityGroupRow<'a> = (&'a [u8], u32, u32, u32, i64, &'a [u8]);
/// Key in `META` of the highest token of all SecurityGroups so far, including removed ones.
const LAST_TOKEN: &str = "last token";

/// Kind of the file.
pub(super) fn kind() -> DatabaseKind {
    DatabaseKind {
        content: "database of the registry",
        table: META.name(),
        cache: 4 << 20,
    }
}

/// Creates missing tables, and returns the format of the file.
pub(super) fn make(transaction: &WriteTransaction) -> Result<u64, DatabaseError> {
    let mut meta = transaction.open_table(META)?;
    let found = meta.get("format")?.map(|format| format.value());
    if found.is_none() {
        meta.insert("format", FORMAT)?;
    }
    // All tables exist from now on, so that reading needs no special case.
    transaction.open_table(NAMESPACES)?;
    transaction.open_table(PROVIDERS)?;
    transaction.open_table(NODES)?;
    transaction.open_table(NUMBER_OF_NODE)?;
    transaction.open_table(REFERENCES)?;
    transaction.open_table(ATTRIBUTES)?;
    transaction.open_multimap_table(REFERENCES_OF)?;
    transaction.open_table(SECURITY_GROUPS)?;
    owners::make(transaction)?;
    instantiated::make(transaction)?;
    push_targets::make(transaction)?;
    Ok(found.unwrap_or(FORMAT))
}

/// Reads everything.
pub(super) fn load(redb: &redb::Database) -> Result<Contents, DatabaseError> {
    let transaction = redb.begin_read()?;
    let mut contents = Contents::default();
    for row in transaction.open_table(NAMESPACES)?.iter()? {
        let (index, uri) = row?;
        contents
            .namespaces
            .push((index.value(), uri.value().to_owned()));
    }
    contents.owners = owners::load(&transaction)?;
    contents.additional = owners::load_additional(&transaction)?;
    contents.instantiated = instantiated::load(&transaction)?;
    contents.push_targets = push_targets::load(&transaction)?;
    for row in transaction.open_table(PROVIDERS)?.iter()? {
        let (name, record) = row?;
        let (user, secret_digest) = record.value();
        contents.providers.push(ProviderRecord {
            name: name.value().to_owned(),
            user: (user != NOBODY).then_some(user),
            secret_digest: secret_digest.to_vec(),
        });
    }
    for row in transaction.open_table(SECURITY_GROUPS)?.iter()? {
        let (name, record) = row?;
        let record = security_group(name.value(), record.value())?;
        contents.security_groups.push(record);
    }
    let last_token = transaction.open_table(META)?.get(LAST_TOKEN)?;
    // A `u32` was stored: see `keep_security_group`.
    contents.last_token = last_token.map_or(0, |token| token.value() as u32);
    let mut numbered = nodes(&transaction)?;
    numbered.extend(references(&transaction)?);
    numbered.extend(attributes(&transaction)?);
    // Nodes and references come from two tables. They refer to each other in the order in which they were recorded.
    numbered.sort_by_key(|(number, ..)| *number);
    contents.changes = numbered
        .into_iter()
        .map(|(_, owner, change)| (owner, change))
        .collect();
    Ok(contents)
}

/// Number, owner and change.
type Numbered = (u64, String, Change);

fn nodes(transaction: &ReadTransaction) -> Result<Vec<Numbered>, DatabaseError> {
    let mut nodes = Vec::new();
    for row in transaction.open_table(NODES)?.iter()? {
        let (number, node) = row?;
        let number = number.value();
        let (owner, item) = node.value();
        match decode::<AddNodesItem>(item) {
            Ok(item) => nodes.push((number, owner.to_owned(), Change::AddNode(Box::new(item)))),
            Err(error) => {
                // Only for the text of the error: the table is searched as a whole.
                let of_number = |row: (_, u64)| (row.1 == number).then_some(row.0);
                let rows = transaction.open_table(NUMBER_OF_NODE)?;
                let mut rows = rows
                    .iter()?
                    .map(|row| row.map(|(node, number)| (node_id(node.value()), number.value())));
                let node = rows.find_map(|row| row.map(of_number).transpose());
                let node = node.transpose()?.unwrap_or(format!("node {number}"));
                return Err(error.of("nodes", format!("{node}, of {owner},")));
            }
        }
    }
    Ok(nodes)
}

fn references(transaction: &ReadTransaction) -> Result<Vec<Numbered>, DatabaseError> {
    let mut references = Vec::new();
    for row in transaction.open_table(REFERENCES)?.iter()? {
        let (number, reference) = row?;
        let number = number.value();
        let (owner, kind, item) = reference.value();
        match decode_reference(kind, item) {
            Ok(change) => references.push((number, owner.to_owned(), change)),
            Err(error) => {
                let ends = ends_of(transaction, number)?;
                return Err(error.of("references", format!("a reference of {ends}, of {owner},")));
            }
        }
    }
    Ok(references)
}

fn attributes(transaction: &ReadTransaction) -> Result<Vec<Numbered>, DatabaseError> {
    let mut attributes = Vec::new();
    for row in transaction.open_table(ATTRIBUTES)?.iter()? {
        let (key, attribute) = row?;
        let (number, owner, value) = attribute.value();
        let change = decode_attribute(key.value(), value).map_err(|error| {
            error.of("attributes", format!("an attribute of a node of {owner}"))
        })?;
        attributes.push((number, owner.to_owned(), change));
    }
    Ok(attributes)
}

/// Returns the key of an attribute in `ATTRIBUTES`: the key of the node, then the AttributeId. The encoding of a NodeId tells its own
/// length, so no key of a node is the beginning of another one.
fn attribute_key(node: &NodeId, attribute_id: u32) -> Vec<u8> {
    let mut key = key(node);
    key.extend(attribute_id.to_be_bytes());
    key
}

/// Deletes the attributes of a node that were written.
fn delete_attributes(transaction: &WriteTransaction, node: &[u8]) -> Result<(), DatabaseError> {
    let last = [node, &[0xFF; 4]].concat();
    let mut attributes = transaction.open_table(ATTRIBUTES)?;
    attributes.retain_in(node..=last.as_slice(), |_, _| false)?;
    Ok(())
}

/// Returns the nodes of a reference, to the extent that they are known without its record.
fn ends_of(transaction: &ReadTransaction, wanted: u64) -> Result<String, DatabaseError> {
    let mut ends = Vec::new();
    for row in transaction.open_multimap_table(REFERENCES_OF)?.iter()? {
        let (node, numbers) = row?;
        for number in numbers {
            if number?.value() == wanted {
                ends.push(node_id(node.value()));
            }
        }
    }
    Ok(ends.join(" and "))
}

/// Returns a key of `NUMBER_OF_NODE` and `REFERENCES_OF`, in readable form.
fn node_id(key: &[u8]) -> String {
    let node = decode::<NodeId>(key);
    node.map_or_else(|_| format!("{key:02x?}"), |node| node.to_string())
}

/// Removes the URIs of these namespaces and their owners, so that their indexes can be reused.
pub(super) fn free_namespaces(
    transaction: &WriteTransaction,
    namespaces: &[u16],
) -> Result<(), DatabaseError> {
    let mut table = transaction.open_table(NAMESPACES)?;
    for namespace in namespaces {
        table.remove(namespace)?;
        owners::remove(transaction, *namespace)?;
    }
    Ok(())
}

/// Records a namespace that a Provider has added beside its own, and the owner that is charged with it.
pub(super) fn add_namespace(
    transaction: &WriteTransaction,
    added: &AddedNamespace,
) -> Result<(), DatabaseError> {
    let index = added.index;
    transaction
        .open_table(NAMESPACES)?
        .insert(index, added.uri.as_str())?;
    owners::set(transaction, index, Some(&added.charged))?;
    owners::set_additional(transaction, index, &added.provider)
}

/// Removes a Provider's record.
pub(super) fn remove_provider(
    transaction: &WriteTransaction,
    name: &str,
) -> Result<(), DatabaseError> {
    transaction.open_table(PROVIDERS)?.remove(name)?;
    Ok(())
}

fn security_group(
    name: &str,
    row: SecurityGroupRow<'_>,
) -> Result<SecurityGroupRecord, DatabaseError> {
    let (configuration, user, first_token_id, current_token_id, next_key_at, key_data) = row;
    Ok(SecurityGroupRecord {
        configuration: decode(configuration)
            .map_err(|error| error.of("security groups", format!("SecurityGroup {name}")))?,
        user,
        first_token_id,
        current_token_id,
        next_key_at: DateTime(next_key_at),
        key_data: key_data.to_vec().into(),
    })
}

/// Stores the present state of a SecurityGroup.
pub(super) fn keep_security_group(
    transaction: &WriteTransaction,
    record: &SecurityGroupRecord,
    last_token: u32,
) -> Result<(), DatabaseError> {
    transaction.open_table(SECURITY_GROUPS)?.insert(
        record.configuration.name.as_str(),
        (
            record.configuration.encode_to_vec().as_slice(),
            record.user,
            record.first_token_id,
            record.current_token_id,
            record.next_key_at.0,
            record.key_data.as_slice(),
        ),
    )?;
    let mut meta = transaction.open_table(META)?;
    let stored = meta.get(LAST_TOKEN)?.map_or(0, |token| token.value());
    // A state that was replaced while it waited has a higher token than those that were queued after it.
    meta.insert(LAST_TOKEN, u64::from(last_token).max(stored))?;
    Ok(())
}

/// Removes a SecurityGroup.
pub(super) fn remove_security_group(
    transaction: &WriteTransaction,
    name: &str,
) -> Result<(), DatabaseError> {
    transaction.open_table(SECURITY_GROUPS)?.remove(name)?;
    Ok(())
}

/// Records changes of an owner, with its own record if it is new.
pub(super) fn record(
    transaction: &WriteTransaction,
    registration: &Registration,
) -> Result<(), DatabaseError> {
    let Registration {
        owner,
        newcomer,
        changes,
    } = registration;
    let owner = owner.as_str();
    if let Some(newcomer) = newcomer {
        let NewProvider {
            record,
            namespace,
            uri,
            charged,
        } = newcomer;
        // The server may know its URI although the file does not: from a registration that could not be made durable. An owner of
        // another use of the index must not stay.
        owners::remove(transaction, *namespace)?;
        transaction
            .open_table(NAMESPACES)?
            .insert(namespace, uri.as_str())?;
        owners::set(transaction, *namespace, Some(charged))?;
        transaction.open_table(PROVIDERS)?.insert(
            record.name.as_str(),
            (
                record.user.unwrap_or(NOBODY),
                record.secret_digest.as_slice(),
            ),
        )?;
    }
    let mut number = next_number(transaction)?;
    for change in changes.iter() {
        match change {
            Change::AddNamespace { index, uri } => {
                transaction
                    .open_table(NAMESPACES)?
                    .insert(index, uri.as_str())?;
            }
            Change::AddNode(item) => {
                number += 1;
                let node = &item.requested_new_node_id.node_id;
                if has_node(transaction, node)? {
                    // Its deletion was lost. A restart would find the old node first, and refuse the new one.
                    delete_node(transaction, node)?;
                }
                transaction
                    .open_table(NODES)?
                    .insert(number, (owner, item.encode_to_vec().as_slice()))?;
                transaction
                    .open_table(NUMBER_OF_NODE)?
                    .insert(key(node).as_slice(), number)?;
            }
            Change::DeleteNode(item) => delete_node(transaction, &item.node_id)?,
            Change::SetAttribute(change) => {
                number += 1;
                let key = attribute_key(&change.node_id, change.attribute_id);
                let value = change.value.encode_to_vec();
                transaction
                    .open_table(ATTRIBUTES)?
                    .insert(key.as_slice(), (number, owner, value.as_slice()))?;
            }
            Change::AddReference(item) => {
                number += 1;
                let ends = [&item.source_node_id, local(&item.target_node_id)];
                add_reference(
                    transaction,
                    number,
                    owner,
                    ADDED,
                    &item.encode_to_vec(),
                    ends,
                )?;
            }
            Change::DeleteReference(item) => {
                number += 1;
                let ends = [&item.source_node_id, local(&item.target_node_id)];
                // The deletion is stored in addition to the reference, which may have been added with a node.
                add_reference(
                    transaction,
                    number,
                    owner,
                    DELETED,
                    &item.encode_to_vec(),
                    ends,
                )?;
            }
        }
    }
    transaction.open_table(META)?.insert("number", number)?;
    Ok(())
}

fn next_number(transaction: &WriteTransaction) -> Result<u64, DatabaseError> {
    let meta = transaction.open_table(META)?;
    let number = meta.get("number")?.map_or(0, |number| number.value());
    Ok(number)
}

fn add_reference(
    transaction: &WriteTransaction,
    number: u64,
    owner: &str,
    kind: u8,
    item: &[u8],
    ends: [&NodeId; 2],
) -> Result<(), DatabaseError> {
    transaction
        .open_table(REFERENCES)?
        .insert(number, (owner, kind, item))?;
    let mut references_of = transaction.open_multimap_table(REFERENCES_OF)?;
    for end in ends {
        references_of.insert(key(end).as_slice(), number)?;
    }
    Ok(())
}

fn has_node(transaction: &WriteTransaction, node: &NodeId) -> Result<bool, DatabaseError> {
    let number_of_node = transaction.open_table(NUMBER_OF_NODE)?;
    let number = number_of_node.get(key(node).as_slice())?;
    Ok(number.is_some())
}

fn delete_node(transaction: &WriteTransaction, node: &NodeId) -> Result<(), DatabaseError> {
    let key = key(node);
    let mut number_of_node = transaction.open_table(NUMBER_OF_NODE)?;
    if let Some(number) = number_of_node.remove(key.as_slice())? {
        transaction.open_table(NODES)?.remove(number.value())?;
    }
    delete_attributes(transaction, &key)?;
    instantiated::remove(transaction, &key)?;
    let mut references = transaction.open_table(REFERENCES)?;
    let mut references_of = transaction.open_multimap_table(REFERENCES_OF)?;
    let numbers: Vec<u64> = references_of
        .remove_all(key.as_slice())?
        .map(|number| Ok(number?.value()))
        .collect::<Result<_, DatabaseError>>()?;
    for number in numbers {
        let Some((kind, item)) = references
            .remove(number)?
            .map(|reference| (reference.value().1, reference.value().2.to_vec()))
        else {
            continue;
        };
        let (source, target) = ends(kind, &item)
            .map_err(|error| error.of("references", format!("a reference of {node}")))?;
        // The node at the other end lists it, too.
        for end in [source, target] {
            references_of.remove(self::key(&end).as_slice(), number)?;
        }
    }
    Ok(())
}

/// Deletes up to `most` nodes of some namespaces, with their references.
pub(super) fn delete_some(
    transaction: &WriteTransaction,
    namespaces: &[u16],
    most: usize,
) -> Result<Vec<NodeId>, DatabaseError> {
    let mut nodes = Vec::new();
    let table = transaction.open_table(NUMBER_OF_NODE)?;
    for prefix in namespaces.iter().copied().flat_map(prefixes) {
        for row in table.range(prefix.as_slice()..)?.take(most - nodes.len()) {
            let (key, _) = row?;
            // The keys are sorted, so all further ones are those of other namespaces.
            if !key.value().starts_with(&prefix) {
                break;
            }
            let node = decode::<NodeId>(key.value());
            nodes.push(node.map_err(|error| error.of("number of node", node_id(key.value())))?);
        }
    }
    // A table can be open only once, and `delete_node` opens it.
    drop(table);
    for node in &nodes {
        delete_node(transaction, node)?;
    }
    Ok(nodes)
}

/// The first bytes of the keys of all nodes of a namespace: one for each way to encode a NodeId (OPC 10000-6, 5.2.2.9).
fn prefixes(namespace: u16) -> Vec<Vec<u8>> {
    let [low, high] = namespace.to_le_bytes();
    // A small number in one of the first 256 namespaces is encoded in four bytes.
    let short = (high == 0).then(|| vec![1, low]);
    let long = (2..=5).map(|encoding| vec![encoding, low, high]);
    short.into_iter().chain(long).collect()
}

/// Returns the nodes at the ends of a reference in `REFERENCES`.
fn ends(kind: u8, item: &[u8]) -> Result<(NodeId, NodeId), RecordError> {
    Ok(match decode_reference(kind, item)? {
        Change::AddReference(item) => (item.source_node_id, item.target_node_id.node_id),
        Change::DeleteReference(item) => (item.source_node_id, item.target_node_id.node_id),
        _ => (NodeId::NULL, NodeId::NULL),
    })
}

fn key(node: &NodeId) -> Vec<u8> {
    node.encode_to_vec()
}

fn local(node: &ExpandedNodeId) -> &NodeId {
    &node.node_id
}

/// Damages the record of `ns=7;i=1` so that it cannot be decoded.
#[cfg(test)]
pub(super) fn damage_node(transaction: &WriteTransaction) {
    let numbers = transaction.open_table(NUMBER_OF_NODE).unwrap();
    let number = numbers.get(key(&NodeId::numeric(7, 1)).as_slice()).unwrap();
    let number = number.unwrap().value();
    let mut nodes = transaction.open_table(NODES).unwrap();
    nodes.insert(number, ("P", [0xFF].as_slice())).unwrap();
}

/// Damages the record of a reference of `ns=7;i=1` so that it cannot be decoded.
#[cfg(test)]
pub(super) fn damage_reference(transaction: &WriteTransaction) {
    let of_node = transaction.open_multimap_table(REFERENCES_OF).unwrap();
    let mut numbers = of_node.get(key(&NodeId::numeric(7, 1)).as_slice()).unwrap();
    let number = numbers.next().unwrap().unwrap().value();
    let mut references = transaction.open_table(REFERENCES).unwrap();
    references
        .insert(number, ("P", ADDED, [0xFF].as_slice()))
        .unwrap();
}

/// Sets the format of the file.
#[cfg(test)]
pub(super) fn set_format(transaction: &WriteTransaction, format: u64) {
    let mut meta = transaction.open_table(META).unwrap();
    meta.insert("format", format).unwrap();
}
