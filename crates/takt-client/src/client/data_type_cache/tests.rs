//! DataTypes of servers that describe them well, wrongly, without end, or not at all.

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::enumerations::{BrowseDirection, StructureType};
use takt_ua::json::{DescribedValues, EnumerationForm};
use takt_ua::structures::*;
use takt_ua::{
    DataValue, ExtensionObject, ExtensionObjectBody, LocalizedText, QualifiedName, StatusCode,
    Structure, Variant, ids,
};

use std::collections::HashMap;

use super::cache::{LONGEST_NAME, MOST_TYPES};
use super::*;
use crate::client::{Attribute, Batches, Requests, ServiceRequest};
use crate::endpoint::Endpoint;

/// A server with a few DataTypes.
struct Server {
    endpoint: Endpoint,
    batches: Batches,
    attributes: HashMap<(NodeId, u32), Variant>,
    /// Source, ReferenceType, target and BrowseName of the target.
    references: Vec<(NodeId, u32, NodeId, QualifiedName)>,
    /// True if each structure has a field of one more DataType.
    is_endless: bool,
    requests: usize,
}

fn own(id: u32) -> NodeId {
    NodeId::numeric(2, id)
}

fn standard(id: u32) -> NodeId {
    NodeId::numeric(0, id)
}

fn field(name: &str, data_type: NodeId) -> StructureField {
    StructureField {
        name: name.into(),
        data_type,
        value_rank: -1,
        ..StructureField::default()
    }
}

fn object(encoding: NodeId, body: &[u8]) -> Variant {
    let body = ExtensionObjectBody::Binary(body.to_vec());
    ExtensionObject {
        type_id: encoding,
        body,
    }
    .into()
}

impl Server {
    fn new() -> Self {
        Self {
            endpoint: "opc.tcp://127.0.0.1:4840".parse().unwrap(),
            batches: Batches::default(),
            attributes: HashMap::new(),
            references: Vec::new(),
            is_endless: false,
            requests: 0,
        }
    }

    fn refer(&mut self, from: &NodeId, reference: u32, to: &NodeId, name: &str) {
        let name = QualifiedName::new(0, name);
        self.references
            .push((from.clone(), reference, to.clone(), name));
    }

    fn data_type(&mut self, id: u32, name: &str, supertype: NodeId) {
        let name = QualifiedName::new(2, name);
        let key = (own(id), Attribute::BrowseName as u32);
        self.attributes.insert(key, name.into());
        self.refer(&supertype, ids::HAS_SUBTYPE, &own(id), "");
    }

    fn define<T: Structure>(&mut self, id: u32, definition: &T) {
        let key = (own(id), Attribute::DataTypeDefinition as u32);
        let object = ExtensionObject::from_structure(definition);
        self.attributes.insert(key, object.into());
    }

    /// Adds a structure; its encoding has the NodeId 1000 higher.
    fn structure(&mut self, id: u32, name: &str, default: NodeId, fields: Vec<StructureField>) {
        self.data_type(id, name, standard(ids::STRUCTURE));
        let definition = StructureDefinition {
            default_encoding_id: default,
            structure_type: StructureType::Structure,
            fields,
            ..StructureDefinition::default()
        };
        self.define(id, &definition);
        self.refer(
            &own(id),
            ids::HAS_ENCODING,
            &own(id + 1000),
            "Default Binary",
        );
    }

    fn read(&self, node: &NodeId, attribute: u32) -> DataValue {
        if self.is_endless && attribute == Attribute::DataTypeDefinition as u32 {
            let next = match node.identifier {
                takt_ua::Identifier::Numeric(id) => id + 1,
                _ => 0,
            };
            let definition = StructureDefinition {
                fields: vec![
                    field("next", own(next)),
                    field("other", own(next + 1_000_000)),
                ],
                ..StructureDefinition::default()
            };
            return DataValue::good(ExtensionObject::from_structure(&definition));
        }
        match self.attributes.get(&(node.clone(), attribute)) {
            Some(value) => DataValue::good(value.clone()),
            None => DataValue::status(StatusCode::BadAttributeIdInvalid),
        }
    }

