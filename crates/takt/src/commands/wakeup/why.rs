//! Connection of the measuring threads with the recorder of causes.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use takt_rt::cyclic::Cycle;
use takt_wakeup::{CycleWork, LateWatch, Recorder, WatchedCalls, late_queue};

use crate::arguments::WakeUpArguments;
use crate::commands::late_causes;

/// Returns the work of a thread that notes late wake-ups, and the channel for its watch; nothing without `why`. The watch belongs to
/// the id of the thread, which is known only when it runs.
pub(super) fn watched(
    arguments: &WakeUpArguments,
) -> (Option<CycleWork>, Option<SyncSender<LateWatch>>) {
    if !arguments.why {
        return (None, None);
    }
    let (sender, watches) = sync_channel(1);
    let mut watch: Option<LateWatch> = None;
    let work = move |cycle: &Cycle| {
        // The watch is there before the first cycle.
        if watch.is_none() {
            watch = watches.try_recv().ok();
        }
        if let Some(watch) = &mut watch {
            watch.note(cycle);
        }
    };
    (Some(Box::new(work)), Some(sender))
}

/// Starts the recorder for the threads, in their order.
pub(super) fn record(
    arguments: &WakeUpArguments,
    ids: &[u32],
    watches: &[SyncSender<LateWatch>],
) -> miette::Result<Arc<Recorder>> {
    let limit = late_causes::nanos(arguments.above);
    let mut receivers = Vec::new();
    for (id, watch_of) in ids.iter().zip(watches) {
        let (watch, receiver) = late_queue(*id, limit);
        // The thread waits for its beginning.
        let _ = watch_of.send(watch);
        receivers.push(receiver);
    }
    let recorder = late_causes::start(WatchedCalls::OnlySleep)?;
    let watched = recorder.watch(receivers);
    watched.map_err(|error| late_causes::refused(&error))?;
    Ok(recorder)
}
