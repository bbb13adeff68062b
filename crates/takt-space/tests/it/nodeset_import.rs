//! NodeSet documents in the address space: imported nodes and refused documents.

use std::path::Path;

use takt_rt::memory_budget::MemoryBudget;
use takt_space::{AddressSpace, ImportError, ImportReason, TargetRef, Value};
use takt_ua::binary::{Decode, Decoder};
use takt_ua::enumerations::NodeClass;
use takt_ua::{ExtensionObjectBody, NodeId, StatusCode, Variant, ids};

const MACHINE: &str = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd" xmlns:uax="http://opcfoundation.org/UA/2008/02/Types.xsd">
  <NamespaceUris><Uri>urn:machine</Uri><Uri>urn:parts</Uri></NamespaceUris>
  <Models><Model ModelUri="urn:machine" PublicationDate="2024-05-01T00:00:00Z">
    <RequiredModel ModelUri="http://opcfoundation.org/UA/" PublicationDate="2022-11-01T00:00:00Z"/>
    <RequiredModel ModelUri="urn:parts" Version="2.0" PublicationDate="2024-01-01T00:00:00Z"/>
  </Model></Models>
  <Aliases><Alias Alias="HasComponent">i=47</Alias><Alias Alias="HasTypeDefinition">i=40</Alias><Alias Alias="HasSubtype">i=45</Alias></Aliases>
  <UAObjectType NodeId="ns=1;i=1" BrowseName="1:MachineType"><DisplayName>A machine</DisplayName>
    <References>
      <Reference ReferenceType="HasSubtype" IsForward="false">i=58</Reference>
      <Reference ReferenceType="HasComponent">ns=1;i=2</Reference>
    </References>
  </UAObjectType>
  <UAVariable NodeId="ns=1;i=2" BrowseName="1:Speed" DataType="i=11" AccessLevel="3">
    <References>
      <Reference ReferenceType="HasComponent" IsForward="false">ns=1;i=1</Reference>
      <Reference ReferenceType="HasTypeDefinition">i=63</Reference>
      <Reference ReferenceType="ns=2;i=9">ns=2;i=777</Reference>
    </References>
    <Value><uax:Double>12.5</uax:Double></Value>
  </UAVariable>
  <UADataType NodeId="ns=1;i=3" BrowseName="1:Point3D">
    <References><Reference ReferenceType="HasSubtype" IsForward="false">ns=2;i=3</Reference></References>
    <Definition Name="1:Point3D"><Field Name="Z" DataType="i=11"/></Definition>
  </UADataType>
  <UAObject NodeId="ns=1;i=4" BrowseName="Default Binary">
    <References><Reference ReferenceType="i=38" IsForward="false">ns=1;i=3</Reference><Reference ReferenceType="HasTypeDefinition">i=76</Reference></References>
  </UAObject>
  <UAObject NodeId="ns=1;i=5" BrowseName="Default XML">
    <References><Reference ReferenceType="i=38" IsForward="false">ns=1;i=3</Reference><Reference ReferenceType="HasTypeDefinition">i=76</Reference></References>
  </UAObject>
  <UAVariable NodeId="ns=1;i=6" BrowseName="1:Place" DataType="ns=1;i=3">
    <References><Reference ReferenceType="HasTypeDefinition">i=63</Reference></References>
    <Value><uax:ExtensionObject><uax:TypeId><uax:Identifier>ns=1;i=5</uax:Identifier></uax:TypeId>
      <uax:Body><Point3D xmlns="urn:machine/Types"><X>1</X><Y>2</Y><Z>3</Z></Point3D></uax:Body></uax:ExtensionObject></Value>
  </UAVariable>
</UANodeSet>"#;