    fn browse(&self, description: &BrowseDescription) -> BrowseResult {
        let wanted = description.reference_type_id.standard_id();
        let forward = description.browse_direction == BrowseDirection::Forward;
        let found = self.references.iter().filter(|(from, reference, to, _)| {
            let near = if forward { from } else { to };
            Some(*reference) == wanted && *near == description.node_id
        });
        let references = found.map(|(from, _, to, name)| ReferenceDescription {
            node_id: if forward { to.clone() } else { from.clone() }.into(),
            browse_name: name.clone(),
            ..ReferenceDescription::default()
        });
        BrowseResult {
            references: references.collect(),
            ..BrowseResult::default()
        }
    }
}

impl Requests for Server {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn batches(&self) -> &Batches {
        &self.batches
    }

    async fn call<Q: ServiceRequest>(&mut self, request: Q) -> Result<Q::Response, ClientError> {
        self.requests += 1;
        let bytes = request.encode_to_vec();
        let mut decoder = Decoder::new(&bytes);
        let response = if Q::NAME == BrowseRequest::NAME {
            let request = BrowseRequest::decode(&mut decoder).unwrap();
            let nodes = request.nodes_to_browse.iter();
            let response = BrowseResponse {
                results: nodes.map(|node| self.browse(node)).collect(),
                ..BrowseResponse::default()
            };
            response.encode_to_vec()
        } else {
            let request = ReadRequest::decode(&mut decoder).unwrap();
            let nodes = request.nodes_to_read.iter();
            let response = ReadResponse {
                results: nodes
                    .map(|it| self.read(&it.node_id, it.attribute_id))
                    .collect(),
                ..ReadResponse::default()
            };
            response.encode_to_vec()
        };
        Ok(Q::Response::decode(&mut Decoder::new(&response)).unwrap())
    }
}

/// Learns what a value needs, and returns its text.
fn shown(
    server: &mut Server,
    cache: &mut DataTypeCache,
    data_type: &NodeId,
    value: &Variant,
) -> String {
    let values = [(Some(data_type), value)];
    for _ in 0..DEEPEST {
        let unknown = cache.unknown_encodings(&values);
        let declared = std::slice::from_ref(data_type);
        ready(server.learn_encodings(cache, &unknown, declared)).unwrap();
    }
    ready(server.learn_data_types(cache, std::slice::from_ref(data_type))).unwrap();
    let written = DescribedValues::new(cache.types(), EnumerationForm::Text);
    let text = written.text(value, Some(data_type));
    match written.take_undecoded().first() {
        Some(undecoded) => cache.reason(undecoded),
        None => text,
    }
}

