//! Values: the built-in types, arrays, and the structures of the standard.

use takt_nodeset::{NodeSetDocument, ParseLimits};
use takt_ua::enumerations::BrowseDirection;
use takt_ua::structures::{Argument, BrowseDescription, DataSetMetaDataType, EUInformation};
use takt_ua::{
    Array, DateTime, Elements, ExtensionObject, ExtensionObjectBody, LocalizedText, NodeId,
    QualifiedName, StatusCode, UaString, Variant,
};

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
    // OPC 10000-6, 5.3.1.18: the value is a Variant, which has an element `Value` of its own.
    let Variant::DataValue(standard) =
        value("<DataValue><Value><Value><Int32>7</Int32></Value></Value></DataValue>")
    else {
        panic!()
    };
    assert_eq!(standard.value, Some(Variant::from(7i32)));
    let Variant::DataValue(list) = value(
        "<DataValue><Value><Value><ListOfInt32><Int32>7</Int32></ListOfInt32></Value></Value></DataValue>",
    ) else {
        panic!()
    };
    assert_eq!(list.value, Some(Variant::from(vec![7i32])));
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

    // By the DataType's NodeId, and with all fields left out.
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
