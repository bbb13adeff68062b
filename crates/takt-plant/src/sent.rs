//! WriterGroups as senders of frames.

use std::collections::HashSet;

use takt_link::Address;
use takt_pubsub::check::{MistakeSeverity, check};
use takt_scenario::toml_text::visible;
use takt_scenario::{Duration, GroupAddress, PlantFile, PlantWriterGroup};
use takt_ua::structures::{
    PubSubConnectionDataType, UadpWriterGroupMessageDataType, WriterGroupDataType,
};

use crate::announcements::warn_of_announcements;
use crate::configuration::{PlantConfiguration, ValueOrigin};
use crate::entries::check_entries;
use crate::error::{ConfigurationFault, PlantError};
use crate::identity::{PublisherKey, address_of_group, multicast_group, publisher, stays_on_host};
use crate::instances::Instance;
use crate::lines::Step;
use crate::notes::Notes;
use crate::payload::{FrameLength, Refused, frames};
use crate::security::GroupSecurity;
use crate::timing::{Launch, picoseconds};

/// A WriterGroup that sends frames.
#[derive(Debug)]
pub(crate) struct SentGroup<'a> {
    pub(crate) instance: Instance<'a>,
    pub(crate) group: &'a WriterGroupDataType,
    pub(crate) settings: UadpWriterGroupMessageDataType,
    /// Place of the group in its file.
    pub(crate) place: GroupPlace,
    /// Name from the outside in: `UDP/Fast`.
    pub(crate) entry: String,
    /// Name of the group, or its number.
    pub(crate) name: String,
    pub(crate) address: Address,
    /// File and line of the address.
    pub(crate) address_by: ValueOrigin,
    /// Group of receivers to which the frames go. `None` for one receiver, and for a group that bridges forward to all ports.
    pub(crate) multicast: Option<GroupAddress>,
    pub(crate) security: GroupSecurity,
    pub(crate) publisher: Option<PublisherKey>,
    pub(crate) frames: Vec<FrameLength>,
    pub(crate) cycle: Duration,
    pub(crate) offset: Stated<Duration>,
    pub(crate) launch: Option<Launch>,
    pub(crate) vlan: Stated<u16>,
    pub(crate) pcp: Stated<u8>,
}

/// A value, and the file and line that state it, or `assumed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stated<T> {
    pub(crate) value: T,
    pub(crate) by: String,
}

/// Numbers of a WriterGroup and its connection, from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupPlace {
    pub(crate) connection: usize,
    pub(crate) group: usize,
}

impl GroupPlace {
    /// Returns the origin of a value of the group.
    pub(crate) fn origin(self, file: &PlantConfiguration, more: &[Step<'_>]) -> ValueOrigin {
        let group = [
            Step::Key("connections"),
            Step::Index(self.connection),
            Step::Key("writer_groups"),
            Step::Index(self.group),
        ];
        file.origin(&[&group[..], more].concat())
    }
}

/// Returns a name, or the number of an entry without one; `index` counts from 0.
pub(crate) fn named(name: &str, index: usize) -> String {
    match name {
        "" => format!("#{}", index + 1),
        name => name.to_owned(),
    }
}

/// Returns the WriterGroups that send frames.
///
/// # Errors
/// Mistakes of the configurations, groups whose frames have no greatest length or rate, and entries of the network file for groups
/// that do not exist.
pub(crate) fn sent_groups<'a>(
    plant: &PlantFile,
    instances: &[Instance<'a>],
    notes: &mut Notes,
) -> Result<Vec<SentGroup<'a>>, PlantError> {
    let mut reading = Reading {
        plant,
        notes,
        faults: Vec::new(),
        used: vec![0; plant.writer_groups.len()],
    };
    reading.check_files(instances);
    let mut groups = Vec::new();
    if reading.faults.is_empty() {
        for instance in instances {
            reading.groups_of(*instance, &mut groups);
        }
        check_entries(plant, &reading.used)?;
    }
    match reading.faults.is_empty() {
        true => Ok(groups),
        false => Err(PlantError::Configurations(reading.faults)),
    }
}

struct Reading<'p, 'n> {
    plant: &'p PlantFile,
    notes: &'n mut Notes,
    faults: Vec<ConfigurationFault>,
    /// Numbers of WriterGroups that the entries of `writer_groups` name.
    used: Vec<usize>,
}

