//! Parameters that WriterGroups and ReaderGroups share (PubSubGroupDataType, OPC 10000-14, 6.2.5.7), and the settings of messages and
//! transport that WriterGroups, DataSetWriters and DataSetReaders have alike.

/// Returns the structure of a group: the shared parameters from its table, and others.
macro_rules! read_group {
    ($structure:ident, $table:ident, { $($others:tt)* }) => {
        $structure {
            name: read_string($table.name),
            enabled: $table.enabled.0,
            security_mode: security::read($table.security_mode, security::GROUP),
            security_group_id: read_string($table.security_group_id),
            security_key_services: read_structures($table.security_key_services),
            max_network_message_size: $table.max_network_message_size,
            group_properties: read_properties($table.group_properties),
            $($others)*
        }
    };
}

/// Returns the table of a group: the shared parameters from its structure, and others.
macro_rules! write_group {
    ($structure:ident, { $($others:tt)* }) => {
        Self {
            name: write_string(&$structure.name),
            enabled: Enabled($structure.enabled),
            security_mode: security::write($structure.security_mode, security::GROUP),
            security_group_id: write_string(&$structure.security_group_id),
            security_key_services: write_structures(&$structure.security_key_services),
            max_network_message_size: $structure.max_network_message_size,
            group_properties: write_properties(&$structure.group_properties),
            $($others)*
        }
    };
}

/// Returns the settings of messages from a table.
macro_rules! read_messages {
    ($table:ident) => {
        MessageSettings {
            uadp: $table.uadp,
            json: $table.json,
            message_settings: $table.message_settings,
        }
    };
}

/// Returns a table, perhaps that of a group: the settings of messages and of the transport, and others.
macro_rules! write_settings {
    ($messages:ident, $transport:ident, write_group!($group:ident, { $($others:tt)* })) => {
        write_group!($group, {
            uadp: $messages.uadp,
            json: $messages.json,
            message_settings: $messages.message_settings,
            broker: $transport.0,
            transport_settings: $transport.1,
            $($others)*
        })
    };
    ($messages:ident, $transport:ident, Self { $($others:tt)* }) => {
        Self {
            uadp: $messages.uadp,
            json: $messages.json,
            message_settings: $messages.message_settings,
            broker: $transport.0,
            transport_settings: $transport.1,
            $($others)*
        }
    };
}

pub(super) use {read_group, read_messages, write_group, write_settings};
