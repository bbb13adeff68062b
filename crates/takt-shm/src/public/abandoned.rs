//! Services of iceoryx2 whose owner was killed while it made or removed them.
//!
//! The leftovers of such a service prevent any process from making it anew. They differ from a service in use: no living node has
//! it open.

use std::fs;
use std::path::PathBuf;

use iceoryx2::config::Config;
use iceoryx2::prelude::{MessagingPattern, Service, ServiceName};
use iceoryx2::service::service_hash::ServiceHash;
use iceoryx2::service::{__internal_details, ServiceDetailsError};

use crate::directory::ipc::Ipc;
use crate::directory::leftovers;
use crate::directory::public_files::PublicFiles;
use crate::error::ShmError;
use crate::public::unsafe_code;

type Hasher = <Ipc as Service>::ServiceNameHasher;

/// Removes the leftovers of a service that only this process makes: it holds the lock of the application's name.
pub(crate) fn clear_the_way(
    config: &Config,
    name: &str,
    pattern: MessagingPattern,
) -> Result<(), ShmError> {
    let name = ServiceName::new(name).map_err(|e| ShmError::iceoryx("name a service", e))?;
    remove_if_abandoned(config, &ServiceHash::new::<Hasher>(&name, pattern));
    Ok(())
}

/// Removes all abandoned services that are not being made at the moment. Returns their number.
pub(crate) fn remove_all(files: &PublicFiles) -> usize {
    let config = &files.config;
    let prefix = config.global.prefix.to_string();
    let directory = config.global.service_dir().to_string();
    let suffix = config
        .global
        .service
        .static_config_storage_suffix
        .to_string();
    leftovers::old_files(directory.as_ref())
        .filter_map(|name| {
            let hash = name.strip_prefix(&prefix)?.strip_suffix(&suffix)?;
            ServiceHash::try_from(hash).ok()
        })
        .filter(|hash| remove_if_abandoned(config, hash))
        .count()
}

fn remove_if_abandoned(config: &Config, hash: &ServiceHash) -> bool {
    let file = file(config, hash);
    if !file.exists() {
        return false;
    }
    match __internal_details::<Ipc>(config, hash) {
        // If it fails the file is left, and making the service returns the reason.
        Ok(Some(service)) => unsafe_code::remove_unused_service(&service, config),
        // The description is not complete either.
        Ok(None) | Err(ServiceDetailsError::FailedToDeserializeStaticServiceInfo) => {
            let _ = fs::remove_file(&file);
        }
        // The service may be of another version.
        Err(_) => return false,
    }
    !file.exists()
}

fn file(config: &Config, hash: &ServiceHash) -> PathBuf {
    let Config { global, .. } = config;
    let suffix = &global.service.static_config_storage_suffix;
    let name = format!("{}{}{}", global.prefix, hash.as_str(), suffix);
    PathBuf::from(global.service_dir().to_string()).join(name)
}
