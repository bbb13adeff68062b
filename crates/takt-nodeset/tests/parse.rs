//! What documents say, and what is said about wrong ones.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests"
)]

use takt_nodeset::{Attributes, NodeSet, NodeSetDocument, ParseLimits, Reason};
use takt_ua::enumerations::{BrowseDirection, NodeClass, StructureType};
use takt_ua::structures::{
    Argument, BrowseDescription, DataSetMetaDataType, EUInformation, StructureField,
};
use takt_ua::{
    Array, DateTime, Elements, ExtensionObject, ExtensionObjectBody, Guid, LocalizedText, NodeId,
    QualifiedName, StatusCode, UaString, Variant,
};

const MACHINE: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd" xmlns:uax="http://opcfoundation.org/UA/2008/02/Types.xsd">
  <NamespaceUris>
    <Uri>http://example.org/machine</Uri>
    <Uri>http://example.org/units</Uri>
  </NamespaceUris>
  <Models>
    <Model ModelUri="http://example.org/machine" Version="1.2" PublicationDate="2024-05-01T00:00:00Z">
      <RequiredModel ModelUri="http://opcfoundation.org/UA/" Version="1.05" PublicationDate="2022-11-01T00:00:00Z"/>
      <RequiredModel ModelUri="http://example.org/units"/>
    </Model>
  </Models>
  <Aliases>
    <Alias Alias="Double">i=11</Alias>
    <Alias Alias="HasComponent">i=47</Alias>
    <Alias Alias="HasTypeDefinition">i=40</Alias>
    <Alias Alias="Unit">ns=2;s=Unit</Alias>
  </Aliases>
  <Extensions><Extension><other xmlns="urn:tool">anything</other></Extension></Extensions>
  <UAObjectType NodeId="ns=1;i=1" BrowseName="1:MachineType" IsAbstract="true">
    <DisplayName>Machine</DisplayName>
    <DisplayName Locale="de">Maschine</DisplayName>
    <Description>What cuts.</Description>
    <References>
      <Reference ReferenceType="HasComponent">ns=1;s=Speed</Reference>
      <Reference ReferenceType="i=45" IsForward="false">i=58</Reference>
    </References>
  </UAObjectType>
  <UAVariable NodeId="ns=1;s=Speed" BrowseName="1:Speed" ParentNodeId="ns=1;i=1" DataType="Double" AccessLevel="3"
              ValueRank="1" ArrayDimensions="2" MinimumSamplingInterval="10" Historizing="true">
    <Value><uax:ListOfDouble><uax:Double>1.5</uax:Double><uax:Double>-INF</uax:Double></uax:ListOfDouble></Value>
  </UAVariable>
  <UAVariable NodeId="ns=1;i=3" BrowseName="Plain" DataType="Unit"/>
  <UAMethod NodeId="ns=1;i=4" BrowseName="1:a:b" Executable="false" MethodDeclarationId="ns=1;i=40"/>
  <UAReferenceType NodeId="ns=1;i=5" BrowseName="1:Drives"><InverseName>DrivenBy</InverseName></UAReferenceType>
  <UAReferenceType NodeId="ns=1;i=6" BrowseName="1:Beside" Symmetric="true"/>
  <UAVariableType NodeId="ns=1;i=7" BrowseName="1:SpeedType" DataType="Double" ValueRank="-2"/>
  <UAView NodeId="ns=1;i=8" BrowseName="1:View" ContainsNoLoops="true" EventNotifier="1"/>
  <UAObject NodeId="ns=1;g=72962b91-fa75-4ae6-8d28-b404dc7daf63" BrowseName="1:Object" EventNotifier="5">
    <RolePermissions><RolePermission Permissions="33">i=15644</RolePermission></RolePermissions>
  </UAObject>
  <UADataType NodeId="ns=1;i=9" BrowseName="1:Point">
    <Definition Name="1:Point">
      <Field Name="X" DataType="Double"><Description>across</Description></Field>
      <Field Name="Y" DataType="Double" IsOptional="true" ValueRank="1" ArrayDimensions="0"/>
    </Definition>
  </UADataType>
  <UADataType NodeId="ns=1;i=10" BrowseName="1:State">
    <Definition Name="1:State"><Field Name="Off" Value="0"/><Field Name="On" Value="1"><DisplayName>an</DisplayName></Field></Definition>
  </UADataType>
</UANodeSet>"#;

