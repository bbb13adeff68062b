//! Capabilities that a registry announces (OPC 10000-12, Annex D).

use crate::history::RegistryHistoryOptions;

/// Returns the capabilities of a registry: LocalDiscoveryServer, live data, and alarms, which are those of its Providers; and the
/// history that it records.
pub(crate) fn capabilities(history: &RegistryHistoryOptions) -> Vec<&'static str> {
    let mut all = vec!["LDS", "DA", "AC"];
    if !history.patterns.is_empty() {
        all.push("HD");
    }
    if !history.events.is_empty() {
        all.push("HE");
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_follow_from_what_is_on() {
        let mut history = RegistryHistoryOptions::default();
        assert_eq!(capabilities(&history), ["LDS", "DA", "AC"]);
        history.patterns.push("*".to_owned());
        history.events.push("Server".to_owned());
        assert_eq!(capabilities(&history), ["LDS", "DA", "AC", "HD", "HE"]);
    }
}
