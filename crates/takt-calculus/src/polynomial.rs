//! FIFO servers that form a tree, as a linear programme of polynomial size (Bouillard, Trade-off between accuracy and
//! tractability of Network Calculus in FIFO networks, Performance Evaluation 2022). Variables are dates, and the bits of each
//! flow that have arrived by these dates.
//!
//! The tree ends in the last server of a flow. The programme follows the flow's last bit backwards. It has the date when the bit
//! left a server, the date when it arrived there, and a date since when the server has kept its service curve. For each date that
//! a server knows, the server before it knows the arrival date of the bits that left it then. So a server at depth `d` has
//! `d + 2` dates, and the service, the arrival curves, the order, the shaping and known delays are linear in them.

use std::collections::BTreeMap;

use crate::Rational;
use crate::curve::Extended;
use crate::linear_program::{LinearProgram, Terms};
use crate::network::{Arrivals, Network};

/// Maximum number of constraints. A larger tree is reduced to the flow's path, or not tried at all.
const CONSTRAINTS: usize = 6_000;
/// Maximum number of servers beside the path.
pub(crate) const SERVERS: usize = 24;

/// Servers in a programme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The path, and the servers from which flows come to it.
    Tree,
    /// The path of the flow alone.
    Path,
}

/// Constraints of a programme on a flow's arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buckets {
    /// All leaky buckets above the curve. A staircase has several.
    All,
    /// The leaky bucket with the curve's long-term rate.
    Slowest,
}

/// A part of a flow's way within the tree.
struct Segment {
    flow: usize,
    /// The position in the flow's path where it begins, and its number of servers.
    position: usize,
    length: usize,
    /// Bits that had left the tree's part of the flow, at the dates behind its last server.
    departed: Vec<usize>,
    /// Bits that had arrived at each of its servers at that server's last date.
    begun: Vec<usize>,
}

struct Tree<'a> {
    network: &'a Network,
    /// For each server in it: the next one, unless it is the last, and the distance to the last one.
    servers: BTreeMap<usize, (Option<usize>, usize)>,
    segments: Vec<Segment>,
    program: LinearProgram,
    /// Date when the last bit leaves.
    end: usize,
    /// Dates of each server, the latest first.
    dates: BTreeMap<usize, Vec<usize>>,
    bits: f64,
}

/// Sought quantity of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// The longest time from arrival to departure.
    Delay,
    /// The greatest backlog on the path.
    Backlog,
}

/// Returns the longest delay of a flow on its path, or its greatest backlog there, if the flows arrive by `arrivals`, and servers
/// delay by at most `delays`.
pub(crate) fn longest(
    sought: Sought,
    network: &Network,
    arrivals: &Arrivals,
    delays: &[Extended],
    shaped: bool,
    flow: usize,
) -> Extended {
    let path = &network.flows[flow].path;
    // The tightest programme comes first, the smallest one last: a large one may have too many constraints, or no proof.
    let attempts = [
        (Extent::Tree, Buckets::All),
        (Extent::Tree, Buckets::Slowest),
        (Extent::Path, Buckets::All),
        (Extent::Path, Buckets::Slowest),
    ];
    for (extent, buckets) in attempts {
        let mut tree = Tree::new(network, path, extent);
        tree.constrain(arrivals, delays, shaped, buckets);
        let objective = match sought {
            Sought::Delay => Some((tree.end, tree.dates[&path[0]][0])),
            Sought::Backlog => tree.come_and_departed(arrivals, flow),
        };
        let Some((more, less)) = objective else {
            continue;
        };
        if tree.program.constraints() > CONSTRAINTS {
            continue;
        }
        tree.program
            .maximize(vec![(more, Rational::ONE), (less, -Rational::ONE)]);
        if let Some(bound) = tree.program.upper_bound() {
            return Extended::Finite(bound);
        }
    }
    Extended::Infinity
}

impl<'a> Tree<'a> {
    fn new(network: &'a Network, path: &[usize], extent: Extent) -> Self {
        let mut servers = BTreeMap::new();
        for (back, server) in path.iter().rev().enumerate() {
            let next = back.checked_sub(1).map(|next| path[path.len() - 1 - next]);
            servers.insert(*server, (next, back));
        }
        let mut waiting: Vec<usize> = path.iter().rev().copied().collect();
        let mut done = 0;
        while extent == Extent::Tree && done < waiting.len() {
            let server = waiting[done];
            done += 1;
            let depth = servers[&server].1;
            for passing in &network.passing[server] {
                let Some(before) = passing.position.checked_sub(1) else {
                    continue;
                };
                let before = network.flows[passing.flow].path[before];
                // Servers right before the path are found first, so the limit leaves out those that are far from it.
                if !servers.contains_key(&before) && servers.len() < path.len() + SERVERS {
                    servers.insert(before, (Some(server), depth + 1));
                    waiting.push(before);
                }
            }
        }
        // No bound depends on these approximations: see `LinearProgram`.
        let (seconds, bits) = scales(network);
        let mut program = LinearProgram::new();
        let end = program.variable(seconds);
        let dates = servers.iter().map(|(server, (_, depth))| {
            let dates = (0..depth + 2).map(|_| program.variable(seconds)).collect();
            (*server, dates)
        });
        let dates = dates.collect();
        let mut tree = Self {
            network,
            servers,
            segments: Vec::new(),
            program,
            end,
            dates,
            bits,
        };
        tree.find_segments();
        tree
    }

