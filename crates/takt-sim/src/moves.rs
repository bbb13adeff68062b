//! Moves of the search that follow from the times of the last try: the latest message becomes later if its gate closes just before
//! it, if another frame comes just before it, or if the loopback's thread runs just before it.

use takt_scenario::{ApplicationIndex, FlowSource, PortIndex, Scenario, Taprio};

use crate::observer::Passage;
use crate::trace::Trace;
use crate::{LineRate, NodeClock, Random, Time, build};

/// The last moment before a time.
const JUST: Time = Time::picoseconds(1);

/// Returns an element, or `None` if there is none.
pub(crate) fn pick<'a, T>(of: &'a [T], random: &mut Random) -> Option<&'a T> {
    of.get(usize::try_from(random.below(of.len() as u64)).ok()?)
}

/// Returns a phase within a cycle.
pub(crate) fn wrapped(phase: Time, cycle: Time) -> Time {
    let cycle = cycle.as_picoseconds().max(1);
    Time::picoseconds(phase.as_picoseconds().rem_euclid(cycle))
}

/// Returns the gates of a port that open and close.
pub(crate) fn gates(scenario: &Scenario, port: PortIndex) -> Option<&Taprio> {
    scenario.ports[port.0].discipline.scheduler.gates()
}

/// Returns the time at which the transmission of a frame began.
fn begin(scenario: &Scenario, passage: &Passage) -> Time {
    let link = &scenario.links[scenario.ports[passage.port.0].link.0];
    let bytes = scenario
        .flow(passage.source)
        .map_or(0, |flow| flow.frame.physical());
    passage.arrived
        - Time::from(link.length.propagation())
        - LineRate::new(link.rate.0).duration(bytes)
}

/// Returns the time at which a frame came to a queue, or left it.
fn moment(scenario: &Scenario, passage: &Passage, random: &mut Random) -> Time {
    match random.below(2) {
        0 => passage.queued,
        _ => begin(scenario, passage),
    }
}

/// Returns the shift of the gates of a port with which a frame just does not fit into a window any more: at the time at which it
/// came there, or at which it was sent. `None` if its gate never closes.
pub(crate) fn missed_gate(
    scenario: &Scenario,
    passage: &Passage,
    random: &mut Random,
) -> Option<Time> {
    let port = &scenario.ports[passage.port.0];
    let taprio = gates(scenario, passage.port)?;
    let flow = scenario.flow(passage.source)?;
    let windows = taprio.windows(port.discipline.class_of(flow.pcp));
    let (start, length) = *pick(&windows, random)?;
    // A gate that never closes delays no frame. With txtime-assist, the end of its entry still does.
    if length == taprio.cycle_time && taprio.txtime_assist.is_none() {
        return None;
    }
    let clock = build::clock(scenario, port.node);
    let rate = LineRate::new(scenario.links[port.link.0].rate.0).by(clock);
    let frame = rate.duration(flow.frame.physical());
    let guard_band = Time::from(taprio.guard_band);
    // Gates of Linux close at the beginning of the guard band.
    let room = match guard_band > Time::ZERO && random.below(2) == 0 {
        true => frame + guard_band,
        false => frame.max(guard_band),
    };
    // With txtime-assist, a frame can be sent this much later.
    let delay = taprio.txtime_assist.unwrap_or_default();
    let ready = clock.local(moment(scenario, passage, random)) + delay.into();
    let closes = Time::from(taprio.base_time) + start.into() + length.into();
    Some(wrapped(
        ready + room - JUST - closes,
        taprio.cycle_time.into(),
    ))
}

/// A change of the phase of a flow's source, by its clock.
pub(crate) struct Change {
    pub(crate) source: FlowSource,
    pub(crate) later: Time,
}

/// Returns the change with which a frame of another flow comes to a port together with a frame of the latest message, or just
/// before it. `is_free` tells whether the phase of a flow may change.
pub(crate) fn met_frame(
    scenario: &Scenario,
    passage: &Passage,
    trace: &Trace,
    is_free: impl Fn(FlowSource) -> bool,
    random: &mut Random,
) -> Option<Change> {
    let others = trace.at(passage.port);
    let others = others.filter(|other| other.source != passage.source && is_free(other.source));
    let mut sources: Vec<FlowSource> = others.clone().map(|other| other.source).collect();
    // Each flow shall be equally likely, however many frames it has sent.
    sources.sort_unstable();
    sources.dedup();
    let source = *pick(&sources, random)?;
    let target = moment(scenario, passage, random);
    let target = match random.below(2) {
        0 => target,
        _ => target - JUST,
    };
    let from_begin = random.below(2) == 0;
    let time = |other: &Passage| match from_begin {
        true => begin(scenario, other),
        false => other.queued,
    };
    let times = others.filter(|other| other.source == source).map(time);
    let nearest = times.min_by_key(|time| (*time - target).as_picoseconds().unsigned_abs())?;
    let clock = clock(scenario, source);
    Some(Change {
        source,
        later: clock.local(target) - clock.local(nearest),
    })
}

/// Returns the clock by which a flow's frames are sent.
fn clock(scenario: &Scenario, source: FlowSource) -> NodeClock {
    let node = match source {
        FlowSource::Publish(id) | FlowSource::Branch(id, _) => {
            scenario.applications[id.0].publisher
        }
        // Only a loopback sends back.
        FlowSource::Return(id) => scenario.applications[id.0].receiver.nodes()[0],
        FlowSource::Cross(id) => scenario.cross_traffic[id.0].from,
    };
    build::clock(scenario, node)
}

/// Returns the shift of a loopback with which its thread runs just before a message comes that has this last passage on its way
/// there. `None` if the application has no loopback.
pub(crate) fn missed_thread(
    scenario: &Scenario,
    id: ApplicationIndex,
    last: &Passage,
) -> Option<Time> {
    let application = &scenario.applications[id.0];
    let node = application.receiver.loopback()?;
    let user = application.cycle.part(application.phases.user);
    let verified = last.arrived + application.security.verify.into();
    let comes = build::clock(scenario, node).local(verified);
    let shift = comes - user.into() - JUST;
    Some(wrapped(shift, application.cycle.into()))
}
