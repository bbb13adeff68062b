//! `takt publish FILE`: publishes DataSets.

mod given_values;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use takt_app::Mirror;
use takt_cell::Cell;
use takt_link::LaunchMode;
use takt_pubsub::configuration::ConfigurationFile;
use takt_pubsub::publisher::{DataSource, FieldSource, PublishedField, SimulatedValues};
use takt_pubsub::runtime::{
    ComponentState, KernelQueue, LinkOptions, LinkPlan, PubSub, launch_lead, writer_group_link,
};
use takt_pubsub::subscriber::{SubscribedField, SubscriberObserver};
use takt_ua::NodeId;
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{
    PubSubConfiguration2DataType, PubSubConnectionDataType, PublishedDataItemsDataType,
};
use takt_wakeup::WatchedCalls;

use self::given_values::GivenValues;
use super::control_loop;
use super::late_causes;
use super::launch_check::{self, LaunchedLink};
use super::pubsub::config;
use super::pubsub::keys::PushTarget;
use super::pubsub::reports::component_json;
use super::pubsub::running::{Running, connect, explain_start, refuse_stray_user, runtime_options};
use super::pubsub::watchdog::Watchdog;
use crate::arguments::{ControlLoopArguments, Given, PublishArguments};
use crate::output::joined;
use crate::server_interrupt;
use crate::{explain, output};

/// Options that `takt publish` has with a scenario, too, besides those of a control loop.
const OF_SCENARIO: [&str; 21] = [
    "for",
    "timeout",
    "priority",
    "core",
    "json",
    "force",
    "field",
    "application",
    "interface",
    "there",
    "back",
    "sending",
    "waiting",
    "cycles",
    "spin",
    "misses",
    "on-miss",
    "trace",
    "trace-points",
    "why",
    "above",
];

/// Sampling interval if the configuration has none.
const SAMPLING: Duration = Duration::from_millis(10);