    /// Returns the server behind another in the tree.
    fn next(&self, server: usize) -> Option<usize> {
        self.servers.get(&server).and_then(|(next, _)| *next)
    }

    /// Returns the dates when bits that arrived at a server at its dates had left it, the latest first.
    fn left(&self, server: usize) -> Vec<usize> {
        match self.next(server) {
            Some(next) => self.dates[&next].clone(),
            None => vec![self.end],
        }
    }

    fn find_segments(&mut self) {
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        for (flow, path) in self.network.flows.iter().map(|flow| &flow.path).enumerate() {
            let mut open = false;
            for (position, server) in path.iter().enumerate() {
                if !self.servers.contains_key(server) {
                    open = false;
                    continue;
                }
                match found.last_mut().filter(|_| open) {
                    Some(last) => last.2 += 1,
                    None => found.push((flow, position, 1)),
                }
                open = path.get(position + 1).copied() == self.next(*server)
                    && self.next(*server).is_some();
            }
        }
        for (flow, position, length) in found {
            let servers = &self.network.flows[flow].path[position..position + length];
            let last = servers[length - 1];
            let left = self.left(last);
            let departed = left.iter().map(|_| self.program.variable(self.bits));
            let departed = departed.collect();
            let begun = servers.iter().map(|_| self.program.variable(self.bits));
            let begun = begun.collect();
            self.segments.push(Segment {
                flow,
                position,
                length,
                departed,
                begun,
            });
        }
    }

    fn constrain(
        &mut self,
        arrivals: &Arrivals,
        delays: &[Extended],
        shaped: bool,
        buckets: Buckets,
    ) {
        self.order(delays);
        for index in 0..self.segments.len() {
            self.arrival(index, arrivals, buckets);
        }
        for server in self.servers.keys().copied().collect::<Vec<_>>() {
            self.service(server);
            if shaped {
                self.shaping(server);
            }
        }
    }

    /// Adds the order of the dates, and the greatest distance between them: the delay of a server.
    fn order(&mut self, delays: &[Extended]) {
        let one = || Rational::ONE;
        for (server, dates) in &self.dates {
            for pair in dates.windows(2) {
                self.program
                    .at_most(vec![(pair[1], one()), (pair[0], -one())], Rational::ZERO);
            }
            let left = match self.servers[server].0 {
                Some(next) => self.dates[&next].clone(),
                None => vec![self.end],
            };
            for (come, left) in dates.iter().zip(left) {
                self.program
                    .at_most(vec![(*come, one()), (left, -one())], Rational::ZERO);
                if let Some(delay) = delays[*server].finite() {
                    self.program
                        .at_most(vec![(left, one()), (*come, -one())], delay.clone());
                }
            }
        }
    }

    /// Returns the bits of a segment that had arrived at its server number `index` at that server's dates.
    fn come(&self, segment: &Segment, index: usize) -> Vec<usize> {
        let server = self.network.flows[segment.flow].path[segment.position + index];
        let depth = self.servers[&server].1;
        // Arrivals at all dates but the last had left the segment at the dates behind it with the same numbers. Dates that
        // servers behind this one do not have in common are the last ones of those servers.
        let end = segment.length - 1;
        let shared = segment.departed.len();
        let mut come: Vec<usize> = segment.departed.clone();
        for later in (index..=end).rev() {
            come.push(segment.begun[later]);
        }
        debug_assert_eq!(come.len(), shared + end - index + 1);
        debug_assert_eq!(come.len(), depth + 2);
        come
    }

    fn arrival(&mut self, index: usize, arrivals: &Arrivals, known: Buckets) {
        let segment = &self.segments[index];
        let first = self.network.flows[segment.flow].path[segment.position];
        let come = self.come(segment, 0);
        let dates = self.dates[&first].clone();
        let mut buckets = arrivals.0[segment.flow][segment.position].leaky_buckets();
        if known == Buckets::Slowest {
            // The buckets come in the order of their rates, the fastest first.
            buckets.drain(..buckets.len().saturating_sub(1));
        }
        for pair in come.windows(2) {
            self.program.at_most(
                vec![(pair[1], Rational::ONE), (pair[0], -Rational::ONE)],
                Rational::ZERO,
            );
        }
        for (burst, rate) in buckets {
            self.limit(std::slice::from_ref(&come), &dates, &burst, &rate);
        }
    }

