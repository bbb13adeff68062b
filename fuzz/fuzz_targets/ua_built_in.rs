//! Every built-in type except Variant and DataValue: owned and borrowed.

use takt_fuzz::{choice, decode, round_trip};
use takt_ua::binary::Encode;
use takt_ua::{
    ByteString, DateTime, DiagnosticInfo, ExpandedNodeId, ExtensionObject, ExtensionObjectRef,
    Guid, LocalizedText, NodeId, NodeIdRef, QualifiedName, QualifiedNameRef, StatusCode, UaString,
    XmlElement,
};

pub(crate) fn run(data: &[u8]) {
    let Some((kind, bytes)) = choice(data) else {
        return;
    };
    match kind % 14 {
        0 => drop(round_trip::<UaString>(bytes)),
        1 => drop(round_trip::<ByteString>(bytes)),
        2 => drop(round_trip::<XmlElement>(bytes)),
        3 => drop(round_trip::<Guid>(bytes)),
        4 => drop(round_trip::<DateTime>(bytes)),
        5 => drop(round_trip::<StatusCode>(bytes)),
        6 => {
            let owned = round_trip::<NodeId>(bytes);
            let borrowed = decode::<NodeIdRef<'_>>(bytes).ok();
            assert_eq!(owned.as_ref().map(NodeId::as_ref), borrowed);
        }
        7 => drop(round_trip::<ExpandedNodeId>(bytes)),
        8 => {
            let owned = round_trip::<QualifiedName>(bytes);
            let borrowed = decode::<QualifiedNameRef<'_>>(bytes).ok();
            assert_eq!(owned.is_some(), borrowed.is_some());
        }
        9 => drop(round_trip::<LocalizedText>(bytes)),
        10 => {
            let owned = round_trip::<ExtensionObject>(bytes);
            let borrowed = decode::<ExtensionObjectRef<'_>>(bytes).ok();
            assert_eq!(
                owned.map(|object| object.encode_to_vec()),
                borrowed.map(|object| object.to_owned().encode_to_vec())
            );
        }
        11 => drop(round_trip::<DiagnosticInfo>(bytes)),
        12 => drop(round_trip::<Vec<f64>>(bytes)),
        _ => drop(round_trip::<Vec<UaString>>(bytes)),
    }
}
