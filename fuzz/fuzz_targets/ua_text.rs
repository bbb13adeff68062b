//! Texts from users and peers: NodeIds, names, times, ranges, endpoints. Written texts are read back unchanged.

use std::fmt::Display;
use std::str::FromStr;

use takt_fuzz::choice;
use takt_ua::{
    DateTime, EndpointUrl, ExpandedNodeId, Guid, NodeId, NumericRange, QualifiedName, UrlParts,
};

fn written_and_read<T: FromStr + Display + PartialEq + std::fmt::Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let written = value.to_string();
        assert_eq!(
            written.parse().ok(),
            Some(value),
            "{text:?} is written as {written:?}"
        );
    }
}

pub(crate) fn run(data: &[u8]) {
    let Some((kind, bytes)) = choice(data) else {
        return;
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match kind % 9 {
        0 => written_and_read::<NodeId>(text),
        1 => written_and_read::<ExpandedNodeId>(text),
        2 => written_and_read::<QualifiedName>(text),
        3 => written_and_read::<Guid>(text),
        4 => written_and_read::<DateTime>(text),
        5 => drop(text.parse::<NumericRange>()),
        6 => {
            written_and_read::<EndpointUrl>(text);
            if let Ok(url) = UrlParts::parse(text) {
                assert_eq!(UrlParts::parse(&url.to_string()), Ok(url));
            }
        }
        7 => drop(text.parse::<takt_shm::SharedMemoryUrl>()),
        _ => drop(text.parse::<takt_shm::ApplicationName>()),
    }
}
