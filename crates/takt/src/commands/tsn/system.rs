//! The place at which commands run, and the directory of earlier states.

use std::path::PathBuf;

use takt_tsn::{SavedStates, SystemExecutor};

use crate::arguments::TsnSystemArguments;

/// Default directory: it is empty after a boot, like the interfaces.
const DIRECTORY: &str = "/run/takt-tsn";

pub(super) fn executor(arguments: &TsnSystemArguments) -> SystemExecutor {
    SystemExecutor {
        namespace: arguments.namespace.clone(),
    }
}

pub(super) fn states(arguments: &TsnSystemArguments) -> SavedStates {
    let given = arguments.state_dir.clone();
    let variable = || {
        std::env::var_os("TAKT_TSN_STATE_DIR")
            // An empty variable is none: its path would be the current directory.
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    SavedStates::new(
        given
            .or_else(variable)
            .unwrap_or_else(|| PathBuf::from(DIRECTORY)),
    )
}
