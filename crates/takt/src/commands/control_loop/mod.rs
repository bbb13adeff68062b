//! `takt loopback SCENARIO` and `takt publish SCENARIO`: the applications of a scenario, in real time.

mod advice;
mod notes;
mod result;
mod strays;
mod watched;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use takt_control::{
    ControlOptions, ControlReport, Deadline, KernelQueue, LoopEnding, Reaction, RealTimeOptions,
    Sending, Trace, trace_file,
};
use takt_lab::{
    CounterPayload, LoopAddresses, LoopEnd, ScenarioApplication, ScenarioLoop, TraceNotes,
};
use takt_link::{Address, LaunchMode, LinkOptions, ReceiveClock};
use takt_rt::interrupt::Interrupt;
use takt_rt::late::thread_id;
use takt_rt::priority::Policy;
use takt_rt::thread_signal::end_sleep;
use takt_rt::time_limit::TimeLimit;
use takt_scenario::{Scenario, ScenarioFile};
use takt_wakeup::WatchedCalls;

use self::strays::StrayListener;
use self::watched::Watched;
use super::late_causes;
use crate::arguments::{
    ControlLoopArguments, LoopbackArguments, MissReaction, PublishArguments, SendingMode,
};
use crate::commands::launch_check::{self, LaunchedLink};
use crate::server_interrupt;
use crate::{explain, output, scenario_file};

/// Interval of checks for the end.
const STEP: Duration = Duration::from_millis(20);

/// Arguments of one end.
struct Request<'a> {
    file: &'a Path,
    /// Content of the file.
    content: Vec<u8>,
    end: LoopEnd,
    control: &'a ControlLoopArguments,
    run_for: Option<Duration>,
    priority: Option<u8>,
    core: Option<usize>,
}

/// Returns true if the content of a file is a scenario, not a PubSub configuration: it has a topology or nodes.
pub fn is_scenario(content: &[u8]) -> bool {
    has_table(content, &["[topology]", "[[nodes]]", "[[links]]"])
}

/// Returns true if the content of a file has a PubSub configuration, with its mistakes.
fn is_pub_sub_configuration(content: &[u8]) -> bool {
    has_table(content, &["[[connections]]", "[[published_data_sets]]"])
}

/// Returns true if a text in TOML has one of these tables. It may be invalid otherwise.
fn has_table(content: &[u8], headers: &[&str]) -> bool {
    let text = std::str::from_utf8(content).unwrap_or_default();
    text.lines().any(|line| {
        let header = line.split('#').next().unwrap_or_default();
        headers.contains(&header.trim())
    })
}

pub fn loopback(arguments: &LoopbackArguments) -> miette::Result<()> {
    let path = &arguments.scenario;
    let content = scenario_file::read_bytes(path)?;
    if !is_scenario(&content) && is_pub_sub_configuration(&content) {
        return Err(explain::with_help(
            format!(
                "{} is a PubSub configuration, not a scenario",
                path.display()
            ),
            "`takt publish` and `takt subscribe` run it. `takt scenario new` writes a scenario.",
        ));
    }
    run(Request {
        file: path,
        content,
        end: LoopEnd::Loopback,
        control: &arguments.control,
        run_for: arguments.run_for,
        priority: arguments.priority,
        core: arguments.core,
    })
}

/// Publishes the application of a scenario, the content of the file of these arguments.
pub fn publish(arguments: &PublishArguments, content: Vec<u8>) -> miette::Result<()> {
    run(Request {
        file: &arguments.file,
        content,
        end: LoopEnd::Publisher,
        control: &arguments.control,
        run_for: arguments.run.run_for,
        priority: arguments.run.priority,
        core: arguments.run.core,
    })
}

