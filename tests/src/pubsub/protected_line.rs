//! Both ends of a line of protected messages, as configuration files of `takt publish` and `takt subscribe`.

use std::time::Duration;

/// Messages of one DataSet, which the SecurityGroup `Plant` signs and encrypts.
#[derive(Debug)]
pub struct ProtectedLine<'a> {
    /// Address of the messages.
    pub address: String,
    /// Interval of the messages.
    pub interval: Duration,
    /// Beginning of both files.
    pub head: &'a str,
}

impl ProtectedLine<'_> {
    /// Returns the configuration of the Publisher; `interface` is the network interface, if the route does not tell it.
    #[must_use]
    pub fn publisher(&self, interface: Option<&str>) -> String {
        let Self { address, head, .. } = self;
        let interval = self.interval.as_millis();
        let interface = network_interface(interface);
        format!(
            r#"
            {head}

            [[published_data_sets]]
            name = "Data"
            fields = [{{ name = "Count", data_type = "UInt32", published_variable = "ns=1;s=Count" }}]

            [[connections]]
            name = "UDP"
            publisher_id = 5
            address = "{address}"
            {interface}

            [[connections.writer_groups]]
            name = "Group"
            writer_group_id = 1
            publishing_interval = "{interval}ms"
            security_mode = "SignAndEncrypt"
            security_group_id = "Plant"

            [[connections.writer_groups.data_set_writers]]
            name = "Writer"
            data_set_writer_id = 1
            data_set_name = "Data"
            "#
        )
    }

    /// Returns the configuration of the Subscriber, as [`publisher`](Self::publisher) does.
    #[must_use]
    pub fn subscriber(&self, interface: Option<&str>) -> String {
        let Self { address, head, .. } = self;
        let interface = network_interface(interface);
        format!(
            r#"
            {head}

            [[connections]]
            name = "UDP"
            address = "{address}"
            {interface}

            [[connections.reader_groups]]
            name = "Group"
            security_mode = "SignAndEncrypt"
            security_group_id = "Plant"

            [[connections.reader_groups.data_set_readers]]
            name = "Reader"
            publisher_id = 5
            data_set_writer_id = 1
            fields = [{{ name = "Count", data_type = "UInt32" }}]
            "#
        )
    }
}

fn network_interface(name: Option<&str>) -> String {
    name.map(|name| format!("network_interface = \"{name}\""))
        .unwrap_or_default()
}
