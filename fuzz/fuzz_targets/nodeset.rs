//! NodeSet2 XML.

use takt_nodeset::{NodeSet, ParseLimits};

pub(crate) fn run(data: &[u8]) {
    let Ok(xml) = std::str::from_utf8(data) else {
        return;
    };
    let limits = ParseLimits {
        max_bytes: 1 << 16,
        max_elements: 4096,
        max_attributes: 4096,
        ..ParseLimits::DEFAULT
    };
    match NodeSet::parse_with_limits("fuzz.xml", xml, &limits) {
        Ok(nodes) => drop(format!("{nodes:?}")),
        // Errors of a document can be displayed.
        Err(error) => drop(format!("{error} {error:?}")),
    }
}