pub fn run(arguments: &PublishArguments, given: &Given) -> miette::Result<()> {
    let content = config::read_bytes(&arguments.file)?;
    let file = arguments.file.display();
    if control_loop::is_scenario(&content) {
        given.refuse::<PublishArguments>(&OF_SCENARIO, |option| {
            (
                format!("{option} is for a PubSub configuration, and {file} is a scenario"),
                "--field FIELD=VALUE changes a field of a scenario. `takt publish --help` lists its options.".to_owned(),
            )
        })?;
        return control_loop::publish(arguments, content);
    }
    let of_both = ["json", "force", "why", "above", "waiting", "field"];
    let of_both = match arguments.watchdog.scenario {
        Some(_) => &of_both[..],
        None => &of_both[..5],
    };
    given.refuse::<ControlLoopArguments>(of_both, |option| {
        (
            format!("{option} is for a scenario, and {file} is a PubSub configuration"),
            "`takt publish --help` lists the options for each of them.".to_owned(),
        )
    })?;
    refuse_stray_user(&arguments.run, arguments.from.is_some())?;
    let interrupt = server_interrupt::install()?;
    let (mut file, _) = config::of_bytes(&arguments.file, content, None)?;
    for connection in &mut file.configuration.connections {
        // This command does not receive.
        connection.reader_groups.clear();
    }
    file.configuration
        .connections
        .retain(|connection| connection.enabled && !connection.writer_groups.is_empty());
    config::check_before_start(&arguments.file, &file)?;
    let configuration = file.configuration.clone();
    let mirror = mirror(arguments, &file)?;
    let mut source = Source {
        set: given_values::of(&arguments.set, &file.configuration)?,
        mirrored: mirror
            .as_ref()
            .map(|it| it.cells.clone())
            .unwrap_or_default(),
        simulation: arguments.simulate.then(SimulatedValues::new),
    };
    // Nothing is received, so nothing is observed or written.
    let mut nobody =
        |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> { Box::new(()) };
    let mut nowhere = |_: SubscribedField<'_>| None;
    let mut options = runtime_options(&arguments.run)?;
    if let Some(cycles) = arguments.control.waiting {
        options.kernel_queue = KernelQueue::Cycles(usize::from(cycles.get()));
    }
    let launch_faults = check_ports(&configuration, &options.link, arguments.control.force)?;
    let watchdog = Watchdog::of(
        &arguments.watchdog,
        &arguments.control.settings,
        &configuration,
        arguments.run.share.group.as_deref(),
    )?;
    if let Some(watchdog) = &watchdog {
        options.watched = watchdog.flows().clone();
    }
    let recorder = match arguments.control.why {
        true => Some(late_causes::start(WatchedCalls::Any)?),
        false => None,
    };
    let watch = |recorder| late_causes::watch(recorder, arguments.control.above);
    options.publishing_watch = recorder.as_ref().map(watch);
    let running = PubSub::start(
        &configuration,
        &mut source,
        &mut nowhere,
        &mut nobody,
        &options,
    );
    let mut running = Running::new(
        running.map_err(|error| explain_start(&error))?,
        &arguments.run,
        interrupt,
        PushTarget::new("publisher", Some(&configuration)),
    )?
    .with_watchdog(watchdog);
    if running.pub_sub.writer_groups().next().is_none() {
        return Err(explain::with_help(
            format!(
                "{} has no WriterGroup that is enabled",
                arguments.file.display()
            ),
            "docs/pubsub.md shows a configuration that publishes.",
        ));
    }
    if let Some(recorder) = &recorder {
        late_causes::check(recorder)?;
    }
    let live = std::io::IsTerminal::is_terminal(&std::io::stdout()) && !arguments.control.json;
    let mut states = BTreeMap::new();
    while running.goes_on() {
        if arguments.control.json {
            print_changes(&mut states, &running.pub_sub);
        }
        if live {
            let groups = running.pub_sub.writer_groups();
            let flows = running.watchdog().map(Watchdog::rows);
            let rows = groups.map(|group| row(&group));
            let rows: Vec<_> = rows.chain(flows.unwrap_or_default()).collect();
            output::written(running.screen.show(&rows));
        }
        running.wait();
    }
    running.stop();
    let rows: Vec<String> = running
        .pub_sub
        .writer_groups()
        .map(|group| match arguments.control.json {
            true => {
                let own = launch_faults.iter().filter(|(name, _)| *name == group.name);
                let own: Vec<&String> = own.map(|(_, fault)| fault).collect();
                result(&group, &own).to_string()
            }
            false => row(&group),
        })
        .collect();
    let flows = match (running.watchdog(), arguments.control.json) {
        (None, _) => Vec::new(),
        (Some(watchdog), true) => watchdog.objects().iter().map(Value::to_string).collect(),
        (Some(watchdog), false) => watchdog.rows(),
    };
    let rows: Vec<String> = rows.into_iter().chain(flows).collect();
    match live {
        true => output::written(running.screen.show(&rows)),
        false => rows.iter().for_each(output::line),
    }
    let late = recorder.map(|recorder| recorder.finish());
    if let Some(late) = &late {
        let core = |_| arguments.run.core;
        late_causes::print(late, arguments.control.json, &core);
    }
    running.finish()?;
    late.as_ref().map_or(Ok(()), late_causes::outcome)
}

/// Checks the ports of all WriterGroups with launch times. Returns the faults that --force ignores, with the name
/// CONNECTION/GROUP of each.
fn check_ports(
    configuration: &PubSubConfiguration2DataType,
    options: &LinkOptions,
    force: bool,
) -> miette::Result<Vec<(String, String)>> {
    let mut plans = Vec::new();
    for connection in &configuration.connections {
        for group in connection.writer_groups.iter().filter(|it| it.enabled) {
            // A mistake in the configuration is explained by its start.
            let plan = writer_group_link(connection, group, options).ok();
            let launched = plan.and_then(|plan| Some((plan.options.launch_times?, plan)));
            let name = format!("{}/{}", connection.name, group.name);
            plans.extend(launched.map(|(mode, plan)| (name, mode, plan, launch_lead(group))));
        }
    }
    let link =
        |(name, mode, plan, lead): (String, LaunchMode, LinkPlan, Option<Duration>)| LaunchedLink {
            name,
            address: plan.address,
            options: plan.options,
            mode,
            lead: lead.map_or(0, |lead| u64::try_from(lead.as_nanos()).unwrap_or(u64::MAX)),
        };
    let links: Vec<_> = plans.into_iter().map(link).collect();
    launch_check::check(&links, force, &|_| None)
}