fn machine() -> NodeSet {
    NodeSet::parse("machine.xml", MACHINE).unwrap()
}

#[test]
fn header() {
    let nodeset = machine();
    assert_eq!(
        nodeset.namespace_uris,
        [
            "http://opcfoundation.org/UA/",
            "http://example.org/machine",
            "http://example.org/units"
        ]
    );
    let [model] = nodeset.models.as_slice() else {
        panic!()
    };
    assert_eq!(
        (model.uri.as_str(), model.version.as_deref()),
        ("http://example.org/machine", Some("1.2"))
    );
    assert_eq!(model.publication_date, "2024-05-01T00:00:00Z".parse().ok());
    let [ua, units] = model.required_models.as_slice() else {
        panic!()
    };
    assert_eq!(
        (ua.uri.as_str(), ua.line),
        ("http://opcfoundation.org/UA/", 9)
    );
    assert_eq!(
        (units.uri.as_str(), units.publication_date),
        ("http://example.org/units", None)
    );
}

#[test]
fn nodes_of_every_class() {
    let nodeset = machine();
    let classes: Vec<_> = nodeset.nodes.iter().map(|node| node.class()).collect();
    use NodeClass as C;
    let expected = [
        C::ObjectType,
        C::Variable,
        C::Variable,
        C::Method,
        C::ReferenceType,
        C::ReferenceType,
        C::VariableType,
        C::View,
        C::Object,
        C::DataType,
        C::DataType,
    ];
    assert_eq!(classes, expected);

    let machine = &nodeset.nodes[0];
    assert_eq!(machine.node_id, NodeId::numeric(1, 1));
    assert_eq!(
        machine.browse_name,
        QualifiedName {
            namespace: 1,
            name: "MachineType".into()
        }
    );
    assert_eq!(machine.display_name[0], LocalizedText::from("Machine"));
    assert_eq!(machine.display_name[1].locale.as_str(), "de");
    assert_eq!(machine.description[0], LocalizedText::from("What cuts."));
    assert_eq!(
        machine.attributes,
        Attributes::ObjectType { is_abstract: true }
    );
    let [component, supertype] = machine.references.as_slice() else {
        panic!()
    };
    assert_eq!(
        (&component.reference_type, component.is_forward),
        (&NodeId::from(47), true)
    );
    assert_eq!(component.target, NodeId::string(1, "Speed"));
    assert_eq!(
        (&supertype.target, supertype.is_forward, supertype.line),
        (&NodeId::from(58), false, 26)
    );

    let Attributes::Variable(speed) = &nodeset.nodes[1].attributes else {
        panic!()
    };
    assert_eq!(
        (
            speed.access_level,
            speed.user_access_level,
            speed.historizing
        ),
        (3, 1, true)
    );
    assert_eq!(
        (speed.minimum_sampling_interval, speed.value.value_rank),
        (10.0, 1)
    );
    assert_eq!(
        (
            &speed.value.data_type,
            speed.value.array_dimensions.as_slice()
        ),
        (&NodeId::from(11), &[2][..])
    );
    assert_eq!(
        nodeset.nodes[1].value(),
        Some(&Variant::from(vec![1.5, f64::NEG_INFINITY]))
    );
    assert_eq!(nodeset.nodes[1].parent, Some(NodeId::numeric(1, 1)));

    let Attributes::Variable(plain) = &nodeset.nodes[2].attributes else {
        panic!()
    };
    assert_eq!((plain.access_level, plain.value.value_rank), (1, -1));
    assert_eq!(plain.value.data_type, NodeId::string(2, "Unit"));
    assert_eq!(
        nodeset.nodes[2].display_name,
        [LocalizedText::from("Plain")]
    );
    assert_eq!(
        nodeset.nodes[2].browse_name,
        QualifiedName {
            namespace: 0,
            name: "Plain".into()
        }
    );

    let declaration = Some(NodeId::numeric(1, 40));
    assert_eq!(
        nodeset.nodes[3].attributes,
        Attributes::Method {
            executable: false,
            declaration
        }
    );
    assert_eq!(nodeset.nodes[3].browse_name.name.as_str(), "a:b");
    let inverse_name = vec![LocalizedText::from("DrivenBy")];
    assert_eq!(
        nodeset.nodes[4].attributes,
        Attributes::ReferenceType {
            is_abstract: false,
            symmetric: false,
            inverse_name
        }
    );
    assert_eq!(
        nodeset.nodes[7].attributes,
        Attributes::View {
            contains_no_loops: true,
            event_notifier: 1
        }
    );
    assert_eq!(nodeset.nodes[8].role_permissions[0].permissions, 33);
    let guid: Guid = "72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().unwrap();
    assert_eq!(nodeset.nodes[8].node_id, NodeId::guid(1, guid));
}