fn run(mut request: Request<'_>) -> miette::Result<()> {
    // From here on an interrupt ends the loop and not the process, so that result and trace are not lost.
    let interrupt = server_interrupt::install()?;
    let content = std::mem::take(&mut request.content);
    let request = &request;
    let (file, text) = scenario_file::of_bytes(request.file, content)?;
    let file = scenario_file::with_settings(&file, &text, &request.control.settings)?;
    let refused = |error: takt_lab::LoopError| advice::refused(&error);
    let name = request.control.application.as_deref();
    let control = ScenarioLoop::of(file.scenario(), name).map_err(refused)?;
    let default = control.addresses().clone();
    let given = |given: &Option<String>, default| given.clone().unwrap_or(default);
    let addresses = LoopAddresses {
        there: given(&request.control.there, default.there),
        back: given(&request.control.back, default.back),
    };
    let control = control.with_addresses(addresses).map_err(refused)?;
    let has_trace = request.control.trace.is_some();
    let facts = notes::RunFacts::read(request.control, &control, request.end, &file, &text);
    let (run, wait) = notes::run_id(request.end, has_trace);
    let control = control.with_run(run);
    let options = options(request, &file, &control);
    let sending = options.sending;
    let payload = || CounterPayload::new(control.fields());
    let (input, published) = (payload(), payload());
    let running = control.open(request.end, &input, &published, options);
    let mut running = running.map_err(refused)?;
    let launch_faults = check_port(request, &file, &control, sending)?;
    let launch_faults = launch_faults.into_iter().map(|(_, fault)| fault).collect();
    let recorder = match request.control.why {
        true => Some(late_causes::start(WatchedCalls::Any)?),
        false => None,
    };
    if let Some(recorder) = &recorder {
        running = running.with_watch(late_causes::watch(recorder, request.control.above));
    }
    // A run whose result cannot be saved does not begin.
    let trace_output = request.control.trace.as_deref().map(create_trace);
    let trace_output = trace_output.transpose()?;
    let trace = Trace::with_capacity(request.control.trace_points);
    let mut application = ScenarioApplication::new(request.end, input, published, trace);
    if !request.control.json {
        output::lines(heading(request.end, &control));
    }
    let at = match request.end {
        LoopEnd::Publisher => &control.addresses().back,
        LoopEnd::Loopback => &control.addresses().there,
    };
    let interface = request.control.interface.as_deref();
    let mut strays = StrayListener::new(at, control.received_from(request.end), interface);
    wait_for(wait, &interrupt);
    let report = on_its_thread(request, running, &mut application, &mut strays, &interrupt)?;
    let result = result::LoopResult {
        end: request.end,
        control: &control,
        report: &report,
        application: &application,
        launch_faults,
        strays: strays.map(StrayListener::strays).unwrap_or_default(),
        at,
    };
    // A trace that cannot be written does not take the result along.
    result.print(request.control.json);
    let late = recorder.map(|recorder| recorder.finish());
    let core = |_| request.core;
    if let Some(late) = &late {
        late_causes::print(late, request.control.json, &core);
    }
    if let Some((path, file)) = trace_output {
        let late = late.as_ref();
        let late = late.map(|late| late_causes::trace_lines(late, &core));
        let late = late.unwrap_or_default();
        let notes = facts.notes(run, &control, request.end, &application, &report);
        write_trace(file, &result, &notes, late).map_err(|error| advice::trace(path, &error))?;
    }
    match (&application.torn, report.ending) {
        (Some(torn), _) => Err(explain::with_help(
            torn,
            "The fields of one message differ: the sender, or the memory between the threads, tore it.",
        )),
        (None, LoopEnding::Deadline) => Err(explain::with_help(
            format!(
                "no message came in {} consecutive cycles",
                report.longest_miss
            ),
            "`--on-miss count` goes on. Check the other end and the link.",
        )),
        _ => result
            .outcome()
            .and(late.as_ref().map_or(Ok(()), late_causes::outcome)),
    }
}

