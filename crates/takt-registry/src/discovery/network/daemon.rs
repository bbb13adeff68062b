//! A daemon of the mDNS library, with its thread. It keeps the records of strangers for as long as these want, so it is watched.

use mdns_sd::{Error, Metrics, Receiver, ServiceDaemon};

/// Texts that a daemon may keep. One has up to 9 kB; a server has one.
const MAX_TEXTS: i64 = 2_000;

/// Other records that a daemon may keep, of 1 to 2 kB: a server has three to six.
const MAX_RECORDS: i64 = 10_000;

/// Times at which a daemon wants to look at its records, of 16 bytes: each record that comes adds two, also if it is known.
const MAX_TIMES: i64 = 200_000;

/// A daemon that can be asked for the number of its records.
pub(super) struct Daemon {
    library: ServiceDaemon,
    /// Answer to the last question.
    answer: Option<Receiver<Metrics>>,
}

impl Daemon {
    /// Starts a daemon on all interfaces of the host.
    pub(super) fn start() -> Result<Self, Error> {
        Ok(Self {
            library: ServiceDaemon::new()?,
            answer: None,
        })
    }

    /// Returns the daemon of the library.
    pub(super) fn library(&self) -> &ServiceDaemon {
        &self.library
    }

    /// Returns true if the daemon kept too much when it answered the last question, and asks again. It does not wait for the answer.
    pub(super) fn keeps_too_much(&mut self) -> bool {
        let answer = self.answer.as_ref();
        let is_waiting =
            answer.is_some_and(|answer| answer.is_empty() && !answer.is_disconnected());
        if is_waiting {
            return false;
        }
        let metrics = answer.and_then(|answer| answer.try_recv().ok());
        self.answer = self.library.get_metrics().ok();
        metrics.is_some_and(|metrics| is_too_much(&metrics))
    }
}

/// Returns true if a daemon with these numbers keeps too much.
fn is_too_much(metrics: &Metrics) -> bool {
    let number = |name: &str| metrics.get(name).copied().unwrap_or(0);
    let others = ["ptr", "srv", "addr", "nsec", "subtype"];
    let records: i64 = others
        .iter()
        .map(|name| number(&format!("cached-{name}")))
        .sum();
    number("cached-txt") > MAX_TEXTS || records > MAX_RECORDS || number("timer") > MAX_TIMES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand servers with several addresses are not too many.
    #[test]
    fn the_records_of_a_thousand_servers_may_be_kept() {
        let metrics = |numbers: &[(&str, i64)]| -> Metrics {
            let named = numbers
                .iter()
                .map(|(name, number)| ((*name).to_owned(), *number));
            named.collect()
        };
        let many = [
            ("cached-ptr", 1_000),
            ("cached-srv", 1_000),
            ("cached-txt", 1_000),
            ("cached-addr", 4_000),
            ("timer", 50_000),
        ];
        assert!(!is_too_much(&metrics(&many)));
        for (name, number) in [
            ("cached-txt", MAX_TEXTS + 1),
            ("cached-srv", MAX_RECORDS + 1),
            ("cached-nsec", MAX_RECORDS + 1),
            ("timer", MAX_TIMES + 1),
        ] {
            assert!(is_too_much(&metrics(&[(name, number)])), "{name}");
        }
        let sum = [("cached-ptr", MAX_RECORDS), ("cached-subtype", 1)];
        assert!(is_too_much(&metrics(&sum)));
    }
}