/// Prints the states of WriterGroups that have changed, for programs.
fn print_changes(states: &mut BTreeMap<String, PubSubState>, pub_sub: &PubSub) {
    for ComponentState { name, state, .. } in pub_sub.writer_groups() {
        if states.insert(name.clone(), state) != Some(state) {
            output::line(json!({"writerGroup": name, "state": format!("{state:?}")}));
        }
    }
}

/// Returns the result of a WriterGroup for programs.
fn result(group: &ComponentState, launch_faults: &[&String]) -> Value {
    let statistics = &group.statistics;
    let of_writers = json!({
        "fastPathMessages": statistics.fixed,
        "overruns": statistics.overruns,
        "maxWakeUpLatencyNs": statistics.max_wake_up_latency,
        "launchFaults": launch_faults,
    });
    joined(component_json("writerGroup", group), of_writers)
}

fn row(group: &ComponentState) -> String {
    let statistics = &group.statistics;
    let share = match statistics.network_messages {
        0 => 0,
        messages => statistics.fixed * 100 / messages,
    };
    let mut row = format!(
        "{}  {:?}  {} messages ({share} % on the fast path)  {} errors  {} overruns  woken at most {:.1} µs late",
        group.name,
        group.state,
        statistics.network_messages,
        statistics.errors,
        statistics.overruns,
        statistics.max_wake_up_latency as f64 / 1000.0,
    );
    if statistics.clock_steps > 0 {
        let steps = statistics.clock_steps;
        row.push_str(&format!("  the clock was set {steps} times"));
    }
    for (cause, count) in statistics.losses.iter() {
        row.push_str(&format!("  {count} {}", cause.name()));
    }
    row
}

/// Sources of fields, in the order in which they are tried.
struct Source {
    set: GivenValues,
    mirrored: HashMap<NodeId, Arc<Cell>>,
    simulation: Option<SimulatedValues>,
}

impl DataSource for Source {
    fn source(&mut self, field: PublishedField<'_>) -> Option<FieldSource> {
        if let Some(value) = self.set.of(&field) {
            return Some(FieldSource::Cell(Arc::new(Cell::of(value))));
        }
        let mirrored = self.mirrored.source(field);
        mirrored.or_else(|| self.simulation.as_mut()?.source(field))
    }
}

/// Variables of a server.
struct Mirrored {
    /// Mirror that keeps the cells up to date until it is dropped.
    _mirror: Mirror,
    /// Cells by the NodeIds of the configuration.
    cells: HashMap<NodeId, Arc<Cell>>,
}

/// Follows the Variables that the configuration publishes, and maps each to its cell.
fn mirror(
    arguments: &PublishArguments,
    file: &ConfigurationFile,
) -> miette::Result<Option<Mirrored>> {
    let Some(endpoint) = &arguments.from else {
        return Ok(None);
    };
    let mut client = connect(endpoint, &arguments.run)?;
    let mut wanted = Vec::new();
    for data_set in &file.configuration.published_data_sets {
        let items: PublishedDataItemsDataType =
            data_set.data_set_source.decode_as().unwrap_or_default();
        wanted.extend(
            items
                .published_data
                .into_iter()
                .map(|variable| variable.published_variable),
        );
    }
    // The configuration file has its own namespace indexes.
    let mut there = Vec::new();
    for node in &wanted {
        let mut found = node.clone();
        if let Some(uri) = file
            .namespaces
            .get(usize::from(node.namespace))
            // Namespace 0 has the same index in each server.
            .filter(|_| node.namespace > 0)
        {
            let index = client
                .namespace_index(uri.as_str())
                .map_err(|error| explain::client(&error))?;
            found.namespace = index.ok_or_else(|| {
                explain::with_help(
                    format!("{endpoint} has no namespace {uri}"),
                    "The namespaces of the configuration are those of the server whose Variables it publishes.",
                )
            })?;
        }
        there.push(found);
    }
    let mirror =
        Mirror::start(client, &there, SAMPLING).map_err(|error| explain::client(&error))?;
    let cells = wanted
        .into_iter()
        .zip(&there)
        .filter_map(|(node, there)| Some((node, mirror.cells().get(there)?.clone())))
        .collect();
    Ok(Some(Mirrored {
        _mirror: mirror,
        cells,
    }))
}
