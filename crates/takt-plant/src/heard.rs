//! DataSetReaders as receivers of frames.

use takt_link::Address;
use takt_scenario::NodeIndex;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{DataSetReaderDataType, UadpDataSetReaderMessageDataType};

use crate::configuration::ValueOrigin;
use crate::identity::{PublisherKey, address_of_reader, publisher, stays_on_host};
use crate::instances::Instance;
use crate::lines::Step;
use crate::sent::named;

/// A DataSetReader that receives frames.
#[derive(Debug)]
pub(crate) struct HeardReader<'a> {
    pub(crate) node: NodeIndex,
    pub(crate) reader: &'a DataSetReaderDataType,
    pub(crate) settings: UadpDataSetReaderMessageDataType,
    pub(crate) origin: ValueOrigin,
    /// Name from the outside in: `UDP/Fast/Spindle`.
    pub(crate) entry: String,
    pub(crate) address: Address,
    pub(crate) publisher: Option<PublisherKey>,
    pub(crate) security: MessageSecurityMode,
}

/// Returns the enabled readers that receive frames.
pub(crate) fn heard_readers<'a>(instances: &[Instance<'a>]) -> Vec<HeardReader<'a>> {
    let mut readers = Vec::new();
    for instance in instances {
        let file = instance.configuration;
        let configuration = &file.file.configuration;
        let connections = configuration.connections.iter().enumerate();
        for (index, connection) in connections.filter(|_| configuration.enabled) {
            let outer = named(connection.name.as_str(), index);
            let groups = connection.reader_groups.iter().enumerate();
            for (at, group) in groups.filter(|(_, it)| connection.enabled && it.enabled) {
                let of_group = named(group.name.as_str(), at);
                for (number, reader) in group.data_set_readers.iter().enumerate() {
                    let address = address_of_reader(reader, &connection.address);
                    let address = address.filter(|it| !stays_on_host(it) && !it.has_topics());
                    let Some(address) = address.filter(|_| reader.enabled) else {
                        continue;
                    };
                    let own = named(reader.name.as_str(), number);
                    readers.push(HeardReader {
                        node: instance.node,
                        reader,
                        settings: reader.message_settings.decode_as().unwrap_or_default(),
                        origin: file.origin(&[
                            Step::Key("connections"),
                            Step::Index(index),
                            Step::Key("reader_groups"),
                            Step::Index(at),
                            Step::Key("data_set_readers"),
                            Step::Index(number),
                        ]),
                        entry: format!("{outer}/{of_group}/{own}"),
                        address,
                        publisher: publisher(&reader.publisher_id),
                        security: match reader.security_mode {
                            MessageSecurityMode::Invalid => group.security_mode,
                            own => own,
                        },
                    });
                }
            }
        }
    }
    readers
}
