//! `takt clean`: removes the files of killed applications, of a killed `takt lab setup` or `takt lab bundle`, and the trace instances of
//! killed runs.

use miette::IntoDiagnostic;
use serde_json::json;
use takt_lab::bundle::remove_killed_bundles;
use takt_lab::uml::{KernelCache, remove_killed_build};
use takt_shm::{ApplicationName, CleanReport, Presence, Runtime, ShmError};

use crate::arguments::CleanArguments;
use crate::{explain, output};

pub fn run(arguments: &CleanArguments) -> miette::Result<()> {
    let cleaned = clean(arguments.group.as_deref());
    let (report, left) = cleaned.map_err(|error| explain::shared_memory(&error))?;
    // The cache belongs to the user, as the runtime directory does.
    let cache = match arguments.group {
        Some(_) => None,
        None => KernelCache::of_environment().ok(),
    };
    let bundles = cache.as_ref().map(KernelCache::bundles);
    let bundles = bundles.map_or(Ok(0), |notes| remove_killed_bundles(&notes));
    let bundle_count = bundles.as_ref().map_or(0, |count| *count);
    let removed = cache.map_or(Ok(false), |cache| remove_killed_build(&cache));
    let build = removed.as_ref().is_ok_and(|removed| *removed);
    // They belong to the machine, and only users who may trace have some.
    let traces = match arguments.group {
        Some(_) => Ok(0),
        None => takt_wakeup::remove_dead(),
    };
    let trace_count = traces.as_ref().map_or(0, |count| *count);
    if arguments.json {
        output::line(json!({
            "applications": names(&report.applications),
            "left": names(&left),
            "nodes": report.nodes,
            "services": report.services,
            "counters": report.counters,
            "labBuilds": u8::from(build),
            "labBundles": bundle_count,
            "traceInstances": trace_count,
            "failed": report.failed,
        }));
        traces.into_diagnostic()?;
        bundles.into_diagnostic()?;
        return removed.map(|_| ()).into_diagnostic();
    }
    for name in &report.applications {
        output::line(format_args!("removed the name {name}"));
    }
    for name in &left {
        output::line(format_args!(
            "left the name {name}: it belongs to another user"
        ));
    }
    let counted = [
        (report.nodes, "iceoryx2's nodes"),
        (report.services, "iceoryx2's incomplete services"),
        (
            report.counters,
            "iceoryx2's counters for earlier runtime directories",
        ),
        (trace_count, "trace instances of killed measurements"),
        (
            bundle_count,
            "folders of a `takt lab bundle` that was killed",
        ),
    ];
    for (count, what) in counted.iter().filter(|(count, _)| *count > 0) {
        output::line(format_args!("removed {what}: {count}"));
    }
    if build {
        output::line("removed the folder of a `takt lab setup` that was killed");
    }
    if report.failed > 0 {
        output::line(format_args!(
            "not removed, because another process is removing them or this user may not: {}",
            report.failed
        ));
    }
    if report.applications.is_empty() && counted.iter().all(|(count, _)| *count == 0) && !build {
        output::line("nothing to remove");
    }
    traces.into_diagnostic()?;
    bundles.into_diagnostic()?;
    // The rest was removed all the same, and is shown above.
    removed.map(|_| ()).into_diagnostic()
}

/// Cleans up the directory of the user or of a group. Returns the result, and the names that the user may not remove.
fn clean(group: Option<&str>) -> Result<(CleanReport, Vec<ApplicationName>), ShmError> {
    let Some(group) = group else {
        return Ok((takt_shm::clean_dead(None)?, Vec::new()));
    };
    let runtime = Runtime::open_for_group(group, None)?;
    let report = runtime.clean_dead()?;
    let mut left = runtime.applications();
    left.retain(|presence: &Presence| !presence.is_alive);
    let left = left.into_iter().map(|presence| presence.name).collect();
    Ok((report, left))
}

fn names(names: &[ApplicationName]) -> Vec<&str> {
    names.iter().map(ApplicationName::as_str).collect()
}