#[test]
fn definitions() {
    let nodeset = machine();
    let point = nodeset.nodes[9].definition().unwrap();
    assert!(!point.is_enumeration());
    let inherited = [StructureField {
        name: "Base".into(),
        ..Default::default()
    }];
    let structure = point.to_structure(NodeId::from(22), NodeId::numeric(1, 99), &inherited);
    assert_eq!(
        structure.structure_type,
        StructureType::StructureWithOptionalFields
    );
    let names: Vec<_> = structure
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    assert_eq!(names, ["Base", "X", "Y"]);
    assert_eq!(
        (
            structure.fields[2].value_rank,
            structure.fields[2].is_optional
        ),
        (1, true)
    );
    assert_eq!(structure.fields[1].description.text.as_str(), "across");

    let state = nodeset.nodes[10].definition().unwrap();
    assert!(state.is_enumeration());
    let state = state.to_enumeration();
    assert_eq!(
        (state.fields[1].value, state.fields[1].name.as_str()),
        (1, "On")
    );
    assert_eq!(state.fields[0].display_name, LocalizedText::from("Off"));
    assert_eq!(state.fields[1].display_name, LocalizedText::from("an"));
}

#[test]
fn namespaces_are_mapped_wherever_they_occur() {
    let document = NodeSetDocument::parse("machine.xml", MACHINE, &ParseLimits::DEFAULT).unwrap();
    assert_eq!(document.models().len(), 1);
    let nodeset = document
        .nodes(|uri| if uri.ends_with("machine") { 7 } else { 300 })
        .unwrap();
    assert_eq!(nodeset.nodes[0].node_id, NodeId::numeric(7, 1));
    assert_eq!(nodeset.nodes[0].browse_name.namespace, 7);
    assert_eq!(
        nodeset.nodes[0].references[0].target,
        NodeId::string(7, "Speed")
    );
    assert_eq!(nodeset.nodes[0].references[1].target, NodeId::from(58));
    assert_eq!(
        nodeset.nodes[2].value_attributes().unwrap().data_type,
        NodeId::string(300, "Unit")
    );
}

// ---- values

fn with_value(value: &str) -> String {
    format!(
        r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
<NamespaceUris><Uri>urn:one</Uri></NamespaceUris>
<UAVariable NodeId="ns=1;i=1" BrowseName="1:V"><Value xmlns="http://opcfoundation.org/UA/2008/02/Types.xsd"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{value}</Value></UAVariable></UANodeSet>"#
    )
}

fn value(xml: &str) -> Variant {
    let text = with_value(xml).replace(
        "<Value xmlns=",
        "<n:Value xmlns:n='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd' xmlns=",
    );
    let text = text.replace("</Value></UAVariable>", "</n:Value></UAVariable>");
    // Namespace 1 of the document is 5 of the server.
    let document = NodeSetDocument::parse("value.xml", &text, &ParseLimits::DEFAULT).unwrap();
    let nodeset = document
        .nodes(|_| 5)
        .unwrap_or_else(|error| panic!("{error}"));
    nodeset.nodes[0].value().unwrap().clone()
}