    /// Returns the bits of a flow that have come to its path at the end, and those that have left the path then.
    fn come_and_departed(&mut self, arrivals: &Arrivals, flow: usize) -> Option<(usize, usize)> {
        let path = &self.network.flows[flow].path;
        let whole = |segment: &&Segment| segment.flow == flow && segment.length == path.len();
        let segment = self.segments.iter().find(whole)?;
        let departed = segment.departed[0];
        let before = self.come(segment, 0);
        let dates = self.dates[&path[0]].clone();
        let come = self.program.variable(self.bits);
        for (burst, rate) in arrivals.0[flow][0].leaky_buckets() {
            for (date, before) in dates.iter().zip(&before) {
                let terms = vec![
                    (come, Rational::ONE),
                    (*before, -Rational::ONE),
                    (self.end, -&rate),
                    (*date, rate.clone()),
                ];
                self.program.at_most(terms, burst.clone());
            }
        }
        Some((come, departed))
    }

    /// Adds the limit of a bucket between any two of the dates.
    fn limit(&mut self, flows: &[Vec<usize>], dates: &[usize], burst: &Rational, rate: &Rational) {
        for late in 0..dates.len() {
            for early in late + 1..dates.len() {
                let mut terms: Terms = vec![(dates[late], -rate), (dates[early], rate.clone())];
                for come in flows {
                    terms.extend([(come[late], Rational::ONE), (come[early], -Rational::ONE)]);
                }
                self.program.at_most(terms, burst.clone());
            }
        }
    }

    /// Returns the segments that pass a server, with the server's index in each.
    fn passing(&self, server: usize) -> Vec<(usize, usize)> {
        let mut passing = Vec::new();
        for (index, segment) in self.segments.iter().enumerate() {
            let path = &self.network.flows[segment.flow].path;
            let own = &path[segment.position..segment.position + segment.length];
            passing.extend(
                own.iter()
                    .position(|own| *own == server)
                    .map(|own| (index, own)),
            );
        }
        passing
    }

    /// Adds the minimum service since the server's last date.
    fn service(&mut self, server: usize) {
        let dates = &self.dates[&server];
        let since = dates[dates.len() - 1];
        let left = self.left(server);
        let until = left[left.len() - 1];
        let mut served: Terms = Vec::new();
        for (index, own) in self.passing(server) {
            let come = self.come(&self.segments[index], own);
            let [.., left, since] = come.as_slice() else {
                continue;
            };
            served.extend([(*left, -Rational::ONE), (*since, Rational::ONE)]);
        }
        for (rate, latency) in self.network.servers[server].service.rate_latencies() {
            let mut terms = served.clone();
            terms.extend([(until, rate.clone()), (since, -&rate)]);
            self.program.at_most(terms, rate * latency);
        }
    }

    /// Adds, for each link, the rate limit shared by the flows that used it.
    fn shaping(&mut self, server: usize) {
        let mut links: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
        for (index, own) in self.passing(server) {
            let segment = &self.segments[index];
            let path = &self.network.flows[segment.flow].path;
            if let Some(before) = (segment.position + own).checked_sub(1) {
                let come = self.come(segment, own);
                links.entry(path[before]).or_default().push(come);
            }
        }
        let dates = self.dates[&server].clone();
        for (from, flows) in links {
            let Some(shaping) = &self.network.servers[from].shaping else {
                continue;
            };
            for (burst, rate) in shaping.leaky_buckets() {
                self.limit(&flows, &dates, &burst, &rate);
            }
        }
    }
}

/// Returns a typical delay and a typical number of bits on the way.
fn scales(network: &Network) -> (f64, f64) {
    let mut seconds = 0.0f64;
    let mut bits = 0.0f64;
    for flow in &network.flows {
        if let Some(burst) = flow.arrival.right(&Rational::ZERO).0.finite() {
            bits = bits.max(burst.to_f64().value());
        }
    }
    for server in &network.servers {
        if let Some(rate) = server
            .service
            .long_term_rate()
            .filter(|rate| !rate.is_zero())
        {
            seconds = seconds.max(bits / rate.to_f64().value());
        }
    }
    let positive = |value: f64| {
        if value > 0.0 && value.is_finite() {
            value
        } else {
            1.0
        }
    };
    (positive(seconds), positive(bits))
}