fn options(request: &Request<'_>, file: &ScenarioFile, control: &ScenarioLoop) -> ControlOptions {
    let arguments = request.control;
    // Scenarios have picoseconds.
    let offset = Duration::from_nanos(control.application().offset.0 / 1000);
    ControlOptions {
        link: LinkOptions {
            interface: arguments.interface.clone(),
            receive_times: Some(ReceiveClock::Software),
            ..LinkOptions::default()
        },
        sending: match arguments.sending {
            None => control.sending(),
            Some(SendingMode::Immediate) => Sending::Immediate,
            Some(SendingMode::Offset) => Sending::AtOffset(offset),
            Some(SendingMode::LaunchTime) => Sending::LaunchTime {
                offset,
                mode: LaunchMode::Strict,
            },
        },
        kernel_queue: match arguments.waiting {
            Some(cycles) => KernelQueue::Cycles(usize::from(cycles.get())),
            None => KernelQueue::Automatic {
                hold: hold(file.scenario()),
            },
        },
        cycles: arguments.cycles,
        deadline: Deadline {
            cycles: arguments.misses,
            reaction: match arguments.on_miss {
                MissReaction::Count => Reaction::Count,
                MissReaction::Hold => Reaction::HoldLast,
                MissReaction::Stop => Reaction::Stop,
            },
        },
        real_time: RealTimeOptions {
            policy: request.priority.map(Policy::Fifo),
            core: request.core,
            spin: arguments.spin.unwrap_or_default(),
            ..RealTimeOptions::default()
        },
        ..ControlOptions::default()
    }
}

/// Returns the time for which the gates of a port keep a message, the longest one of the scenario.
fn hold(scenario: &Scenario) -> Duration {
    let ports = scenario.ports.iter();
    let gates = ports.filter_map(|port| port.discipline.scheduler.gates());
    let times = gates.map(|it| it.cycle_time.0.max(it.txtime_assist.map_or(0, |it| it.0)));
    // Scenarios have picoseconds.
    Duration::from_nanos(times.max().unwrap_or(0) / 1000)
}

/// Checks the port of this end, if messages have launch times. Returns the faults that --force ignores.
fn check_port(
    request: &Request<'_>,
    file: &ScenarioFile,
    control: &ScenarioLoop,
    sending: Sending,
) -> miette::Result<Vec<(String, String)>> {
    let arguments = request.control;
    let LoopAddresses { there, back } = control.addresses();
    let to = match request.end {
        LoopEnd::Publisher => there,
        LoopEnd::Loopback => back,
    };
    let (Sending::LaunchTime { offset, mode }, Ok(address)) = (sending, Address::parse(to)) else {
        return launch_check::check(&[], arguments.force, &|_| None);
    };
    let cycle = control.application().cycle.0 / 1000;
    // The message is made at the phase of the publisher, and leaves at the offset of the next cycle.
    let until_next = (1.0 - control.phases().publisher) * cycle as f64;
    let lead = (until_next as u64).saturating_add(offset.as_nanos() as u64);
    let options = LinkOptions {
        interface: arguments.interface.clone(),
        ..LinkOptions::default()
    };
    let link = LaunchedLink {
        name: control.application().name.clone(),
        address,
        options,
        mode,
        lead,
    };
    // The discipline of the scenario is for its priority, which UDP does not have.
    let has_priority = matches!(&link.address, Address::Ethernet { vlan: Some(tag), .. }
        if tag.priority == control.application().pcp);
    launch_check::check(&[link], arguments.force, &|interface| {
        has_priority.then(|| apply_command(request, file, control, interface))?
    })
}

/// Returns the command that configures the port of this end as the scenario says; `None` if messages of the scenario have
/// no launch times.
fn apply_command(
    request: &Request<'_>,
    file: &ScenarioFile,
    control: &ScenarioLoop,
    interface: &str,
) -> Option<String> {
    let application = control.application();
    application.txtime?;
    let node = match request.end {
        LoopEnd::Publisher => application.publisher,
        LoopEnd::Loopback => application.receiver.loopback()?,
    };
    let node = file.scenario().nodes.get(node.0)?.name.as_str();
    let settings = request.control.settings.iter();
    let settings = settings.map(|(field, value)| {
        let setting = explain::shell_word(&format!("{field}={value}"));
        format!("--field {setting} ")
    });
    let settings: String = settings.collect();
    let scenario = explain::shell_path(request.file);
    let [node, interface] = [node, interface].map(explain::shell_word);
    Some(format!(
        "takt tsn apply {scenario} {settings}--node {node} --interface {interface}"
    ))
}