const PARTS: &str = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd" xmlns:uax="http://opcfoundation.org/UA/2008/02/Types.xsd">
  <NamespaceUris><Uri>urn:parts</Uri></NamespaceUris>
  <Models><Model ModelUri="urn:parts" PublicationDate="2024-01-01T00:00:00Z"><RequiredModel ModelUri="http://opcfoundation.org/UA/"/></Model></Models>
  <UADataType NodeId="ns=1;i=3" BrowseName="1:Point2D">
    <References><Reference ReferenceType="i=45" IsForward="false">i=22</Reference></References>
    <Definition Name="1:Point2D"><Field Name="X" DataType="i=11"/><Field Name="Y" DataType="i=11"/></Definition>
  </UADataType>
  <UAReferenceType NodeId="ns=1;i=9" BrowseName="1:DrivenBy">
    <References><Reference ReferenceType="i=45" IsForward="false">i=32</Reference></References><InverseName>Drives</InverseName>
  </UAReferenceType>
  <UAObject NodeId="ns=1;i=20" BrowseName="1:urn:parts">
    <References><Reference ReferenceType="i=40">i=11616</Reference><Reference ReferenceType="i=47" IsForward="false">i=11715</Reference></References>
  </UAObject>
  <UAVariable NodeId="ns=1;i=21" BrowseName="NamespacePublicationDate" DataType="i=13">
    <References><Reference ReferenceType="i=40">i=68</Reference><Reference ReferenceType="i=46" IsForward="false">ns=1;i=20</Reference></References>
    <Value><uax:DateTime>2024-01-01T00:00:00Z</uax:DateTime></Value>
  </UAVariable>
</UANodeSet>"#;

fn space() -> AddressSpace {
    let memory = MemoryBudget::new(64 << 20);
    let space = AddressSpace::new("urn:test", 100, 100_000, memory);
    space.namespaces().register("urn:other").unwrap();
    space
}

