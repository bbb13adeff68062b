//! Setting of the link between two network namespaces (`--link`).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Example in messages.
const EXAMPLE: &str = "veth,rate=1gbit,delay=2ms,loss=1%,reorder=1%";
/// Bits per second without `rate`.
const RATE: u64 = 1_000_000_000;
/// Longest delay.
const LONGEST: Duration = Duration::from_secs(1);
/// Largest part of frames that are lost or overtake others, in percent.
const MOST: f64 = 50.0;

/// Link between server and client: a veth pair with a rate, and with a relay if frames are delayed or lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkSetting {
    /// Rate of each direction in bits per second.
    pub rate: u64,
    /// Impairment of each direction.
    pub impairment: Impairment,
}

/// Delay, loss and reordering of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Impairment {
    /// Delay of each frame.
    pub delay: Duration,
    /// Part of the frames that are lost, in percent.
    pub loss: f64,
    /// Part of the frames that pass without the delay, and so overtake others, in percent.
    pub reorder: f64,
}

impl Impairment {
    /// Returns true if all frames pass at once.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for LinkSetting {
    fn default() -> Self {
        Self {
            rate: RATE,
            impairment: Impairment::default(),
        }
    }
}

impl FromStr for LinkSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        if parts.next() != Some("veth") {
            return Err(format!("the kind of link comes first: {EXAMPLE}"));
        }
        let mut setting = Self::default();
        let impairment = &mut setting.impairment;
        for part in parts {
            let wrong = |reason: &str| format!("`{part}`: {reason}; an example is {EXAMPLE}");
            let (key, value) = part.split_once('=').ok_or_else(|| wrong("no value"))?;
            match key {
                "rate" => {
                    setting.rate = rate(value).ok_or_else(|| {
                        wrong("a rate is 100kbit to 100gbit, in kbit, mbit or gbit")
                    })?;
                }
                "delay" => {
                    impairment.delay = delay(value)
                        .ok_or_else(|| wrong("a delay is at most 1s, in us, ms or s"))?;
                }
                "loss" | "reorder" => {
                    let part = percent(value).ok_or_else(|| wrong("0% to 50%"))?;
                    match key {
                        "loss" => impairment.loss = part,
                        _ => impairment.reorder = part,
                    }
                }
                _ => return Err(wrong("keys are rate, delay, loss and reorder")),
            }
        }
        match impairment.reorder > 0.0 && impairment.delay.is_zero() {
            true => Err("reorder needs a delay: frames without it overtake the others".to_owned()),
            false => Ok(setting),
        }
    }
}

/// Splits a number and its unit.
fn quantity(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.')?;
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit))
}

fn rate(text: &str) -> Option<u64> {
    let (number, unit) = quantity(text)?;
    let factor = match unit {
        "kbit" => 1e3,
        "mbit" => 1e6,
        "gbit" => 1e9,
        _ => return None,
    };
    let rate = (number * factor).round();
    (1e5..=1e11).contains(&rate).then_some(rate as u64)
}

fn delay(text: &str) -> Option<Duration> {
    let (number, unit) = quantity(text)?;
    let factor = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    let delay = Duration::try_from_secs_f64(number * factor).ok()?;
    (delay <= LONGEST).then_some(delay)
}

fn percent(text: &str) -> Option<f64> {
    let (number, unit) = quantity(text)?;
    (unit == "%" && (0.0..=MOST).contains(&number)).then_some(number)
}

impl fmt::Display for LinkSetting {
    /// Writes the form that is parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "veth,rate={}kbit", self.rate as f64 / 1e3)?;
        let Impairment {
            delay,
            loss,
            reorder,
        } = self.impairment;
        if !delay.is_zero() {
            write!(f, ",delay={}us", delay.as_nanos() as f64 / 1e3)?;
        }
        if loss > 0.0 {
            write!(f, ",loss={loss}%")?;
        }
        if reorder > 0.0 {
            write!(f, ",reorder={reorder}%")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn settings_are_read_and_written() {
        let setting: LinkSetting = "veth".parse().unwrap();
        assert_eq!(setting, LinkSetting::default());
        let text = "veth,rate=100mbit,delay=2.5ms,loss=0.5%,reorder=1%";
        let setting: LinkSetting = text.parse().unwrap();
        let impairment = Impairment {
            delay: Duration::from_micros(2500),
            loss: 0.5,
            reorder: 1.0,
        };
        assert_eq!(
            (setting.rate, setting.impairment),
            (100_000_000, impairment)
        );
        assert_eq!(setting.to_string().parse(), Ok(setting));
    }

    #[test]
    fn mistakes_are_refused() {
        for text in [
            "",
            "rate=1gbit",
            "veth,rate",
            "veth,rate=1",
            "veth,rate=0mbit",
            "veth,delay=2",
            "veth,delay=2s",
            "veth,loss=1",
            "veth,loss=51%",
            "veth,loss=.%",
            "veth,jitter=1ms",
            "veth,reorder=1%",
        ] {
            assert!(text.parse::<LinkSetting>().is_err(), "{text}");
        }
    }
}
