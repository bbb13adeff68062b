//! The table of the nodes of namespace 0, made with the NodeSet2 parser of `takt-nodeset`.

use crate::error::Error;
use crate::output::GeneratedFile;
use crate::sources::Sources;

/// The files of this step.
pub(crate) fn generate(_sources: &Sources) -> Result<Vec<GeneratedFile>, Error> {
    Ok(Vec::new())
}
