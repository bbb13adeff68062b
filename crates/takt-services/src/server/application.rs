//! Description of an application, and of its build.

use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::{ApplicationDescription, BuildInfo};
use takt_ua::{DateTime, LocalizedText, UaString};

/// Returns the ApplicationDescription of a server.
pub(crate) fn application_description(
    name: &str,
    uri: &str,
    product_uri: &str,
) -> ApplicationDescription {
    ApplicationDescription {
        application_uri: UaString::from(uri),
        product_uri: UaString::from(product_uri),
        application_name: LocalizedText::from(name),
        application_type: ApplicationType::Server,
        ..ApplicationDescription::default()
    }
}

/// Returns the BuildInfo of this build of Takt.
pub(crate) fn build_info(product_uri: &str, product_name: &str) -> BuildInfo {
    BuildInfo {
        product_uri: UaString::from(product_uri),
        manufacturer_name: UaString::from("Takt"),
        product_name: UaString::from(product_name),
        software_version: UaString::from(env!("CARGO_PKG_VERSION")),
        build_number: UaString::from(env!("CARGO_PKG_VERSION")),
        build_date: build_date().unwrap_or_default(),
    }
}

/// Returns the time at which the executable was built: that of its last modification.
fn build_date() -> Option<DateTime> {
    // A date in the executable itself would make each build differ from the one before.
    let executable = std::env::current_exe().ok()?;
    let modified = executable.metadata().ok()?.modified().ok()?;
    Some(modified.into())
}
