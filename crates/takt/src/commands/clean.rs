//! `takt clean`: removes what killed applications left behind.

use serde_json::json;
use takt_shm::Presence;

use crate::arguments::CleanArguments;
use crate::{explain, output};

pub fn run(arguments: &CleanArguments) -> miette::Result<()> {
    let explained = |error| explain::shared_memory(&error);
    let mut names = dead().map_err(explained)?;
    let report = takt_shm::clean_dead(None).map_err(explained)?;
    // Somebody may have taken such a name meanwhile, or it could not be removed.
    let left = takt_shm::applications(None).map_err(explained)?;
    names.retain(|name| left.iter().all(|there| there.name.as_str() != name));
    if arguments.json {
        output::line(json!({
            "applications": names,
            "nodes": report.nodes,
            "services": report.services,
            "failed": report.failed,
        }));
        return Ok(());
    }
    for name in &names {
        output::line(format_args!("removed the name {name}"));
    }
    let counted = [
        (report.nodes, "nodes"),
        (report.services, "services that were half made"),
    ];
    for (count, what) in counted.iter().filter(|(count, _)| *count > 0) {
        output::line(format_args!("removed iceoryx2's {what}: {count}"));
    }
    if report.failed > 0 {
        output::line(format_args!(
            "left what another process is removing, or this user may not remove: {}",
            report.failed
        ));
    }
    if names.is_empty() && counted.iter().all(|(count, _)| *count == 0) {
        output::line("nothing to remove");
    }
    Ok(())
}

/// The names that dead applications have left.
fn dead() -> Result<Vec<String>, takt_shm::ShmError> {
    let is_dead = |presence: &Presence| presence.process.is_none();
    let applications = takt_shm::applications(None)?.into_iter().filter(is_dead);
    Ok(applications
        .map(|presence| presence.name.to_string())
        .collect())
}