impl Reading<'_, '_> {
    /// Reports the mistakes with which the configurations would not start.
    fn check_files(&mut self, instances: &[Instance<'_>]) {
        let mut seen: HashSet<*const PlantConfiguration> = HashSet::new();
        for Instance { configuration, .. } in instances {
            if !seen.insert(std::ptr::from_ref(*configuration)) {
                continue;
            }
            for mistake in check(&configuration.file) {
                if mistake.severity == MistakeSeverity::Error {
                    self.faults.push(ConfigurationFault {
                        origin: ValueOrigin {
                            file: configuration.name.clone(),
                            line: None,
                        },
                        entry: format!("[[{}]] {}", mistake.table, visible(&mistake.entry)),
                        message: format!("{}: {}", mistake.key, mistake.what),
                        help: mistake.fix,
                    });
                }
            }
        }
    }

    fn groups_of<'a>(&mut self, instance: Instance<'a>, groups: &mut Vec<SentGroup<'a>>) {
        let file = instance.configuration;
        let configuration = &file.file.configuration;
        if !configuration.enabled {
            let message = "PubSub is disabled: the scenario has none of its messages";
            self.notes.warn(file.origin(&[]), "", message);
            return;
        }
        for (index, connection) in configuration.connections.iter().enumerate() {
            let outer = named(connection.name.as_str(), index);
            warn_of_announcements(file, index, &outer, self.notes);
            for (at, group) in connection.writer_groups.iter().enumerate() {
                let name = named(group.name.as_str(), at);
                let place = GroupPlace {
                    connection: index,
                    group: at,
                };
                let entry = format!("{outer}/{name}");
                let properties = self.properties(instance, &name, &entry);
                let origin = place.origin(file, &[]);
                if !connection.enabled || !group.enabled {
                    let message = "is disabled: the scenario has none of its messages";
                    self.notes.warn(origin, &entry, message);
                    continue;
                }
                if let Some(left_out) = properties.as_ref().filter(|it| it.is_left_out) {
                    let line = self.plant.line(left_out.span.start);
                    let network = visible(self.plant.file_name());
                    let message =
                        format!("is left out by {network}:{line}: its frames are not counted");
                    self.notes.warn(origin, &entry, message);
                    continue;
                }
                let known = Known {
                    instance,
                    connection,
                    group,
                    place,
                    entry,
                    name,
                };
                match self.sent(&known, properties) {
                    Ok(sent) => groups.extend(sent),
                    Err(Refused { message, help }) => self.faults.push(ConfigurationFault {
                        origin,
                        entry: visible(&known.entry),
                        message,
                        help,
                    }),
                }
            }
        }
    }

    /// Returns the entry of the network file for a group, which names the group, or its connection and the group.
    fn properties(
        &mut self,
        instance: Instance<'_>,
        name: &str,
        entry: &str,
    ) -> Option<PlantWriterGroup> {
        let named = |wanted: &str| {
            let mut entries = self.plant.writer_groups.iter();
            entries.position(|it| it.device == instance.node && it.name.text == wanted)
        };
        let found = named(entry).or_else(|| named(name))?;
        if let Some(used) = self.used.get_mut(found) {
            *used += 1;
        }
        self.plant.writer_groups.get(found).cloned()
    }