#[test]
fn structures_are_found_by_their_encodings() {
    for default in [NodeId::NULL, own(1001), own(9999), own(1002)] {
        let mut server = Server::new();
        let fields = vec![field("x", own(3)), field("c", own(4)), field("in", own(2))];
        server.structure(1, "Outer", default, fields);
        server.structure(2, "Inner", NodeId::NULL, vec![field("b", standard(1))]);
        server.data_type(3, "Length", standard(3));
        server.data_type(4, "Color", standard(ids::ENUMERATION));
        let red = EnumField {
            value: 5,
            name: "Red".into(),
            ..EnumField::default()
        };
        server.define(4, &EnumDefinition { fields: vec![red] });
        let mut cache = DataTypeCache::default();
        let outer = object(own(1001), &[7, 5, 0, 0, 0, 1]);
        let text = shown(&mut server, &mut cache, &own(1), &outer);
        let expected = r#"{"$type":"2:Outer","x":7,"c":"Red (5)","in":{"b":true}}"#;
        assert_eq!(text, expected);
        let inner = object(own(1002), &[1]);
        let text = shown(&mut server, &mut cache, &own(2), &inner);
        assert_eq!(text, r#"{"$type":"2:Inner","b":true}"#);
        // Everything is known now.
        let requests = server.requests;
        let unknown = cache.unknown_encodings(&[(None, &outer), (None, &inner)]);
        assert!(unknown.is_empty());
        ready(server.learn_data_types(&mut cache, &[own(1), own(2), own(3)])).unwrap();
        assert_eq!(server.requests, requests);
    }
}

#[test]
fn an_encoding_that_is_no_node_is_that_of_the_variable_or_of_a_subtype() {
    let mut server = Server::new();
    server.structure(1, "Only", NodeId::NULL, vec![field("b", standard(1))]);
    let mut cache = DataTypeCache::default();
    // The NodeId of the DataType, and one that nothing knows.
    for encoding in [own(1), own(77)] {
        let text = shown(&mut server, &mut cache, &own(1), &object(encoding, &[1]));
        assert_eq!(text, r#"{"$type":"2:Only","b":true}"#);
    }
    // A subtype that has the encoding as DefaultEncodingId only.
    server.structure(2, "Sub", own(88), vec![field("s", standard(3))]);
    server.refer(&own(1), ids::HAS_SUBTYPE, &own(2), "");
    let mut cache = DataTypeCache::default();
    let text = shown(&mut server, &mut cache, &own(1), &object(own(88), &[9]));
    assert_eq!(text, r#"{"$type":"2:Sub","s":9}"#);
    // Two types are possible.
    let text = shown(&mut server, &mut cache, &own(1), &object(own(99), &[9]));
    assert!(text.contains("no DataType with this encoding"), "{text}");
}

#[test]
fn types_without_definition_are_told() {
    let mut server = Server::new();
    server.data_type(1, "Old", standard(ids::STRUCTURE));
    server.refer(&own(1), ids::HAS_ENCODING, &own(1001), "Default Binary");
    let mut cache = DataTypeCache::default();
    let old = object(own(1001), &[1]);
    let text = shown(&mut server, &mut cache, &own(1), &old);
    assert!(
        text.contains("ns=2;i=1: it has no DataTypeDefinition"),
        "{text}"
    );
    let requests = server.requests;
    assert!(cache.unknown_encodings(&[(None, &old)]).is_empty());
    assert_eq!(server.requests, requests);
    // An enumeration with EnumStrings.
    server.data_type(2, "Mode", standard(ids::ENUMERATION));
    server.refer(&own(2), ids::HAS_PROPERTY, &own(20), "EnumStrings");
    let names = vec![LocalizedText::from("Off"), LocalizedText::from("On")];
    let key = (own(20), Attribute::Value as u32);
    server.attributes.insert(key, names.into());
    let text = shown(&mut server, &mut cache, &own(2), &Variant::Int32(1));
    assert_eq!(text, "On (1)");
    // A DataType that does not exist.
    let text = shown(&mut server, &mut cache, &own(3), &Variant::Int32(1));
    assert_eq!(text, "1");
    assert!(cache.refusal(&own(3)).is_some());
}

#[test]
fn structures_are_found_by_their_names() {
    let mut server = Server::new();
    server.structure(1, "Point", NodeId::NULL, vec![field("b", standard(1))]);
    server.references[0].3 = QualifiedName::new(2, "Point");
    for name in ["Point", "2:Point", "ns=2;i=1"] {
        let mut cache = DataTypeCache::default();
        ready(server.learn_named(&mut cache, &[name.to_owned()])).unwrap();
        assert!(cache.types().contains_name(name), "{name}");
    }
}

#[test]
fn a_server_cannot_describe_types_without_end() {
    let mut server = Server::new();
    server.is_endless = true;
    let mut cache = DataTypeCache::default();
    ready(server.learn_data_types(&mut cache, &[own(1)])).unwrap();
    assert!(cache.count <= MOST_TYPES);
    assert!(server.requests < 10 * MOST_TYPES);

    let mut server = Server::new();
    let long = vec![field(&"x".repeat(LONGEST_NAME + 1), standard(1))];
    server.structure(1, "Long", NodeId::NULL, long);
    let many = vec![field(&"x".repeat(LONGEST_NAME), standard(1)); 5_000];
    for id in 2..10 {
        server.structure(id, "Many", NodeId::NULL, many.clone());
    }
    let mut cache = DataTypeCache::default();
    let all: Vec<NodeId> = (1..10).map(own).collect();
    for id in &all {
        ready(server.learn_data_types(&mut cache, std::slice::from_ref(id))).unwrap();
    }
    assert!(cache.refusal(&own(1)).unwrap().contains("2048"));
    assert!(cache.types().is_structure(&own(2)));
    assert!(cache.refusal(&own(9)).unwrap().contains("too large"));
}
