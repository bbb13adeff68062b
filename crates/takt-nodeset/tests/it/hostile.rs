//! Hostile documents: the parser returns a result for each in short time and with little memory.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use takt_nodeset::NodeSet;

const HEAD: &str = "<UANodeSet xmlns='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd' \
                    xmlns:u='http://opcfoundation.org/UA/2008/02/Types.xsd'>";

/// Parses, and fails if that takes long. The limit allows for debug builds and loaded machines; quadratic time would
/// be minutes.
fn parse_soon(what: &str, xml: &str) -> bool {
    let started = Instant::now();
    let accepted = NodeSet::parse(what, xml).is_ok();
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{what} took {:?}",
        started.elapsed()
    );
    accepted
}

#[test]
fn size_alone_costs_only_its_size() {
    let node = |i: usize| format!("<UAObject NodeId='i={i}' BrowseName='n'/>");
    // Each node has the number of its line, which must not be counted from the beginning each time.
    let nodes: String = (1..20_000).map(node).collect();
    assert!(parse_soon(
        "one line",
        &format!("{HEAD}{nodes}</UANodeSet>")
    ));
    assert!(parse_soon(
        "line breaks",
        &format!("{HEAD}{}</UANodeSet>", "\n".repeat(4 << 20))
    ));

    let references = "<Reference ReferenceType='i=35'>i=85</Reference>".repeat(50_000);
    let node = format!(
        "<UAObject NodeId='i=1' BrowseName='n'><References>{references}</References></UAObject>"
    );
    assert!(parse_soon(
        "references of one node",
        &format!("{HEAD}{node}</UANodeSet>")
    ));

    let elements = "<u:ExtensionObject><u:TypeId><u:Identifier>i=297</u:Identifier></u:TypeId><u:Body><u:Argument/></u:Body></u:ExtensionObject>".repeat(10_000);
    let value =
        format!("<Value><u:ListOfExtensionObject>{elements}</u:ListOfExtensionObject></Value>");
    assert!(parse_soon(
        "structures",
        &format!("{HEAD}<UAVariable NodeId='i=1' BrowseName='n'>{value}</UAVariable></UANodeSet>")
    ));
}

#[test]
fn documents_with_quadratic_cost_are_refused() {
    let attributes: String = (0..200_000).map(|i| format!(" a{i}=''")).collect();
    assert!(!parse_soon(
        "attributes",
        &format!("<UANodeSet{attributes}/>")
    ));

    let declarations: String = (0..50_000).map(|i| format!(" xmlns:p{i}='u'")).collect();
    assert!(!parse_soon(
        "namespaces",
        &format!(
            "<UANodeSet{declarations}>{}</UANodeSet>",
            "<a xmlns:b='c'/>".repeat(50_000)
        )
    ));

    for (what, open) in [("elements", "<a>"), ("values", "<u:Variant><u:Value>")] {
        assert!(!parse_soon(
            what,
            &format!(
                "{HEAD}<UAVariable NodeId='i=1' BrowseName='n'><Value>{}",
                open.repeat(100_000)
            )
        ));
    }
    assert!(!parse_soon(
        "DTD",
        "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><UANodeSet>&b;</UANodeSet>"
    ));
}

#[test]
fn an_xml_body_does_not_multiply_a_long_namespace() {
    let namespace = "n".repeat(1 << 20);
    let content = "<u:a p:x=''/>".repeat(10_000);
    let value = format!(
        "<Value><u:ExtensionObject><u:TypeId><u:Identifier>s=x</u:Identifier></u:TypeId>\
         <u:Body><u:c xmlns:p='{namespace}'>{content}</u:c></u:Body></u:ExtensionObject></Value>"
    );
    assert!(!parse_soon(
        "namespace",
        &format!("{HEAD}<UAVariable NodeId='i=1' BrowseName='n'>{value}</UAVariable></UANodeSet>")
    ));
}

const SEED: &str = "<UANodeSet xmlns='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd'><NamespaceUris><Uri>urn:a</Uri></NamespaceUris>\
<Models><Model ModelUri='urn:a' PublicationDate='2024-01-01T00:00:00Z'><RequiredModel ModelUri='urn:b'/></Model></Models>\
<Aliases><Alias Alias='D'>i=11</Alias></Aliases>\
<UAVariable NodeId='ns=1;s=x' BrowseName='1:x' DataType='D' ValueRank='1' ArrayDimensions='2,3'><DisplayName Locale='en'>x</DisplayName>\
<References><Reference ReferenceType='i=40' IsForward='true'>i=63</Reference></References>\
<Value><ListOfExtensionObject><ExtensionObject><TypeId><Identifier>i=297</Identifier></TypeId><Body><Argument><Name>n</Name>\
<DataType><Identifier>i=1</Identifier></DataType><ArrayDimensions><UInt32>1</UInt32></ArrayDimensions></Argument></Body></ExtensionObject>\
</ListOfExtensionObject></Value></UAVariable>\
<UAVariable NodeId='i=7' BrowseName='y'><Value><Matrix><Dimensions><Int32>1</Int32><Int32>1</Int32></Dimensions><Elements><Guid><String>\
72962b91-fa75-4ae6-8d28-b404dc7daf63</String></Guid></Elements></Matrix></Value></UAVariable>\
<UADataType NodeId='i=8' BrowseName='z'><Definition Name='z'><Field Name='f' DataType='D' Value='1'/></Definition></UADataType></UANodeSet>";

/// Pieces of XML syntax, to be inserted at wrong places.
const PIECES: &[&str] = &[
    "<",
    ">",
    "/>",
    "</",
    "'",
    "\"",
    "=",
    "&",
    "&lt;",
    "&#0;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<!DOCTYPE",
    "xmlns",
    "xmlns:u=''",
    "ns=1;",
    "ns=65536;i=1",
    "i=4294967296",
    "-1",
    "1e999",
    "NaN",
    "0001-01-01",
    "99999",
    "<Value>",
    "<Matrix>",
    "<ListOfVariant><Variant>",
    "<Body><ByteString>=</ByteString></Body>",
    "<NamespaceIndex>9</NamespaceIndex>",
    "\u{feff}",
    "\u{0}",
    "é",
    "_",
    "ListOf",
    "DiagnosticInfo",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_documents_end_in_a_result(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..40, any::<bool>()), 1..6)) {
        let mut text = SEED.to_owned();
        for (at, piece, cut, replace) in edits {
            let mut at = at.index(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            if replace {
                text.insert_str(at, PIECES[piece.index(PIECES.len())]);
            } else {
                let mut end = (at + cut).min(text.len());
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                text.replace_range(at..end, "");
            }
        }
        match NodeSet::parse("damaged.xml", &text) {
            Ok(nodeset) => prop_assert!(nodeset.nodes.len() <= 3),
            Err(error) => prop_assert!(error.to_string().starts_with("damaged.xml:") && error.position.line > 0),
        }
    }

    #[test]
    fn any_text_ends_in_a_result(text in "\\PC*") {
        prop_assert!(NodeSet::parse("any.xml", &text).is_err());
    }
}
