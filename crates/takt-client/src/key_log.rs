//! The file that gets the keys of secured channels, if an environment variable names one: for Wireshark.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use takt_tcp::KeyLog;

/// Environment variable with the path of the file.
const VARIABLE: &str = "OPCUAKEYLOGFILE";

/// Returns the file of this process. It is opened once, with a warning, and only if the variable is set: by default no key is
/// written anywhere.
pub fn of_this_process() -> Option<Arc<KeyLog>> {
    static OPENED: OnceLock<Option<Arc<KeyLog>>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| open(std::env::var_os(VARIABLE)));
    opened.clone()
}

fn open(value: Option<OsString>) -> Option<Arc<KeyLog>> {
    let value = value.filter(|value| !value.is_empty())?;
    let path = Path::new(&value);
    match KeyLog::open(path) {
        Ok(log) => {
            tracing::warn!(
                file = %path.display(),
                "{VARIABLE} is set: the keys of all secured channels are written to this file, and whoever reads it can decrypt \
                 their messages"
            );
            Some(Arc::new(log))
        }
        Err(error) => {
            tracing::warn!(%error, "{VARIABLE} is set, but no keys are written");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_only_if_the_variable_names_a_file() {
        assert!(open(None).is_none());
        assert!(open(Some(OsString::new())).is_none());
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no folder/keys");
        assert!(open(Some(missing.into())).is_none());
        let path = folder.path().join("keys");
        assert!(open(Some(path.clone().into())).is_some());
        assert!(path.exists());
    }
}
