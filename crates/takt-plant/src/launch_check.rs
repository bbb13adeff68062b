//! Launch times of WriterGroups, and the queues of their ports.

use takt_scenario::{Duration, PlantFile, Queue};

use crate::error::{ConfigurationFault, PlantError};
use crate::notes::Notes;
use crate::sent::SentGroup;
use crate::wake_up::latest_wake_up;

/// Checks that frames have launch times where ETF requires them, and that they come to the kernel before.
///
/// # Errors
/// Frames without a launch time at a port whose ETF drops them.
pub(crate) fn check_launches(
    plant: &PlantFile,
    groups: &[SentGroup<'_>],
    notes: &mut Notes,
) -> Result<(), PlantError> {
    let mut faults = Vec::new();
    for sent in groups {
        let node = sent.instance.node;
        let mut ports = plant.network.ports.iter().filter(|port| port.node == node);
        let needs_launch = ports.any(|port| {
            let queue = port.discipline.queue_of(sent.pcp.value);
            // With txtime-assist, `taprio` gives the frames their times.
            queue.is_some_and(Queue::needs_txtime)
                && port.discipline.scheduler.txtime_assist().is_none()
        });
        let origin = sent.place.origin(sent.instance.configuration, &[]);
        match sent.launch {
            None if needs_launch => faults.push(ConfigurationFault {
                origin,
                entry: takt_scenario::toml_text::visible(&sent.entry),
                message: format!(
                    "its frames have no launch time, and etf at the port drops those of PCP {}",
                    sent.pcp.value
                ),
                help: "Write launch_times = \"strict\" in the WriterGroup, or give the port another queue".to_owned(),
            }),
            Some(_) if !needs_launch => notes.warn(
                origin,
                &sent.entry,
                format!(
                    "has launch_times, and no port of its device has etf for PCP {}",
                    sent.pcp.value
                ),
            ),
            Some(launch) => {
                let latest: Duration = latest_wake_up(plant, node);
                if latest >= launch.ahead {
                    notes.warn(
                        origin,
                        &sent.entry,
                        format!(
                            "its frames come to the kernel up to {latest} after the thread should wake up, and their launch time is after \
                             {}: etf drops late ones",
                            launch.ahead
                        ),
                    );
                }
            }
            None => {}
        }
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(PlantError::Configurations(faults)),
    }
}