    /// Returns a group that sends frames; `None` if its messages stay on their host.
    fn sent<'a>(
        &mut self,
        known: &Known<'a>,
        properties: Option<PlantWriterGroup>,
    ) -> Result<Option<SentGroup<'a>>, Refused> {
        let (file, place) = (known.instance.configuration, known.place);
        let (connection, group) = (known.connection, known.group);
        let address = address_of_group(group, &connection.address)
            .ok_or_else(|| Refused::new("has no address", "Write the address of its connection"))?;
        if stays_on_host(&address) {
            let message =
                format!("{address} does not leave the host: the scenario has none of its messages");
            self.notes
                .warn(place.origin(file, &[]), &known.entry, message);
            return Ok(None);
        }
        if address.has_topics() {
            return Err(Refused::left_out(
                "goes through a broker over TCP, for which there is no bound",
            ));
        }
        let cycle = picoseconds(group.publishing_interval).filter(|it| *it > Duration::ZERO);
        let cycle = cycle.ok_or_else(|| {
            let message = format!(
                "publishing_interval of {} ms is no time",
                group.publishing_interval
            );
            Refused::new(message, "Write a time above 0, such as \"1ms\"")
        })?;
        let settings: UadpWriterGroupMessageDataType =
            group.message_settings.decode_as().unwrap_or_default();
        let properties = properties.as_ref();
        let data_sets = &file.file.configuration.published_data_sets;
        let payload = properties.and_then(|it| Some((it.payload?, self.by(it))));
        let security = GroupSecurity::of(group.security_mode);
        let frames = frames(connection, group, data_sets, &address, payload)?;
        let offset = self.offset(known, &settings, properties);
        let launch = Launch::of(group, &settings, cycle);
        let (vlan, pcp) = self.tag(known, &address, properties);
        Ok(Some(SentGroup {
            instance: known.instance,
            group,
            settings,
            place,
            entry: known.entry.clone(),
            name: known.name.clone(),
            publisher: publisher(&connection.publisher_id),
            address_by: known.address_origin(),
            multicast: multicast_group(&address),
            security,
            address,
            frames,
            cycle,
            offset,
            launch,
            vlan,
            pcp,
        }))
    }

    /// Returns file and line of an entry of the network file.
    fn by(&self, entry: &PlantWriterGroup) -> String {
        let file = visible(self.plant.file_name());
        format!("{file}:{}", self.plant.line(entry.span.start))
    }

    fn offset(
        &mut self,
        known: &Known<'_>,
        settings: &UadpWriterGroupMessageDataType,
        properties: Option<&PlantWriterGroup>,
    ) -> Stated<Duration> {
        // A negative offset is none.
        let first = settings.publishing_offset.first();
        if let Some(offset) = first.and_then(|offset| picoseconds(*offset)) {
            let steps = [Step::Key("uadp"), Step::Key("publishing_offset")];
            let origin = known.place.origin(known.instance.configuration, &steps);
            return Stated::by(offset, origin);
        }
        if let Some(entry) = properties
            && let Some(offset) = entry.offset
        {
            return Stated::by(offset, self.by(entry));
        }
        self.notes.assume(
            "offset",
            &self.subject(known),
            "0 us",
            "write publishing_offset in the configuration, or offset in [[writer_groups]]; without one, intervals begin at any \
             time, which only the analysis `schedule` and gates tell apart",
        );
        Stated::by(Duration::ZERO, "assumed")
    }

    fn subject(&self, known: &Known<'_>) -> String {
        let node = self.plant.network.nodes.get(known.instance.node.0);
        format!("{}/{}", node.map_or("", |it| &it.name), known.name)
    }

    /// Returns VLAN and PCP: those of the address, of the WriterGroup's entry, or of the device.
    fn tag(
        &mut self,
        known: &Known<'_>,
        address: &Address,
        properties: Option<&PlantWriterGroup>,
    ) -> (Stated<u16>, Stated<u8>) {
        let of_address = known.address_origin().to_string();
        let tag = match address {
            Address::Ethernet { vlan, .. } => *vlan,
            _ => None,
        };
        let device = self.plant.devices.get(known.instance.device);
        let of_device = device.map_or(0, |it| self.plant.line(it.span.start));
        let of_device = format!("{}:{of_device}", visible(self.plant.file_name()));
        let of_entry = properties.map(|it| self.by(it)).unwrap_or_default();
        // VID 0 is a frame of no VLAN, which only has a priority.
        let id = tag.map(|tag| tag.id).filter(|id| *id != 0);
        let vlan = [
            (id, of_address.clone()),
            (properties.and_then(|it| it.vlan), of_entry.clone()),
            (device.and_then(|it| it.vlan), of_device.clone()),
            (Some(1), "no file has one".to_owned()),
        ];
        let pcp = [
            (tag.map(|tag| tag.priority), of_address),
            (properties.and_then(|it| it.pcp), of_entry),
            (device.and_then(|it| it.pcp), of_device),
        ];
        let vlan = first(vlan).unwrap_or(Stated::by(1, "no file has one"));
        let pcp = first(pcp).unwrap_or_else(|| {
            self.notes.assume(
                "pcp",
                &self.subject(known),
                "0",
                "write it in [[writer_groups]] or [[devices]], or in the address (opc.eth://…:VID.PCP); opc.udp:// has none, and \
                 the host gives frames the PCP of its socket priority",
            );
            Stated::by(0, "assumed")
        });
        (vlan, pcp)
    }
}

/// A WriterGroup, before its frames are known.
struct Known<'a> {
    instance: Instance<'a>,
    connection: &'a PubSubConnectionDataType,
    group: &'a WriterGroupDataType,
    place: GroupPlace,
    entry: String,
    name: String,
}

impl Known<'_> {
    /// Returns the place of the connection's address.
    fn address_origin(&self) -> ValueOrigin {
        self.instance.configuration.origin(&[
            Step::Key("connections"),
            Step::Index(self.place.connection),
            Step::Key("address"),
        ])
    }
}

impl<T> Stated<T> {
    fn by(value: T, by: impl ToString) -> Self {
        Self {
            value,
            by: by.to_string(),
        }
    }
}

/// Returns the first value that is there.
fn first<T>(values: impl IntoIterator<Item = (Option<T>, String)>) -> Option<Stated<T>> {
    let mut values = values.into_iter();
    values.find_map(|(value, by)| Some(Stated { value: value?, by }))
}
