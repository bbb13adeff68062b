//! Pace of requests: back to back, or at a rate.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// Time of the next request.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Interval between requests; `None` for requests back to back.
    interval: Option<Duration>,
    /// True if the wait reads the clock instead of sleeping.
    spins: bool,
    next: Option<Instant>,
}

impl Pace {
    /// Creates a pace of this rate, or of as many requests as possible. Between requests, a client that spins reads the clock, so
    /// that its core does not go idle. Any other client sleeps.
    pub(crate) fn new(rate: Option<RequestRate>, spins: bool) -> Self {
        Self {
            interval: rate.map(RequestRate::interval),
            spins,
            next: None,
        }
    }

    /// Starts the pace. The first request is due after one interval.
    pub(crate) fn begin(&mut self) {
        self.next = self.interval.map(|interval| Instant::now() + interval);
    }

    /// Returns the number of requests, at most `wanted`, that take 100 ms at most.
    pub(crate) fn at_most(&self, wanted: u64) -> u64 {
        self.interval.map_or(wanted, |interval| {
            let fit = Duration::from_millis(100).as_nanos() / interval.as_nanos().max(1);
            wanted.min(u64::try_from(fit).unwrap_or(u64::MAX)).max(1)
        })
    }

    /// Waits until the next request is due. An overdue request is sent at once, and the later ones are postponed.
    #[inline]
    pub(crate) fn wait(&mut self) {
        let (Some(interval), Some(due)) = (self.interval, self.next) else {
            return;
        };
        let mut now = Instant::now();
        while now < due {
            if self.spins {
                spin_loop();
            } else {
                std::thread::sleep(due - now);
            }
            now = Instant::now();
        }
        self.next = Some(due.max(now - interval) + interval);
    }
}

/// Rate of requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestRate(f64);

impl RequestRate {
    /// Returns the rate in Hz.
    #[must_use]
    pub fn hertz(self) -> f64 {
        self.0
    }

    fn interval(self) -> Duration {
        Duration::from_secs_f64(1.0 / self.0)
    }
}

impl std::str::FromStr for RequestRate {
    type Err = String;

    /// Parses a rate: `1kHz`, `500 Hz`, `0.5kHz`. It is between 1 Hz and 1 MHz.
    fn from_str(text: &str) -> Result<Self, String> {
        let fault =
            || format!("`{text}` is not a rate: write for example 1kHz or 500 Hz, at least 1 Hz");
        let unit = text
            .find(|c: char| c.is_ascii_alphabetic())
            .ok_or_else(fault)?;
        let (number, unit) = text.split_at(unit);
        let factor = match unit.to_ascii_lowercase().as_str() {
            "hz" => 1.0,
            "khz" => 1e3,
            "mhz" if unit.starts_with('M') => 1e6,
            _ => return Err(fault()),
        };
        let number: f64 = number.trim().parse().map_err(|_| fault())?;
        let hertz = number * factor;
        if (1.0..=1e6).contains(&hertz) {
            Ok(Self(hertz))
        } else {
            Err(fault())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_with_their_unit() {
        for (text, hertz) in [
            ("1kHz", 1e3),
            ("500 Hz", 500.0),
            ("0.5khz", 500.0),
            ("1MHz", 1e6),
        ] {
            assert_eq!(
                text.parse::<RequestRate>().unwrap().hertz(),
                hertz,
                "{text}"
            );
        }
        for text in [
            "", "10", "kHz", "0Hz", "-1kHz", "2MHz", "5mHz", "1 GHz", "NaNHz",
        ] {
            assert!(text.parse::<RequestRate>().is_err(), "{text}");
        }
    }

    #[test]
    fn requests_are_sent_no_more_often() {
        for spins in [false, true] {
            let mut pace = Pace::new(Some("1kHz".parse().unwrap()), spins);
            let started = Instant::now();
            pace.begin();
            for _ in 0..20 {
                pace.wait();
            }
            assert!(started.elapsed() >= Duration::from_millis(19), "{spins}");
            assert_eq!(pace.at_most(1000), 100);
        }
    }
}
