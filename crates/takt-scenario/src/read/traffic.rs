//! Applications and cross traffic, and their flows.

use super::{NamedFlow, Reader};
use crate::discipline::Queue;
use crate::document::{Item, Table};
use crate::error::Problem;
use crate::fields::{APPLICATION, CROSS_TRAFFIC, MESSAGES, PACES, PACKETS};
use crate::model::{
    Application, ApplicationIndex, CrossTraffic, CrossTrafficIndex, MessageSecurity, Pattern,
    Phases, Port, SecurityMode, default_group,
};
use crate::quantity::{Duration, Rate, Share, Size};
use crate::{Flow, FlowSource, Frame};

/// Bytes of the headers of IPv4, without options, and UDP.
const UDP_HEADERS: u64 = 20 + 8;

/// Returns the number of fields of each DataSetWriter.
fn fields_of_writers(item: &Item) -> Vec<u32> {
    let fields = item.list().iter();
    fields
        .filter_map(|item| item.value.show().parse().ok())
        .collect()
}

/// Returns the security of messages: a SecurityMode, or a table.
fn security(item: &Item) -> MessageSecurity {
    let mode = |item: &Item| match item.text() {
        Some("Sign") => SecurityMode::Sign,
        Some("SignAndEncrypt") => SecurityMode::SignAndEncrypt,
        _ => SecurityMode::None,
    };
    let Some(table) = item.table() else {
        return MessageSecurity {
            mode: mode(item),
            ..MessageSecurity::default()
        };
    };
    match table.get("mode").map_or(SecurityMode::None, mode) {
        // A sweep over modes keeps the times.
        SecurityMode::None => MessageSecurity::default(),
        mode => MessageSecurity {
            mode,
            protect: table.quantity("protect").unwrap_or_default(),
            verify: table.quantity("verify").unwrap_or_default(),
        },
    }
}

