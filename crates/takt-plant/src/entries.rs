//! Entries of the network file for WriterGroups.

use takt_scenario::PlantFile;
use takt_scenario::toml_text::quoted;

use crate::error::PlantError;

/// Reports entries that name no WriterGroup, or several: an entry for one must not change another one. `used` has the number of
/// WriterGroups for each entry.
pub(crate) fn check_entries(plant: &PlantFile, used: &[usize]) -> Result<(), PlantError> {
    let entries = plant.writer_groups.iter().zip(used);
    let mistakes: Vec<_> = entries
        .filter_map(|(entry, used)| {
            let node = plant.network.nodes.get(entry.device.0);
            let node = node.map_or("", |it| &it.name);
            let name = &entry.name.text;
            let (message, help) = match used {
                1 => return None,
                0 => (
                    format!("`{node}` has no WriterGroup `{name}`"),
                    "write the name that its configuration has, or #1 for the first one of a connection without a name".to_owned(),
                ),
                several => (
                    format!("`{node}` has {several} WriterGroups `{name}`"),
                    format!(
                        "write an entry for each, with the name of its connection: {}",
                        quoted(&format!("CONNECTION/{name}"))
                    ),
                ),
            };
            Some((entry.name.span.clone(), message, Some(help)))
        })
        .collect();
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(PlantError::Network(plant.errors_at(mistakes))),
    }
}