fn stored(space: &AddressSpace, node_id: &NodeId) -> Variant {
    match space.view().node(node_id).unwrap().value() {
        Some(Value::Stored(stored)) => stored.get().value.unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_document_with_many_namespaces_takes_free_indices() {
    let space = space();
    let first = space.namespaces().register("urn:old:0").unwrap();
    for number in 1..20 {
        let uri = format!("urn:old:{number}");
        space.namespaces().register(&uri).unwrap();
    }
    for index in (first..first + 20).rev() {
        space.namespaces().release(index);
    }
    let uris: String = (0..30)
        .map(|number| format!("<Uri>urn:new:{number}</Uri>"))
        .collect();
    let xml = format!(
        r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
  <NamespaceUris>{uris}</NamespaceUris>
  <UAObject NodeId="ns=30;i=1" BrowseName="30:Press">
    <References>
      <Reference ReferenceType="i=40">i=61</Reference>
      <Reference ReferenceType="i=35" IsForward="false">i=85</Reference>
    </References>
  </UAObject>
</UANodeSet>"#
    );
    let imported = space.import_nodeset("many.xml", &xml).unwrap();
    assert_eq!(imported.nodes, 1);
    let last = space.namespaces().index_of("urn:new:29").unwrap();
    assert!(space.view().node(&NodeId::numeric(last, 1)).is_some());
}

#[test]
fn documents_become_nodes() {
    let space = space();
    // The documents are in the wrong order, on purpose.
    let imported = space
        .import_nodesets(&[("machine.xml", MACHINE), ("parts.xml", PARTS)])
        .unwrap();
    let names: Vec<_> = imported
        .iter()
        .map(|import| (import.name.as_str(), import.nodes))
        .collect();
    assert_eq!(names, [("parts.xml", 4), ("machine.xml", 6)]);
    assert_eq!(imported[1].models, ["urn:machine"]);
    let parts = space.namespaces().index_of("urn:parts").unwrap();
    let machine = space.namespaces().index_of("urn:machine").unwrap();
    assert_eq!((parts, machine), (3, 4));

    let view = space.view();
    let speed = NodeId::numeric(machine, 2);
    let node = view.node(&speed).unwrap();
    assert_eq!(
        (node.node_class(), node.browse_name().name),
        (NodeClass::Variable, Some("Speed"))
    );
    let variable = node.variable().unwrap();
    assert_eq!(
        (variable.data_type.standard_id(), variable.access_level),
        (Some(11), 3)
    );
    assert_eq!(stored(&space, &speed), Variant::from(12.5));
    let machine_type = view.node(&NodeId::numeric(machine, 1)).unwrap();
    assert_eq!(machine_type.display_name().text, Some("A machine"));

    // The document lists the reference at both nodes, and it is added once; it is also listed by the standard's nodes.
    let components = view.children(&NodeId::numeric(machine, 1), ids::HAS_COMPONENT);
    assert_eq!(components, std::slice::from_ref(&speed));
    assert!(
        view.children(ids::BASE_OBJECT_TYPE, ids::HAS_SUBTYPE)
            .contains(&NodeId::numeric(machine, 1))
    );
    assert!(view.is_subtype_of(&NodeId::numeric(machine, 3), ids::STRUCTURE));
    assert_eq!(view.type_definition(&speed), Some(NodeId::from(63)));

    // The node at the other end does not exist; the reference does.
    let [dangling] = imported[1].dangling.as_slice() else {
        panic!()
    };
    assert_eq!(
        (dangling.line, &dangling.node_id, &dangling.target),
        (18, &speed, &NodeId::numeric(parts, 777))
    );
    let references = node.references();
    let driven_by = NodeId::numeric(parts, 9);
    let target = NodeId::numeric(parts, 777);
    assert!(references.iter().any(|reference| {
        reference.reference_type == driven_by
            && reference.is_forward
            && reference.target == TargetRef::Local(target.as_ref())
    }));
}

#[test]
fn structures_are_defined_and_encoded() {
    let space = space();
    space
        .import_nodesets(&[("parts.xml", PARTS), ("machine.xml", MACHINE)])
        .unwrap();
    let Variant::ExtensionObject(place) = stored(&space, &NodeId::numeric(4, 6)) else {
        panic!()
    };
    assert_eq!(place.type_id, NodeId::numeric(4, 4));
    let ExtensionObjectBody::Binary(bytes) = &place.body else {
        panic!("{place:?}")
    };
    let mut decoder = Decoder::new(bytes);
    assert_eq!(
        [(); 3].map(|()| f64::decode(&mut decoder).unwrap()),
        [1.0, 2.0, 3.0]
    );

    let view = space.view();
    let definition = view.structure_definition(&NodeId::numeric(4, 3)).unwrap();
    let names: Vec<_> = definition
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    assert_eq!(names, ["X", "Y", "Z"]);
    assert_eq!(definition.base_data_type, NodeId::numeric(3, 3));
    assert_eq!(definition.default_encoding_id, NodeId::numeric(4, 4));
}

fn refused(space: &AddressSpace, xml: &str) -> ImportError {
    let namespaces = space.namespaces().all();
    let error = space.import_nodeset("bad.xml", xml).unwrap_err();
    assert_eq!(
        space.namespaces().all(),
        namespaces,
        "a refused document changes nothing"
    );
    error
}

#[test]
fn missing_and_old_models_are_named() {
    let space = space();
    assert_eq!(
        refused(&space, MACHINE).to_string(),
        "bad.xml:5: the model urn:parts (version 2.0, published 2024-01-01T00:00:00Z) is required but missing; \
         import the NodeSet of that model as well"
    );
    // The model is still missing if only its URI is registered as a namespace.
    space.namespaces().register("urn:parts").unwrap();
    assert!(
        refused(&space, MACHINE)
            .to_string()
            .contains("is required but missing")
    );

    space.import_nodeset("parts.xml", PARTS).unwrap();
    assert!(
        refused(&space, PARTS)
            .to_string()
            .ends_with("the model urn:parts is loaded already; import each model once")
    );
    let newer = PARTS.replace("urn:parts", "urn:newer").replace(
        "\"http://opcfoundation.org/UA/\"",
        "\"http://opcfoundation.org/UA/\" PublicationDate=\"2999-01-01T00:00:00Z\"",
    );
    let error = refused(&space, &newer).to_string();
    assert!(error.starts_with("bad.xml:3: the model http://opcfoundation.org/UA/ published 2999-01-01T00:00:00Z or later is required"), "{error}");
    // The publication date of an imported model is found as well.
    let newer = MACHINE.replace("2024-01-01", "2025-01-01");
    let error = refused(&space, &newer).to_string();
    assert!(
        error.contains("but the loaded one was published 2024-01-01T00:00:00Z"),
        "{error}"
    );
}

#[test]
fn invalid_documents_are_refused_without_change() {
    let space = space();
    space.import_nodeset("parts.xml", PARTS).unwrap();
    for (from, to, expected) in [
        (
            "ReferenceType=\"ns=2;i=9\"",
            "ReferenceType=\"ns=2;i=10\"",
            "bad.xml:18: ns=3;i=10 is not a ReferenceType",
        ),
        (
            "ReferenceType=\"ns=2;i=9\"",
            "ReferenceType=\"i=58\"",
            "bad.xml:18: i=58 is not a ReferenceType",
        ),
        (
            "DataType=\"i=11\" AccessLevel",
            "DataType=\"i=1111111\" AccessLevel",
            "bad.xml:14: i=1111111 is used as DataType but does not exist",
        ),
        (
            "<Field Name=\"Z\" DataType=\"i=11\"/>",
            "<Field Name=\"Z\" DataType=\"ns=1;i=99\"/>",
            "bad.xml:22: ns=4;i=99 is used as DataType of a field",
        ),
        (
            "\"HasTypeDefinition\">i=63<",
            "\"HasTypeDefinition\">i=64000<",
            "bad.xml:17: i=64000 is used as TypeDefinition",
        ),
        (
            "IsForward=\"false\">i=58<",
            "IsForward=\"false\">i=63<",
            "bad.xml:10: i=63 is used as supertype",
        ),
        (
            "NodeId=\"ns=1;i=2\"",
            "NodeId=\"i=3000000\"",
            "bad.xml:14: i=3000000 belongs to namespace 0",
        ),
        (
            "NodeId=\"ns=1;i=2\"",
            "NodeId=\"ns=2;i=9\"",
            "bad.xml:14: a node ns=3;i=9 exists already",
        ),
        (
            "IsForward=\"false\">ns=2;i=3<",
            "IsForward=\"false\">ns=1;i=3<",
            "bad.xml:22: the supertypes of ns=4;i=3 form a cycle",
        ),
        (
            "<uax:Double>12.5</uax:Double>",
            "<uax:Double>fast</uax:Double>",
            "bad.xml:20:12: Double is \"fast\"",
        ),
        (
            "BrowseName=\"1:Speed\"",
            "BrowseName=\"3:Speed\"",
            "bad.xml:14:3: namespace index 3 is not declared",
        ),
    ] {
        let xml = MACHINE.replacen(from, to, 1);
        assert_ne!(xml, MACHINE, "{from}");
        let error = refused(&space, &xml).to_string();
        assert!(error.starts_with(expected), "{error}");
        assert!(error.contains("; "), "{error} has no advice");
        assert!(space.namespaces().index_of("urn:machine").is_none());
    }
    space.import_nodeset("machine.xml", MACHINE).unwrap();
}

#[test]
fn namespace_0_is_not_imported_again() {
    let space = space();
    let xml = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
        <Models><Model ModelUri="http://opcfoundation.org/UA/"/></Models><UAObject NodeId="i=85" BrowseName="Objects"/></UANodeSet>"#;
    let ImportError::Import { reason, .. } = refused(&space, xml) else {
        panic!()
    };
    assert_eq!(
        *reason,
        ImportReason::ModelExists("http://opcfoundation.org/UA/".into())
    );
}

#[test]
fn a_variable_without_a_value_waits_for_one() {
    let space = space();
    let xml = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd"><NamespaceUris><Uri>urn:v</Uri></NamespaceUris>
        <UAVariable NodeId="ns=1;i=1" BrowseName="1:V" DataType="i=11"/></UANodeSet>"#;
    space.import_nodeset("v.xml", xml).unwrap();
    let Some(Value::Stored(stored)) = space.view().node(&NodeId::numeric(3, 1)).unwrap().value()
    else {
        panic!()
    };
    assert_eq!(
        stored.get().status,
        Some(StatusCode::BadWaitingForInitialData)
    );
}

#[test]
fn the_registrys_own_model_is_importable() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nodesets/Takt.Registry.NodeSet2.xml");
    let xml = std::fs::read_to_string(&file).unwrap();
    let imported = space()
        .import_nodeset("Takt.Registry.NodeSet2.xml", &xml)
        .unwrap();
    assert_eq!(imported.dangling, []);
}

/// Types and their instance declarations are imported, and no other Object, Method or Variable.
#[test]
fn types_are_importable_without_instances() {
    let space = space();
    let imported = space
        .import_types("types.xml", TYPES_AND_INSTANCES)
        .unwrap();
    assert_eq!((imported.nodes, imported.dangling.len()), (3, 0));
    let view = space.view();
    let exists = |id| view.node(&NodeId::numeric(3, id)).is_some();
    assert_eq!([1, 2, 3].map(exists), [true; 3]);
    assert_eq!([4, 5].map(exists), [false; 2]);
    let references = view.node(&NodeId::numeric(0, 85)).unwrap().references();
    assert!(references.iter().all(|reference| {
        let target = reference.local_target();
        target.is_none_or(|target| target.namespace == 0)
    }));
}

const TYPES_AND_INSTANCES: &str = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
  <NamespaceUris><Uri>urn:types</Uri></NamespaceUris>
  <UAObjectType NodeId="ns=1;i=1" BrowseName="1:PumpType">
    <References><Reference ReferenceType="i=45" IsForward="false">i=58</Reference></References>
  </UAObjectType>
  <UAObject NodeId="ns=1;i=2" BrowseName="1:Motor" ParentNodeId="ns=1;i=1">
    <References>
      <Reference ReferenceType="i=47" IsForward="false">ns=1;i=1</Reference>
      <Reference ReferenceType="i=40">i=58</Reference>
    </References>
  </UAObject>
  <UAVariable NodeId="ns=1;i=3" BrowseName="1:Speed" ParentNodeId="ns=1;i=2" DataType="i=11">
    <References>
      <Reference ReferenceType="i=47" IsForward="false">ns=1;i=2</Reference>
      <Reference ReferenceType="i=40">i=63</Reference>
    </References>
  </UAVariable>
  <UAObject NodeId="ns=1;i=4" BrowseName="1:Pump1" ParentNodeId="i=85">
    <References>
      <Reference ReferenceType="i=35" IsForward="false">i=85</Reference>
      <Reference ReferenceType="i=40">ns=1;i=1</Reference>
    </References>
  </UAObject>
  <UAVariable NodeId="ns=1;i=5" BrowseName="1:Speed" ParentNodeId="ns=1;i=4" DataType="i=11">
    <References>
      <Reference ReferenceType="i=47" IsForward="false">ns=1;i=4</Reference>
      <Reference ReferenceType="i=40">i=63</Reference>
    </References>
  </UAVariable>
</UANodeSet>"#;

/// Tests all companion NodeSets of the npm package, in the order of their names; does nothing without the package.
#[test]
fn companion_specifications_import_together() {
    let folder = "../../.cache/node-opcua-nodesets-2.182.0/package/nodesets";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!(
            "skipped: no {}; run `cargo xtask generate --check`",
            folder.display()
        );
        return;
    };
    let mut documents = Vec::new();
    for path in entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
    {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        if name.ends_with(".xml") && name != "Opc.Ua.NodeSet2.xml" && text.contains("<UANodeSet") {
            documents.push((name, text));
        }
    }
    documents.sort();
    let space = space();
    let started = std::time::Instant::now();
    let imported = space
        .import_nodesets(&documents)
        .unwrap_or_else(|error| panic!("{error}"));
    let nodes: usize = imported.iter().map(|import| import.nodes).sum();
    println!(
        "{} documents, {nodes} nodes, {:?}",
        imported.len(),
        started.elapsed()
    );
    assert_eq!(imported.len(), 34);
    for import in &imported {
        for dangling in &import.dangling {
            println!(
                "{}:{}: {} refers to {}, which does not exist",
                import.name, dangling.line, dangling.node_id, dangling.target
            );
        }
    }
    // These references lead to entries of a later edition of the IRDI dictionary.
    let dangling: usize = imported.iter().map(|import| import.dangling.len()).sum();
    assert_eq!(dangling, 13);

    // Structures are binary, regardless of the model that defines them.
    let (mut binary, mut xml) = (0, Vec::new());
    let view = space.view();
    for (name, text) in &documents {
        let document =
            takt_nodeset::NodeSetDocument::parse(name, text, &takt_nodeset::ParseLimits::DEFAULT)
                .unwrap();
        let nodeset = document
            .nodes(|uri| space.namespaces().index_of(uri).unwrap())
            .unwrap();
        for node in &nodeset.nodes {
            let Some(Value::Stored(stored)) = view.node(&node.node_id).unwrap().value() else {
                continue;
            };
            let objects = match stored.get().value {
                Some(Variant::ExtensionObject(object)) => vec![*object],
                Some(Variant::Array(array)) => match array.elements {
                    takt_ua::Elements::ExtensionObject(objects) => objects,
                    _ => continue,
                },
                _ => continue,
            };
            for object in objects {
                match object.body {
                    ExtensionObjectBody::Binary(_) => binary += 1,
                    ExtensionObjectBody::Xml(body) => {
                        xml.push(format!("{name}:{}: {} {body}", node.line, object.type_id))
                    }
                    ExtensionObjectBody::None => {}
                }
            }
        }
    }
    println!("{binary} structures are binary, {} XML", xml.len());
    for line in &xml {
        println!("{}", line.chars().take(300).collect::<String>());
    }
    assert!(binary > 3000);
}
