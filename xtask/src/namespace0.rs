//! The table of the nodes of namespace 0, created with the NodeSet2 parser of `takt-nodeset`.
//!
//! Its layout is described at its reader, the module `namespace0` of `takt-space`.

mod content;
mod error;
mod nodes;
mod table;

use takt_nodeset::NodeSet;

use crate::error::Error;
use crate::output::GeneratedFile;
use crate::sources::Sources;
use error::{NODESET, invalid};

const TABLE: &str = "crates/takt-space/src/namespace0/table.bin";

/// Returns the files of this step.
pub(crate) fn generate(sources: &Sources) -> Result<Vec<GeneratedFile>, Error> {
    let nodeset = NodeSet::parse(NODESET, &sources.nodeset).map_err(invalid)?;
    let nodes = nodes::Nodes::new(&nodeset)?;
    Ok(vec![GeneratedFile::new(TABLE, table::write(&nodes)?)])
}
