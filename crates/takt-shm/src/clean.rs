//! Cleaning up after processes that were killed.

use std::path::Path;

use crate::directory::bystander::Bystander;
use crate::directory::clean_report::CleanReport;
use crate::directory::name_lock;
use crate::directory::public_files::PATIENCE;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;
use crate::public;

/// Removes only the leftovers of killed processes in the runtime directory (`None` is the usual one) and in /dev/shm.
///
/// Every server does this when it starts, if an application has died and left its name. Channels leave nothing behind; only the
/// public services, with their files, can.
///
/// # Errors
/// [`ShmError::RuntimeDirectory`] if the directory cannot be used, [`ShmError::Iceoryx`] if iceoryx2 cannot read it.
pub fn clean_dead(runtime_directory: Option<&Path>) -> Result<CleanReport, ShmError> {
    // Otherwise opening the directory would remove leftovers before they are counted.
    let bystander = Bystander::new(runtime_directory);
    let runtime = Runtime::open(runtime_directory)?;
    let report = runtime.clean_dead()?;
    // If this process is alone now, it leaves nothing.
    drop(bystander);
    drop(runtime);
    Ok(report)
}

impl Runtime {
    /// Removes leftovers as the function [`clean_dead`] does. Of a group it removes the names of dead applications, as far as
    /// this user may.
    ///
    /// # Errors
    /// [`ShmError::Iceoryx`] if iceoryx2 cannot read the directory.
    pub fn clean_dead(&self) -> Result<CleanReport, ShmError> {
        let mut report = CleanReport::default();
        if self.group().is_none() {
            let files = self.public_files();
            report = files.remove_dead(PATIENCE).ok_or_else(|| {
                ShmError::iceoryx("list the nodes in use", "the nodes are not accessible")
            })?;
            report.services = public::abandoned::remove_all(files);
            report.counters = files.remove_abandoned();
        }
        report.applications = name_lock::remove_dead(self);
        Ok(report)
    }
}
