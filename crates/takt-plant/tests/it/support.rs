//! Configurations and network files of the tests.

use takt_plant::{PlantConfiguration, PlantError, PlantScenario, scenario_of_plant};
use takt_pubsub::configuration::from_toml;
use takt_scenario::PlantFile;

/// Network of two hosts and a bridge.
pub(crate) const PLANT: &str = "version = 1
nodes = [{ name = \"a\" }, { name = \"b\" }, { name = \"x\", kind = \"bridge\" }]
links = [{ ends = [\"a\", \"x\"] }, { ends = [\"x\", \"b\"] }]
devices = [
    { node = \"a\", configurations = [\"a.toml\"] },
    { node = \"b\", configurations = [\"b.toml\"] },
]
";

/// Configuration with a WriterGroup and its writer.
pub(crate) const WRITER: &str = "[[published_data_sets]]
name = \"Data\"
fields = [{ name = \"Value\", data_type = \"Double\", published_variable = \"ns=1;s=Value\" }]
[[connections]]
name = \"Out\"
publisher_id = 5
address = \"opc.eth://01-00-5E-00-00-01:10.6\"
network_interface = \"eth0\"
[[connections.writer_groups]]
name = \"Fast\"
writer_group_id = 1
publishing_interval = \"1ms\"
uadp = { publishing_offset = [\"200us\"] }
[[connections.writer_groups.data_set_writers]]
name = \"Data\"
data_set_writer_id = 1
data_set_name = \"Data\"
";

/// Configuration with its reader.
pub(crate) const READER: &str = "[[connections]]
name = \"In\"
address = \"opc.eth://01-00-5E-00-00-01:10.6\"
network_interface = \"eth0\"
[[connections.reader_groups]]
name = \"Fast\"
[[connections.reader_groups.data_set_readers]]
name = \"Data\"
publisher_id = 5
writer_group_id = 1
data_set_writer_id = 1
message_receive_timeout = \"10ms\"
";

/// Returns a configuration of a text.
pub(crate) fn configuration(name: &str, text: &str) -> PlantConfiguration {
    let file = from_toml(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    PlantConfiguration::new(name, file, Some(text))
}

/// Makes the scenario of texts.
pub(crate) fn made(plant: &str, files: &[(&str, &str)]) -> Result<PlantScenario, PlantError> {
    let plant = PlantFile::parse(plant, "plant.toml").map_err(PlantError::Network)?;
    let configurations: Vec<_> = files
        .iter()
        .map(|(name, text)| configuration(name, text))
        .collect();
    scenario_of_plant(&plant, &configurations)
}

/// Makes the scenario of a writer and a reader in [`PLANT`].
pub(crate) fn made_of(writer: &str, reader: &str) -> Result<PlantScenario, PlantError> {
    made(PLANT, &[("a.toml", writer), ("b.toml", reader)])
}