impl Reader<'_> {
    pub(super) fn applications(&mut self) -> (Vec<Application>, Vec<NamedFlow>) {
        let document = self.document;
        let tables = || document.tables("applications");
        self.distinct("applications", tables().map(|(_, table)| table));
        let (mut applications, mut flows) = (Vec::new(), Vec::new());
        for (item, table) in tables() {
            let Some(mut application) = self.application(item, table) else {
                continue;
            };
            self.groups(&mut application, applications.len(), table);
            let id = ApplicationIndex(applications.len());
            flows.extend(self.flows_of(id, &application, item, table));
            applications.push(application);
        }
        (applications, flows)
    }

    fn application(&mut self, item: &Item, table: &Table) -> Option<Application> {
        let publisher = self.node_field(table, "publisher");
        let receiver = self.receiver(item, table);
        let security = table
            .get("security")
            .map_or_else(Default::default, security);
        let frame = self.one_of(APPLICATION.name, item, table, MESSAGES);
        let frame = frame.and_then(|(name, item)| self.message(name, item, security));
        let writers = table.get("writers").map(fields_of_writers);
        let phases = table
            .get("phases")
            .map_or(Phases::default(), |item| self.phases(item));
        Some(Application {
            name: table.text("name")?.to_owned(),
            publisher: publisher?,
            receiver: receiver?,
            cycle: table.quantity("cycle")?,
            offset: table.quantity("offset").unwrap_or_default(),
            phases,
            frame: frame?,
            writers: writers.unwrap_or_default(),
            security,
            group: default_group(0),
            written_group: None,
            return_group: default_group(0),
            vlan: table.integer("vlan").unwrap_or(1),
            pcp: table.integer("pcp").unwrap_or(3),
            txtime: None,
            immediate: table.boolean("immediate").unwrap_or(false),
        })
    }

    /// Returns the field that is there, of several of which one must be.
    pub(super) fn one_of<'t>(
        &mut self,
        what: &str,
        item: &Item,
        table: &'t Table,
        names: &[&'static str],
    ) -> Option<(&'static str, &'t Item)> {
        let list = format!("`{}`", names.join("`, `"));
        let there = names
            .iter()
            .filter_map(|name| Some((*name, table.get(name)?)));
        let there: Vec<(&str, &Item)> = there.collect();
        match there.as_slice() {
            [one] => Some(*one),
            [] => {
                self.problem(format!("{what} needs one of {list}"), &item.span);
                None
            }
            [_, second, ..] => {
                self.problem(format!("{what} has only one of {list}"), &second.1.span);
                None
            }
        }
    }

    /// Returns the frame of a message with its security.
    fn message(&mut self, way: &str, item: &Item, security: MessageSecurity) -> Option<Frame> {
        let frame = match way {
            "writers" => self.frame_of_writers(item),
            _ => self.frame(way, item),
        }?;
        let secured = frame.longer(security.mode.bytes());
        if secured.is_err() {
            let message = format!(
                "a message of {} B with {} B of security does not fit in an Ethernet frame, which holds {} B",
                frame.payload(),
                security.mode.bytes(),
                Frame::LONGEST.payload()
            );
            self.problem(message, &item.span);
        }
        secured.ok()
    }

    fn frame_of_writers(&mut self, item: &Item) -> Option<Frame> {
        let writers = fields_of_writers(item);
        if writers.is_empty() {
            let problem = Problem::new("a message has at least one writer", item.span.clone());
            let help = "write the number of fields of each: writers = [8, 3]";
            self.problems.push(problem.with_help(help));
            return None;
        }
        let frame = Frame::of_writers(&writers);
        if let Err(error) = &frame {
            self.problem(error.to_string(), &item.span);
        }
        frame.ok()
    }

    fn frame(&mut self, way: &str, item: &Item) -> Option<Frame> {
        let count = item
            .quantity::<Size>()
            .map(|size| size.0)
            .or_else(|| item.value.show().parse().ok())?;
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let frame = match way {
            "repeated_node_count" => Frame::of_repeated_node_count(narrow(count)),
            // `check` has verified that the count is 1 at least.
            "fields" => Frame::of_repeated_node_count(narrow(count - 1)),
            "udp_payload" => Frame::new(narrow(count.saturating_add(UDP_HEADERS))),
            _ => Frame::new(narrow(count)),
        };
        match frame {
            Ok(frame) => Some(frame),
            Err(error) => {
                self.problem(error.to_string(), &item.span);
                None
            }
        }
    }

    fn phases(&mut self, item: &Item) -> Phases {
        let usual = Phases::default();
        let get = |name, usual: Share| {
            item.table()
                .and_then(|table| table.quantity(name))
                .unwrap_or(usual)
        };
        let phases = Phases {
            subscriber: get("subscriber", usual.subscriber),
            user: get("user", usual.user),
            publisher: get("publisher", usual.publisher),
        };
        let order = [Share(0), phases.subscriber, phases.user, phases.publisher];
        if !order.is_sorted() || phases.publisher >= Share::ONE {
            self.problem(
                "phases must be in ascending order, at least 0 and less than 1",
                &item.span,
            );
        }
        phases
    }

    pub(super) fn cross_traffic(&mut self) -> (Vec<CrossTraffic>, Vec<NamedFlow>) {
        let document = self.document;
        let tables = || document.tables("cross_traffic");
        self.distinct("flows of cross traffic", tables().map(|(_, table)| table));
        // Results name the flows of both kinds by these names.
        for name in tables().filter_map(|(_, table)| table.get("name")) {
            let is_same = |(_, table): (&Item, &Table)| table.text("name") == name.text();
            if document.tables("applications").any(is_same) {
                self.problem("there is an application of this name", &name.span);
            }
        }
        let (mut all, mut flows) = (Vec::new(), Vec::new());
        for (item, table) in tables() {
            let Some(traffic) = self.one_cross_traffic(item, table) else {
                continue;
            };
            if let Some(ports) = self.route(traffic.from, traffic.to, table.get("path"), item) {
                flows.push(NamedFlow {
                    flow: Flow {
                        source: FlowSource::Cross(CrossTrafficIndex(all.len())),
                        ports,
                        fork: None,
                        frame: traffic.frame,
                        pcp: traffic.pcp,
                        interval: traffic.interval,
                    },
                    name: traffic.name.clone(),
                });
            }
            all.push(traffic);
        }
        (all, flows)
    }

    /// Reads a flow of cross traffic; `None` for an invalid one, and for one without traffic.
    fn one_cross_traffic(&mut self, item: &Item, table: &Table) -> Option<CrossTraffic> {
        let from = self.node_field(table, "from");
        let to = self.node_field(table, "to");
        let frame = self.one_of(CROSS_TRAFFIC.name, item, table, PACKETS);
        let frame = frame.and_then(|(name, item)| self.frame(name, item));
        let pace = self.one_of(CROSS_TRAFFIC.name, item, table, PACES);
        let frame = frame?;
        let interval = match pace? {
            ("interval", item) => item.quantity::<Duration>()?,
            (_, item) if item.quantity() == Some(Rate(0)) => return None,
            (_, item) => {
                // Rounded down by at most a picosecond, so that the traffic is at least that of the file.
                let bits = 8 * u128::from(frame.physical()) * 1_000_000_000_000;
                let interval = bits / u128::from(item.quantity::<Rate>()?.0.max(1));
                Duration(u64::try_from(interval).unwrap_or(u64::MAX).max(1))
            }
        };
        let pattern = match table.get("pattern") {
            Some(item) if item.text() == Some("poisson") => Pattern::Poisson,
            Some(item) => item
                .table()
                .and_then(|table| table.integer("burst"))
                .map_or(Pattern::Constant, Pattern::Burst),
            None => Pattern::Constant,
        };
        Some(CrossTraffic {
            name: table.text("name")?.to_owned(),
            from: from?,
            to: to?,
            frame,
            interval,
            vlan: table.integer("vlan").unwrap_or(1),
            pcp: table.integer("pcp").unwrap_or(0),
            pattern,
        })
    }

    /// Sets the time ahead at which applications give frames to the kernel.
    pub(super) fn txtimes(
        &mut self,
        mut applications: Vec<Application>,
        flows: &[NamedFlow],
        ports: &[Port],
    ) -> Vec<Application> {
        let document = self.document;
        for NamedFlow { flow, .. } in flows {
            let FlowSource::Publish(id) = flow.source else {
                continue;
            };
            let (Some(application), Some(port)) = (
                applications.get_mut(id.0),
                flow.ports.first().and_then(|port| ports.get(port.0)),
            ) else {
                continue;
            };
            let said = document
                .tables("applications")
                .find(|(_, table)| table.text("name") == Some(&application.name));
            let said =
                said.and_then(|(_, table)| Some((table.get("txtime")?, table.boolean("txtime")?)));
            let queue = port.discipline.queue_of(application.pcp);
            let assisted = port.discipline.scheduler.txtime_assist().is_some();
            // With txtime-assist, `taprio` gives the frames their txtimes.
            let wanted = queue.is_some_and(Queue::needs_txtime) && !assisted;
            if wanted && let Some((item, false)) = said {
                self.problems.push(Problem::new(
                    "the etf of the first port drops frames without a txtime",
                    item.span.clone(),
                ));
            }
            if said.map_or(wanted, |(_, said)| said) {
                let wait = Share(Share::ONE.0.saturating_sub(application.phases.publisher.0));
                application.immediate = false;
                application.txtime = Some(application.cycle.part(wait).plus(application.offset));
            }
        }
        applications
    }
}
