//! Receiver of the values that `takt publish --from` sends, in the process of the test.

use std::collections::HashMap;
use std::sync::Arc;

use takt_app::{NodeId, Variant};
use takt_cell::Cell;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::runtime::{PubSub, RuntimeOptions};
use takt_pubsub::subscriber::SubscriberObserver;
use takt_ua::structures::PubSubConnectionDataType;

use super::good::Good;

/// Configuration of a Publisher: 20 messages a second, with the times of the values. Each `KEY`th one has all values.
const PUBLISHER: &str = r#"
namespaces = ["http://opcfoundation.org/UA/", "urn:takt:provider:PROVIDER"]
[[published_data_sets]]
name = "Spindle"
fields = [
    { name = "Constant", data_type = "Double", published_variable = "ns=1;s=CONSTANT" },
    { name = "Changing", data_type = "Double", published_variable = "ns=1;s=CHANGING" },
]
[[connections]]
name = "UDP"
publisher_id = 6
address = "opc.udp://127.0.0.1:PORT"
[[connections.writer_groups]]
name = "Group"
writer_group_id = 1
publishing_interval = "50ms"
[[connections.writer_groups.data_set_writers]]
name = "Spindle"
data_set_writer_id = 1
data_set_name = "Spindle"
key_frame_count = KEY
field_encoding = "DataValue"
"#;

/// Configuration of the receiver.
const RECEIVER: &str = r#"
[[connections]]
name = "UDP"
address = "opc.udp://127.0.0.1:PORT"
[[connections.reader_groups]]
name = "Group"
[[connections.reader_groups.data_set_readers]]
name = "Spindle"
publisher_id = 6
writer_group_id = 1
data_set_writer_id = 1
message_receive_timeout = "500ms"
fields = [
    { name = "Constant", data_type = "Double", target_node_id = "ns=1;s=Constant" },
    { name = "Changing", data_type = "Double", target_node_id = "ns=1;s=Changing" },
]
"#;

/// Returns the configuration of a Publisher of two Variables of a Provider.
pub(super) fn publisher(
    provider: &str,
    [constant, changing]: [&str; 2],
    (port, key_frame_count): (u16, u32),
) -> String {
    PUBLISHER
        .replace("PROVIDER", provider)
        .replace("CONSTANT", constant)
        .replace("CHANGING", changing)
        .replace("PORT", &port.to_string())
        .replace("KEY", &key_frame_count.to_string())
}

/// A Subscriber with the cells that it sets.
pub(super) struct Receiver {
    cells: [Arc<Cell>; 2],
    _running: PubSub,
}

impl Receiver {
    pub(super) fn start(port: u16) -> Self {
        let configuration = from_toml(&RECEIVER.replace("PORT", &port.to_string()));
        let cells = [(); 2].map(|()| Arc::new(Cell::of(&Variant::Double(f64::NAN))));
        let ids = ["Constant", "Changing"].map(|name| NodeId::string(1, name));
        let mut targets: HashMap<_, _> = ids.into_iter().zip(cells.clone()).collect();
        let mut nobody =
            |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> { Box::new(()) };
        let running = PubSub::start(
            &configuration.unwrap().configuration,
            &mut HashMap::new(),
            &mut targets,
            &mut nobody,
            &RuntimeOptions::default(),
        );
        Self {
            cells,
            _running: running.unwrap(),
        }
    }

    /// Returns the constant value (0) or the one that changes (1); `None` if it is bad.
    pub(super) fn value(&self, at: usize) -> Option<Good> {
        Good::of(&self.cells[at].get().ok()?)
    }
}
