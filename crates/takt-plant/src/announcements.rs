//! Announcements of metadata, which are in no scenario.

use crate::configuration::PlantConfiguration;
use crate::identity::{discovery_address, stays_on_host};
use crate::lines::Step;
use crate::notes::Notes;

/// Warns of a connection that announces its metadata: the socket of announcements has the priority of those of the data. `index` is that
/// of the connection, and `entry` its name.
pub(crate) fn warn_of_announcements(
    file: &PlantConfiguration,
    index: usize,
    entry: &str,
    notes: &mut Notes,
) {
    let connections = &file.file.configuration.connections;
    let Some(connection) = connections.get(index).filter(|it| it.enabled) else {
        return;
    };
    let publishes = connection.writer_groups.iter().any(|group| group.enabled);
    let address = discovery_address(connection).filter(|it| publishes && !stays_on_host(it));
    if let Some(address) = address {
        let message = format!(
            "announces metadata at {address}, with the priority of its data: these frames are not counted; describe them as \
             cross_traffic with this PCP"
        );
        let steps = [Step::Key("connections"), Step::Index(index)];
        notes.warn(file.origin(&steps), entry, message);
    }
}