/// Runs the loop on a thread of its own until it ends, the time is over, or the command is interrupted.
fn on_its_thread(
    request: &Request<'_>,
    running: takt_control::ControlLoop,
    application: &mut ScenarioApplication,
    strays: &mut Option<StrayListener>,
    interrupt: &Interrupt,
) -> miette::Result<ControlReport> {
    let stop = Arc::new(AtomicBool::new(false));
    let has_message = AtomicBool::new(false);
    let mut watched = Watched {
        application,
        has_message: &has_message,
    };
    let end = TimeLimit::of(request.run_for);
    // The thread's id, as soon as it runs.
    let id = OnceLock::new();
    let outcome = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _ = id.set(thread_id());
            running.run(&mut watched, &stop)
        });
        while !thread.is_finished() {
            if end.is_over() || interrupt.is_set() {
                // The flag carries no data: `join` shows what the thread wrote.
                stop.store(true, Ordering::Relaxed);
                // The next cycle may be far away. Without the signal, the thread ends then.
                if let Some(id) = id.get() {
                    let _ = end_sleep(*id);
                }
            }
            // The flag carries no data.
            match strays {
                Some(listener) if !has_message.load(Ordering::Relaxed) => listener.listen(),
                _ => *strays = None,
            }
            std::thread::sleep(STEP);
        }
        thread.join()
    });
    let report = outcome.map_err(|_| miette::miette!("the thread of the loop panicked"))?;
    report.map_err(|error| advice::control(&error))
}

fn heading(end: LoopEnd, control: &ScenarioLoop) -> [String; 3] {
    let LoopAddresses { there, back } = control.addresses();
    let application = control.application();
    let (role, to, at) = match end {
        LoopEnd::Publisher => ("Publisher", there, back),
        LoopEnd::Loopback => ("loopback", back, there),
    };
    let message = format!(
        "{role} of {}: a message of {} B every {}",
        application.name,
        CounterPayload::length_of(control.fields()),
        application.cycle,
    );
    [
        message,
        format!("  sends to  {to}"),
        format!("  receives  {at}"),
    ]
}

/// Creates the file of a trace.
fn create_trace(path: &Path) -> miette::Result<(&Path, File)> {
    let file = File::create(path).map_err(|error| advice::trace(path, &error))?;
    Ok((path, file))
}

fn write_trace(
    file: File,
    result: &result::LoopResult<'_>,
    notes: &TraceNotes,
    late: Vec<(&'static str, String)>,
) -> std::io::Result<()> {
    let control = result.control;
    let lines = notes.lines()?;
    let mut description = control.trace_description(result.end, control.scenario());
    for (name, count) in result.numbers() {
        description.push((name, count));
    }
    for (name, value) in &lines {
        description.push((name, value.clone()));
    }
    description.extend(late);
    let trace = &result.application.trace;
    trace_file::write(&mut BufWriter::new(file), &description, trace)
}

/// Waits until the run may begin, or the command is interrupted.
fn wait_for(mut time: Duration, interrupt: &Interrupt) {
    while !time.is_zero() && !interrupt.is_set() {
        let step = time.min(STEP);
        std::thread::sleep(step);
        time -= step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_and_configurations_are_told_apart() {
        let cases = [
            ("name = \"x\"\n[topology] # two hosts\n", (true, false)),
            ("  [[nodes]]\n", (true, false)),
            ("[[connections]] # UDP\n", (false, true)),
            ("# [topology]\nnodes = 1\n", (false, false)),
        ];
        for (text, expected) in cases {
            let text = text.as_bytes();
            let found = (is_scenario(text), is_pub_sub_configuration(text));
            assert_eq!(found, expected, "{}", text.escape_ascii());
        }
        assert!(!is_scenario(b"\xff[topology]"));
    }
}
