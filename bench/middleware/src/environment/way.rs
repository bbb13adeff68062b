//! Way of the frames from one namespace to the other: its kinds, and the queueing disciplines at its ends.

use std::process::{Command, Stdio};

use super::link_setting::{Impairment, LinkSetting};

/// Bytes that pass at once after a pause: the bucket of `tbf`.
pub(super) const BURST: u32 = 16 << 10;
/// Longest time of a frame in the queue of `tbf`.
const QUEUE: &str = "50ms";
/// Largest number of frames that are delayed in one direction. Further ones are lost.
pub(super) const LIMIT: usize = 20_000;

/// Way of the frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// One veth pair.
    Direct,
    /// One veth pair with `netem` at both ends.
    Netem(Impairment),
    /// Two pairs and a relay, with a seed of its draws.
    Relay(Impairment, u64),
}

impl Way {
    /// Returns the way for a setting: with `netem` for its impairment, or with a relay where the kernel has no `netem`.
    pub(super) fn of(setting: LinkSetting, seed: u64) -> Self {
        let impairment = setting.impairment;
        match impairment.is_none() {
            true => Self::Direct,
            false if has_netem() => Self::Netem(impairment),
            false => Self::Relay(impairment, seed),
        }
    }

    /// Returns the command that limits an interface to a rate in bits per second, and with `netem` impairs what it sends.
    pub(super) fn discipline(&self, name: &str, rate: u64) -> String {
        let tbf = |place: &str| {
            format!(
                "tc qdisc add dev {name} {place} tbf rate {rate}bit burst {BURST} latency {QUEUE}"
            )
        };
        let Self::Netem(Impairment {
            delay,
            loss,
            reorder,
        }) = self
        else {
            return tbf("root");
        };
        let mut netem = format!("tc qdisc add dev {name} root handle 1: netem limit {LIMIT}");
        if !delay.is_zero() {
            netem += &format!(" delay {}us", delay.as_micros());
        }
        if *loss > 0.0 {
            netem += &format!(" loss {loss}%");
        }
        if *reorder > 0.0 {
            netem += &format!(" reorder {reorder}%");
        }
        format!("{netem} && {}", tbf("parent 1:1 handle 2:"))
    }

    /// Returns the sentence that says what impairs the frames.
    pub(super) fn description(&self) -> String {
        let (what, impairment) = match self {
            Self::Direct => return String::new(),
            Self::Netem(impairment) => ("`tc netem` adds in each direction", impairment),
            Self::Relay(impairment, _) => ("A relay of Takt adds in each direction", impairment),
        };
        let Impairment {
            delay,
            loss,
            reorder,
        } = impairment;
        let delay = delay.as_secs_f64() * 1e3;
        format!(" {what}: {delay} ms, {loss} % lost frames, {reorder} % frames without the delay.")
    }
}

/// Returns true if the kernel has `netem`. A namespace of its own keeps the test away from this host's interfaces.
fn has_netem() -> bool {
    let mut command = Command::new("unshare");
    command
        .args(["--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn netem_has_the_limit_of_the_rate_below_it() {
        let impairment = Impairment {
            delay: Duration::from_micros(2500),
            loss: 0.5,
            reorder: 1.0,
        };
        let tbf = "tbf rate 1000bit burst 16384 latency 50ms";
        assert_eq!(
            Way::Netem(impairment).discipline("a", 1000),
            format!(
                "tc qdisc add dev a root handle 1: netem limit 20000 delay 2500us loss 0.5% reorder 1% && \
                 tc qdisc add dev a parent 1:1 handle 2: {tbf}"
            )
        );
        for way in [Way::Direct, Way::Relay(impairment, 1)] {
            assert_eq!(
                way.discipline("a", 1000),
                format!("tc qdisc add dev a root {tbf}")
            );
        }
    }
}
