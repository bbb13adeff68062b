//! Output of a change of certificates.

use serde_json::{Value, json};

use crate::arguments::TrustServerArguments;
use crate::output::{self, joined};

/// Change of a certificate or revocation list.
pub(super) struct Changed {
    /// Line for people.
    pub(super) text: String,
    /// The certificate or revocation list, as in a list.
    pub(super) object: Value,
    /// Reasons why the change may not do what is meant.
    pub(super) warnings: Vec<String>,
}

impl Changed {
    /// Prints the change and its warnings.
    #[allow(clippy::unnecessary_wraps, reason = "it ends each command")]
    pub(super) fn tell(self, json: bool, remote: &TrustServerArguments) -> miette::Result<()> {
        let Self {
            text,
            object,
            warnings,
        } = self;
        let server = remote.server.as_ref().map(ToString::to_string);
        let others = json!({"server": server, "warnings": warnings});
        output::tell(json, || joined(object, others), text);
        output::warnings(json, &warnings);
        Ok(())
    }
}
