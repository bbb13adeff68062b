//! File of the durable Subscriptions of a server between two of its runs (OPC 10000-4, 6.8).

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use takt_services::Server;

use crate::private_file;
use crate::state_directory::prepare_state_directory;

/// File that has the durable Subscriptions while the server does not run.
pub(super) struct DurableFile {
    path: PathBuf,
    server: Arc<Server>,
    /// True if the server runs: the file is written at its end.
    runs: bool,
}

impl DurableFile {
    /// Restores the Subscriptions of a file, if there is one. The server does not serve yet.
    pub(super) fn restore(path: &Path, server: &Arc<Server>) -> Self {
        if path.exists() {
            match read(path, server) {
                Ok(subscriptions) => tracing::info!(subscriptions, "durable Subscriptions go on"),
                Err(error) => {
                    tracing::warn!(%error, file = %path.display(), "durable Subscriptions are lost");
                }
            }
        }
        Self {
            path: path.to_owned(),
            server: Arc::clone(server),
            runs: false,
        }
    }

    /// Removes the file, because the server serves: after a crash it would repeat values that clients have received since.
    pub(super) fn serves(&mut self) {
        self.runs = true;
        let _ = fs::remove_file(&self.path);
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
        prepare_state_directory(folder(&self.path))?;
        Ok(private_file::write(&self.path, bytes)?)
    }
}

/// Restores the Subscriptions of a file, and returns their number. The folder is checked: another user who can write it could give
/// a Subscription any roles.
fn read(path: &Path, server: &Server) -> Result<usize, Box<dyn Error>> {
    prepare_state_directory(folder(path))?;
    Ok(server.restore_subscriptions(&fs::read(path)?)?)
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

impl Drop for DurableFile {
    fn drop(&mut self) {
        if !self.runs {
            return;
        }
        if let Some(bytes) = self.server.saved_subscriptions()
            && let Err(error) = self.write(&bytes)
        {
            tracing::error!(%error, file = %self.path.display(), "durable Subscriptions are lost");
        }
    }
}
