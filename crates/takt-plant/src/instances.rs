//! Configurations on the devices that run them.

use std::path::{Component, Path};

use takt_scenario::toml_text::visible;
use takt_scenario::{NodeIndex, PlantFile};

use crate::configuration::PlantConfiguration;
use crate::error::PlantError;

/// A configuration on a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instance<'a> {
    /// Index of the device in the network file.
    pub(crate) device: usize,
    pub(crate) node: NodeIndex,
    pub(crate) configuration: &'a PlantConfiguration,
}

/// Returns each configuration of each device.
///
/// # Errors
/// Names that are those of no configuration or of several, and configurations that no device runs.
pub(crate) fn instances<'a>(
    plant: &PlantFile,
    configurations: &'a [PlantConfiguration],
) -> Result<Vec<Instance<'a>>, PlantError> {
    let mut instances = Vec::new();
    let mut mistakes = Vec::new();
    let mut run = vec![false; configurations.len()];
    for (device, entry) in plant.devices.iter().enumerate() {
        for name in &entry.configurations {
            let named = configurations.iter().enumerate();
            let named: Vec<_> = named
                .filter(|(_, it)| ends_with(&it.name, &name.text))
                .collect();
            if let &[(index, configuration)] = named.as_slice() {
                run[index] = true;
                instances.push(Instance {
                    device,
                    node: entry.node,
                    configuration,
                });
                continue;
            }
            let (message, help) = match named.as_slice() {
                [] => (
                    format!("no configuration `{}` is given", name.text),
                    format!("given: {}", names(configurations.iter())),
                ),
                several => (
                    format!("`{}` is the name of several configurations", name.text),
                    format!(
                        "write more of the path: {}",
                        names(several.iter().map(|it| it.1))
                    ),
                ),
            };
            mistakes.push((name.span.clone(), message, Some(help)));
        }
    }
    for (configuration, _) in configurations.iter().zip(&run).filter(|(_, run)| !**run) {
        let name = visible(&configuration.name);
        let place = plant.place("devices").unwrap_or(0);
        mistakes.push((
            place..place,
            format!("no device runs the configuration `{name}`"),
            Some("add it to the `configurations` of a device".to_owned()),
        ));
    }
    match mistakes.is_empty() {
        true => Ok(instances),
        false => Err(PlantError::Network(plant.errors_at(mistakes))),
    }
}

fn names<'c>(configurations: impl Iterator<Item = &'c PlantConfiguration>) -> String {
    // More names would hide the message.
    const SHOWN: usize = 8;
    let mut names: Vec<String> = configurations.map(|it| visible(&it.name)).collect();
    if names.len() > SHOWN {
        names.truncate(SHOWN);
        names.push("\u{2026}".to_owned());
    }
    names.join(", ")
}

/// Returns true if a path ends with these components.
fn ends_with(path: &str, end: &str) -> bool {
    let (path, end) = (reversed(path), reversed(end));
    !end.is_empty() && path.starts_with(&end)
}

/// Returns the components of a path, the last one first.
fn reversed(path: &str) -> Vec<Component<'_>> {
    let components = Path::new(path).components();
    let components = components.filter(|it| !matches!(it, Component::CurDir));
    components.rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_end_of_a_path() {
        assert!(ends_with("examples/plant/press.toml", "press.toml"));
        assert!(ends_with("examples/plant/press.toml", "plant/press.toml"));
        assert!(ends_with("press.toml", "./press.toml"));
        assert!(!ends_with("examples/plant/xpress.toml", "press.toml"));
        assert!(!ends_with("press.toml", "plant/press.toml"));
        assert!(!ends_with("press.toml", ""));
    }
}
