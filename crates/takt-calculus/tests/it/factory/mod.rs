//! A factory: lines of ten switches, each with a host, lines at the switch of their area, areas at the one in the middle.

use takt_calculus::{Curve, CurveError, Grid, NetworkFlow, NetworkServer, Rational};

/// Servers and flows. A server is the port at one end of a link.
pub(crate) struct Factory {
    pub(crate) servers: Vec<NetworkServer>,
    pub(crate) flows: Vec<NetworkFlow>,
}

const LINE: usize = 10;
/// The longest frame on the wire, in bits.
pub(crate) const LONGEST: u32 = 1542 * 8;
const LINE_RATE: u64 = 1_000_000_000;
const AREA_RATE: u64 = 10_000_000_000;

/// Reproducible numbers that look random (Knuth's linear congruential generator).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

/// The tree of switches; 0 is the one in the middle.
struct Tree {
    parents: Vec<usize>,
    areas: usize,
}

impl Tree {
    fn new(switches: usize) -> Self {
        let areas = (switches / 100).clamp(1, 100);
        let parents = (0..switches).map(|switch| match switch.checked_sub(1 + areas) {
            None => 0,
            Some(of_lines) if of_lines % LINE == 0 => 1 + of_lines / LINE % areas,
            Some(_) => switch - 1,
        });
        Self {
            parents: parents.collect(),
            areas,
        }
    }

    fn to_the_middle(&self, mut switch: usize) -> Vec<usize> {
        let mut way = vec![switch];
        while switch > 0 {
            switch = self.parents[switch];
            way.push(switch);
        }
        way
    }

    /// Ports from the host of one switch to that of another.
    fn path(&self, from: usize, to: usize) -> Vec<usize> {
        let hosts = 2 * self.parents.len();
        let (mut up, mut down) = (self.to_the_middle(from), self.to_the_middle(to));
        while up.last() == down.last() && up.pop().is_some() {
            down.pop();
        }
        let mut path = vec![hosts + 2 * from];
        path.extend(up.iter().map(|switch| 2 * switch));
        path.extend(down.iter().rev().map(|switch| 2 * switch + 1));
        path.push(hosts + 2 * to + 1);
        path
    }
}

/// Server for the highest priority of a port of this rate: behind one frame of lower priority, and 2 µs for forwarding.
fn server(rate: u64) -> Result<NetworkServer, CurveError> {
    let rate = Rational::from(rate);
    let latency = Rational::from(LONGEST) / &rate + Rational::ONE / Rational::from(500_000);
    Ok(NetworkServer {
        service: Curve::rate_latency(rate.clone(), latency)?,
        shaping: Some(Curve::leaky_bucket(LONGEST.into(), rate)?),
    })
}

/// Arrival curve of frames of this size, one in each cycle.
pub(crate) type Arrival = fn(bits: Rational, cycle: Rational) -> Result<Curve, CurveError>;

/// The line above the staircase.
pub(crate) fn buckets(bits: Rational, cycle: Rational) -> Result<Curve, CurveError> {
    let rate = &bits / cycle;
    Curve::leaky_bucket(bits, rate)
}

/// Four in five flows stay in their line, most others in their area. Cycles of 1 to 8 ms, frames of 84 to 1542 bytes on the wire.
pub(crate) fn factory(
    switches: usize,
    flows: usize,
    arrival: Arrival,
) -> Result<Factory, CurveError> {
    let tree = Tree::new(switches);
    let mut servers = Vec::with_capacity(4 * switches);
    for port in 0..4 * switches {
        let is_of_area = port < 2 * (1 + tree.areas);
        servers.push(server(if is_of_area { AREA_RATE } else { LINE_RATE })?);
    }
    let mut chance = Chance(1);
    let flows = (0..flows).map(|_| {
        let from = chance.below(switches);
        let near = match chance.below(20) {
            0 => switches,
            1..4 => 10 * LINE,
            _ => LINE,
        };
        let to = (from / near * near + chance.below(near)).min(switches - 1);
        let bits = Rational::from(8 * (84 + chance.below(1459)));
        let cycle = Rational::from(1u32 << chance.below(4)) / Rational::from(1000);
        Ok(NetworkFlow {
            path: tree.path(from, to),
            arrival: arrival(bits, cycle)?,
        })
    });
    let flows = flows.collect::<Result<_, CurveError>>()?;
    Ok(Factory { servers, flows })
}

/// A grid with steps of a nanosecond, a bit and a bit per second.
pub(crate) fn grid() -> Result<Grid, CurveError> {
    let nanosecond = Rational::ONE / Rational::from(1_000_000_000);
    Grid::new(nanosecond, Rational::ONE, Rational::ONE)
}
