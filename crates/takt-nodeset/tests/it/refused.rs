//! Errors of wrong documents.

use takt_nodeset::{NodeSet, ParseLimits, Reason};

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
            "bad.xml:3:47: NodeId ns=1;i=1 is used twice; line 3 defines it first; give one of them another NodeId",
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
            "bad.xml:3:3: UAObjekt is not known inside UANodeSet; remove it, or use an element of OPC 10000-6, Annex F",
        ),
        (
            "<UAVariable NodeId='i=1' BrowseName='x'><Value><UInt32>-1</UInt32></Value></UAVariable>",
            "bad.xml:3:50: UInt32 is \"-1\", which is not a whole number in the range of its type; correct it",
        ),
        (
            "<UAVariable NodeId='i=1' BrowseName='x'><Value><ListOfInt32><Int32>1</Int32><Byte>1</Byte></ListOfInt32></Value></UAVariable>",
            "bad.xml:3:79: Byte is not known inside ListOfInt32; remove it, or use an element of OPC 10000-6, Annex F",
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
        "bad.xml:1:1: the root element is html, not UANodeSet of http://opcfoundation.org/UA/2011/03/UANodeSet.xsd; give a NodeSet2 file (OPC 10000-6, Annex F)"
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
