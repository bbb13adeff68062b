//! Configuration of iceoryx2 in a runtime directory.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use iceoryx2::config::Config;
use iceoryx2::prelude::{FileName, Path as IoxPath, SemanticString};

/// Returns the configuration for a directory.
pub(crate) fn iceoryx2_config(path: &Path, prefix: &str) -> Result<Config, String> {
    let root = IoxPath::new(path.as_os_str().as_bytes())
        .map_err(|e| format!("cannot be the root path of iceoryx2: {e:?}"))?;
    let mut config = Config::default();
    let global = &mut config.global;
    global.set_root_path(&root);
    global.prefix = FileName::new(prefix.as_bytes())
        .map_err(|e| format!("gives an invalid file prefix: {e:?}"))?;
    // This is the time to wait for a service whose creator may have been killed half way.
    global.creation_timeout = Duration::from_millis(200);
    // Takt cleans up itself, and not for each of the services that are opened.
    global.node.cleanup_dead_nodes_on_creation = false;
    global.node.cleanup_dead_nodes_on_destruction = false;
    global.service.cleanup_dead_nodes_on_open = false;
    // The defaults reserve room for 128 connections that have ended.
    let defaults = &mut config.defaults;
    defaults
        .publish_subscribe
        .subscriber_expired_connection_buffer = 4;
    defaults.request_response.client_expired_connection_buffer = 4;
    defaults.request_response.server_expired_connection_buffer = 4;
    Ok(config)
}