#[test]
fn scalars() {
    let text = |text: &str| UaString::from(text);
    for (xml, expected) in [
        ("<Boolean>true</Boolean>", Variant::from(true)),
        ("<SByte>-128</SByte>", Variant::from(-128i8)),
        ("<Byte> 255 </Byte>", Variant::from(255u8)),
        (
            "<Int64>-9223372036854775808</Int64>",
            Variant::from(i64::MIN),
        ),
        (
            "<UInt64>18446744073709551615</UInt64>",
            Variant::from(u64::MAX),
        ),
        ("<Float>1.5</Float>", Variant::from(1.5f32)),
        ("<Double>INF</Double>", Variant::from(f64::INFINITY)),
        (
            "<String> a &lt; b<!-- not this --><![CDATA[ & c]]></String>",
            Variant::String(text(" a < b & c")),
        ),
        ("<String/>", Variant::String(text(""))),
        (
            "<String xsi:nil='true'/>",
            Variant::String(UaString::null()),
        ),
        (
            "<DateTime>2024-02-29T12:30:00+01:00</DateTime>",
            Variant::DateTime("2024-02-29T11:30:00Z".parse().unwrap()),
        ),
        (
            "<DateTime>0001-01-01T00:00:00</DateTime>",
            Variant::DateTime(DateTime::MIN),
        ),
        (
            "<Guid><String>72962B91-FA75-4AE6-8D28-B404DC7DAF63</String></Guid>",
            Variant::Guid("72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().unwrap()),
        ),
        (
            "<ByteString>AAEC\n/w==</ByteString>",
            Variant::ByteString((&[0, 1, 2, 255]).into()),
        ),
        (
            "<NodeId><Identifier>ns=1;i=4</Identifier></NodeId>",
            Variant::NodeId(Box::new(NodeId::numeric(5, 4))),
        ),
        ("<NodeId/>", Variant::NodeId(Box::default())),
        (
            "<StatusCode><Code>2147483648</Code></StatusCode>",
            Variant::StatusCode(StatusCode(0x8000_0000)),
        ),
        (
            "<QualifiedName><NamespaceIndex>1</NamespaceIndex><Name>N</Name></QualifiedName>",
            Variant::QualifiedName(Box::new(QualifiedName {
                namespace: 5,
                name: "N".into(),
            })),
        ),
        (
            "<LocalizedText><Locale>de</Locale><Text>Wert</Text></LocalizedText>",
            Variant::LocalizedText(Box::new(LocalizedText {
                locale: text("de"),
                text: text("Wert"),
            })),
        ),
        (
            "<Variant><Value><UInt16>3</UInt16></Value></Variant>",
            Variant::from(3u16),
        ),
        ("<Variant/>", Variant::Empty),
    ] {
        assert_eq!(value(xml), expected, "{xml}");
    }
    let Variant::ExpandedNodeId(expanded) =
        value("<ExpandedNodeId><Identifier>nsu=urn:far;s=x</Identifier></ExpandedNodeId>")
    else {
        panic!()
    };
    assert_eq!(expanded.namespace_uri.as_str(), "urn:far");
    let Variant::DataValue(data_value) = value(
        "<DataValue><Value><Int32>7</Int32></Value><StatusCode><Code>0</Code></StatusCode>
         <SourceTimestamp>2024-01-01T00:00:00Z</SourceTimestamp></DataValue>",
    ) else {
        panic!()
    };
    assert_eq!(data_value.value, Some(Variant::from(7i32)));
    assert!(data_value.source_timestamp.is_some() && data_value.server_timestamp.is_none());
}

#[test]
fn arrays_and_matrices() {
    assert_eq!(
        value("<ListOfUInt32><UInt32>1</UInt32><UInt32>2</UInt32></ListOfUInt32>"),
        Variant::from(vec![1u32, 2])
    );
    assert_eq!(
        value("<ListOfString/>"),
        Variant::from(Vec::<UaString>::new())
    );
    assert_eq!(value("<ListOfString xsi:nil='1'/>"), Variant::Empty);
    let matrix = value(
        "<Matrix><Dimensions><UInt32>2</UInt32><UInt32>3</UInt32></Dimensions>
         <Elements><Int16>1</Int16><Int16>2</Int16><Int16>3</Int16><Int16>4</Int16><Int16>5</Int16><Int16>6</Int16></Elements></Matrix>",
    );
    let elements = Elements::Int16(vec![1, 2, 3, 4, 5, 6]);
    assert_eq!(
        matrix,
        Variant::Array(Box::new(Array {
            elements,
            dimensions: vec![2, 3]
        }))
    );
    let Variant::Array(variants) = value(
        "<ListOfVariant><Variant><Value><Byte>1</Byte></Value></Variant><Variant><Value><String>x</String></Value></Variant></ListOfVariant>",
    ) else {
        panic!()
    };
    assert_eq!(
        variants.elements,
        Elements::Variant(vec![Variant::from(1u8), Variant::from("x")])
    );
}

fn extension_object(type_id: &str, body: &str) -> ExtensionObject {
    match value(&format!(
        "<ExtensionObject><TypeId><Identifier>{type_id}</Identifier></TypeId><Body>{body}</Body></ExtensionObject>"
    )) {
        Variant::ExtensionObject(object) => *object,
        other => panic!("{other:?}"),
    }
}

#[test]
fn structures_of_the_standard_become_binary() {
    let argument: Argument = extension_object(
        "i=297",
        "<Argument><Name>Speed</Name><DataType><Identifier>ns=1;s=Unit</Identifier></DataType><ValueRank>1</ValueRank>
         <ArrayDimensions><UInt32>3</UInt32></ArrayDimensions><Description><Text>rpm</Text></Description></Argument>",
    )
    .decode_as()
    .unwrap();
    assert_eq!(argument.name.as_str(), "Speed");
    assert_eq!(argument.data_type, NodeId::string(5, "Unit"));
    assert_eq!(
        (argument.value_rank, argument.array_dimensions.as_slice()),
        (1, &[3][..])
    );
    assert_eq!(argument.description, LocalizedText::from("rpm"));

    // By the DataType's own NodeId, and with everything left out.
    let unit: EUInformation = extension_object("i=887", "<EUInformation/>")
        .decode_as()
        .unwrap();
    assert_eq!(unit, EUInformation::default());

    // By the NodeId of any of its encodings.
    for type_id in ["i=298", "i=296"] {
        assert!(extension_object(type_id, "<Argument/>").is::<Argument>());
    }
    // Structures in a structure, arrays of them, enumerations by name.
    let browse: BrowseDescription = extension_object(
        "i=514",
        "<BrowseDescription><NodeId><Identifier>i=85</Identifier></NodeId><BrowseDirection>Both_2</BrowseDirection>
         <IncludeSubtypes>true</IncludeSubtypes></BrowseDescription>",
    )
    .decode_as()
    .unwrap();
    assert_eq!(
        (browse.node_id, browse.browse_direction),
        (NodeId::from(85), BrowseDirection::Both)
    );
    let header: DataSetMetaDataType = extension_object(
        "i=14523",
        "<DataSetMetaDataType><Name>D</Name><Fields><FieldMetaData><Name>F</Name><BuiltInType>6</BuiltInType>
         </FieldMetaData><FieldMetaData/></Fields></DataSetMetaDataType>",
    )
    .decode_as()
    .unwrap();
    assert_eq!((header.name.as_str(), header.fields.len()), ("D", 2));
    assert_eq!(
        (
            header.fields[0].name.as_str(),
            header.fields[0].built_in_type
        ),
        ("F", 6)
    );

    let raw = extension_object("ns=1;i=7", "<ByteString>AQID</ByteString>");
    assert_eq!(raw.body, ExtensionObjectBody::Binary(vec![1, 2, 3]));
    assert_eq!(
        extension_object("i=297", "").body,
        ExtensionObjectBody::None
    );
}

#[test]
fn unknown_structures_stay_xml_that_stands_on_its_own() {
    let object = extension_object(
        "ns=1;i=55",
        "<m:Point xmlns:m='urn:m' note='&quot;a&quot;'>
           <m:X>1 &lt; 2</m:X><Target><Identifier>ns=1;i=3</Identifier></Target><m:Empty/>
         </m:Point>",
    );
    assert_eq!(object.type_id, NodeId::numeric(5, 55));
    let ExtensionObjectBody::Xml(xml) = object.body else {
        panic!()
    };
    assert_eq!(
        xml,
        "<Point xmlns=\"urn:m\" note=\"&quot;a&quot;\"><X>1 &lt; 2</X>\
         <Target xmlns=\"http://opcfoundation.org/UA/2008/02/Types.xsd\"><Identifier>ns=5;i=3</Identifier></Target>\
         <Empty/></Point>"
    );
}

// ---- what is wrong

fn refused(xml: &str) -> String {
    let error = NodeSet::parse("bad.xml", xml).expect_err("accepted");
    error.to_string()
}

fn refused_node(node: &str) -> String {
    refused(&format!(
        "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\">\n<NamespaceUris><Uri>urn:one</Uri></NamespaceUris>\n  {node}\n</UANodeSet>"
    ))
}

#[test]
fn errors_name_place_reason_and_remedy() {
    for (node, expected) in [
        (
            "<UAObject BrowseName='x'/>",
            "bad.xml:3:3: UAObject has no attribute NodeId; add it",
        ),
        (
            "<UAObject NodeId='i=1'/>",
            "bad.xml:3:3: UAObject has no attribute BrowseName; add it",
        ),
        (
            "<UAObject NodeId='one' BrowseName='x'/>",
            "bad.xml:3:3: NodeId is \"one\", which is not a NodeId such as i=85 or ns=1;s=Speed; correct it",
        ),
        (
            "<UAObject NodeId='ns=2;i=1' BrowseName='x'/>",
            "bad.xml:3:3: namespace index 2 is not declared: NamespaceUris has 1 entries; add the namespace to NamespaceUris, or correct the index",
        ),
        (
            "<UAObject NodeId='ns=1;i=1' BrowseName='x'/><UAObject NodeId='ns=1;i=1' BrowseName='y'/>",
            "bad.xml:3:47: NodeId ns=1;i=1 is used again; line 3 has it already; give one of them another NodeId",
        ),
        (
            "<UAVariable NodeId='i=1' BrowseName='x' DataType='Double'/>",
            "bad.xml:3:3: \"Double\" is neither a NodeId nor an alias of this document; add it to Aliases, or write the NodeId as i=1 or ns=1;s=Name",
        ),
        (
            "<UAVariable NodeId='i=1' BrowseName='x' ValueRank='-4'/>",
            "bad.xml:3:3: ValueRank is \"-4\", which is not a ValueRank: -3 or greater; correct it",
        ),
        (
            "<UAObjekt NodeId='i=1' BrowseName='x'/>",
            "bad.xml:3:3: UAObjekt is not known inside UANodeSet; remove it, or use an element of OPC 10000-6 Annex F",
        ),
        (
            "<UAVariable NodeId='i=1' BrowseName='x'><Value><UInt32>-1</UInt32></Value></UAVariable>",
            "bad.xml:3:50: UInt32 is \"-1\", which is not a whole number in the range of its type; correct it",
        ),
        (
            "<UAVariable NodeId='i=1' BrowseName='x'><Value><ListOfInt32><Int32>1</Int32><Byte>1</Byte></ListOfInt32></Value></UAVariable>",
            "bad.xml:3:79: Byte is not known inside ListOfInt32; remove it, or use an element of OPC 10000-6 Annex F",
        ),
        (
            "<UAObject NodeId='i=1' BrowseName='x'></UAObjec>",
            "bad.xml:3:41: not well-formed XML: expected 'UAObject' tag, not 'UAObjec' at 3:41; repair or export the document again (a DTD is not allowed)",
        ),
    ] {
        assert_eq!(refused_node(node), expected, "{node}");
    }
    assert_eq!(
        refused("<html/>"),
        "bad.xml:1:1: the root element is html, not UANodeSet of http://opcfoundation.org/UA/2011/03/UANodeSet.xsd; give a NodeSet2 file (OPC 10000-6 Annex F)"
    );
    assert!(refused("").starts_with("bad.xml:1:1: not well-formed XML"));
    let dtd = "<!DOCTYPE a [<!ENTITY b 'c'>]><UANodeSet/>";
    assert!(refused(dtd).contains("DTD"), "{}", refused(dtd));
    let matrix = "<Matrix><Dimensions><Int32>2</Int32><Int32>2</Int32></Dimensions><Elements><Byte>1</Byte></Elements></Matrix>";
    let matrix =
        format!("<UAVariable NodeId='i=1' BrowseName='x'><Value>{matrix}</Value></UAVariable>");
    assert!(refused_node(&matrix).contains("Dimensions is \"[2, 2]\""));
}

#[test]
fn limits_hold() {
    let limits = ParseLimits {
        max_bytes: 1000,
        max_elements: 20,
        max_attributes: 20,
        max_depth: 5,
    };
    let reason =
        |xml: &str| NodeSet::parse_with_limits("x", xml, &limits).map_err(|error| error.reason);
    let what = |xml: &str| match reason(xml) {
        Err(Reason::LimitExceeded { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(what(&" ".repeat(1001)), "bytes");
    assert_eq!(what(&"<a/>".repeat(100)), "elements");
    assert_eq!(what(&"<a b='' c=''></a>".repeat(15)), "attributes");
    assert_eq!(what(&"<a>".repeat(7)), "nested elements");
}

#[test]
fn a_small_document_cannot_ask_for_much_memory() {
    // One alias of 100 kB, used ten thousand times.
    let references = "<Reference ReferenceType='A'>A</Reference>".repeat(10_000);
    let xml = format!(
        "<UANodeSet xmlns='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd'><Aliases><Alias Alias='A'>s={}</Alias></Aliases>
         <UAObject NodeId='i=1' BrowseName='x'><References>{references}</References></UAObject></UANodeSet>",
        "x".repeat(100_000)
    );
    let error = NodeSet::parse("x", &xml).unwrap_err();
    assert_eq!(error.reason, Reason::Expansion);
}
