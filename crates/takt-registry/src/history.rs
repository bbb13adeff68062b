//! History that the registry records of the Variables and Events of its Providers, by patterns of their paths.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use takt_app::{History, HistoryStartError, HistoryStoreOptions, Recording};
use takt_services::Server;
use takt_space::RoleSet;
use takt_ua::{Identifier, NodeId, ids};

/// Name of the Server Object among the notifiers.
const SERVER: &str = "Server";

/// Variables and Events that the registry records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryHistoryOptions {
    /// Patterns of `PROVIDER/PATH`, in which `*` stands for any characters. Without any, nothing is recorded, and HistoryRead is
    /// forwarded to the Providers.
    pub patterns: Vec<String>,
    /// Notifiers whose Events are recorded: `Server` for all Events of the registry and of all Providers, or patterns of the names of
    /// Providers, in which `*` stands for any characters.
    pub events: Vec<String>,
    /// Roles that may read recorded Events; `None`: all.
    pub event_roles: Option<RoleSet>,
    /// Time between two samples of a Variable. Changes of value and StatusCode are recorded.
    pub interval: Duration,
    /// Limits of the file.
    pub store: HistoryStoreOptions,
}

impl Default for RegistryHistoryOptions {
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
            events: Vec::new(),
            event_roles: None,
            interval: Duration::from_secs(1),
            store: HistoryStoreOptions::default(),
        }
    }
}

/// A pattern that never matches.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryPatternError {
    /// The pattern of Variables is not of the form `PROVIDER/PATH`.
    #[error(
        "`{0}` matches no Variable: write PROVIDER/PATH, in which * stands for any characters, for example Machine/* for all Variables of a Provider"
    )]
    Variables(String),
    /// The pattern of notifiers is not of the form `PROVIDER`.
    #[error(
        "`{0}` matches no notifier: write Server for all Events, or the name of a Provider, in which * stands for any characters; \
         queries choose Events of one source"
    )]
    Events(String),
}

impl RegistryHistoryOptions {
    /// Checks that each pattern can match.
    ///
    /// # Errors
    /// A pattern never matches: neither a Provider nor a path has this form.
    pub fn check(&self) -> Result<(), HistoryPatternError> {
        let is_of_variables = |pattern: &String| {
            let has_both = pattern.contains(['/', '*']);
            let has_empty = pattern.starts_with('/') || pattern.ends_with('/');
            // The Properties of a Variable, which have a `#`, are not recorded.
            has_both && !has_empty && !pattern.contains('#')
        };
        if let Some(wrong) = self.patterns.iter().find(|one| !is_of_variables(one)) {
            return Err(HistoryPatternError::Variables(wrong.clone()));
        }
        let is_of_events = |pattern: &String| !pattern.is_empty() && !pattern.contains('/');
        match self.events.iter().find(|one| !is_of_events(one)) {
            Some(wrong) => Err(HistoryPatternError::Events(wrong.clone())),
            None => Ok(()),
        }
    }
}

/// The running history of the registry.
pub(crate) struct RegistryHistory {
    patterns: Vec<String>,
    events: Vec<String>,
    recording: Recording,
    history: History,
}

impl RegistryHistory {
    /// Opens the file beside the database. Returns `None` if nothing is to be recorded: then HistoryRead is forwarded only.
    pub(crate) fn start(
        server: &Arc<Server>,
        database: &Path,
        options: &RegistryHistoryOptions,
    ) -> Result<Option<Self>, HistoryStartError> {
        if options.patterns.is_empty() && options.events.is_empty() {
            takt_app::forward_history(server)?;
            return Ok(None);
        }
        let path = database.with_file_name("history.redb");
        let history = History::start(server, &path, options.store)?;
        if let Some(roles) = options.event_roles {
            history.let_read_events(roles);
        }
        if options.events.iter().any(|name| name == SERVER) {
            history.record_events(NodeId::from(ids::SERVER), SERVER)?;
        }
        Ok(Some(Self {
            events: options.events.clone(),
            patterns: options.patterns.clone(),
            recording: Recording::changes().interval(options.interval),
            history,
        }))
    }

    /// Records the Events of a Provider at its Object, if its name matches a pattern. Returns at once.
    pub(crate) fn provider_added(&self, provider: &str, object: &NodeId) {
        // This pattern is the Server Object, and no Provider with this name.
        let is_chosen = |pattern: &String| pattern != SERVER && matches(pattern, provider);
        if self.events.iter().any(is_chosen) {
            // The prefix tells a Provider with the name `Server` from the Server Object.
            let name = format!("Providers/{provider}");
            let recorded = self.history.record_events(object.clone(), name);
            if let Err(error) = recorded {
                tracing::warn!(%provider, %error, "history: Events are not recorded");
            }
        }
    }

    /// Records a Variable of a Provider, if it matches a pattern. Returns at once.
    pub(crate) fn variable_bound(&self, provider: &str, node: &NodeId) {
        let Identifier::String(path) = &node.identifier else {
            return;
        };
        let name = format!("{provider}/{path}");
        // The Properties of a Variable are no data.
        let is_data = !name.contains('#');
        if is_data && self.patterns.iter().any(|pattern| matches(pattern, &name)) {
            self.history.record(node.clone(), name, self.recording);
        }
    }
}

/// Returns true if a text matches a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        // The first place leaves the most for the other parts.
        match rest.find(part) {
            Some(place) => rest = rest.get(place + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, expected) in [
            ("Machine/Speed", "Machine/Speed", true),
            ("Machine/Speed", "Machine/Speed2", false),
            ("Machine/*", "Machine/Spindle/Speed", true),
            ("*", "", true),
            ("*/Speed", "Machine/Spindle/Speed", true),
            ("*/Speed", "Machine/Spindle/Speeds", false),
            ("M*/Sp*d", "Machine/Speed", true),
            ("M*/Sp*d", "Machine/Spa", false),
            ("a*a", "a", false),
            ("a**b", "ab", true),
            ("*b*", "abc", true),
            ("*x*", "abc", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
    #[test]
    fn patterns_that_never_match_are_refused() {
        let check = |pattern: &str, events: &str| {
            let options = RegistryHistoryOptions {
                patterns: vec!["*".to_owned(), pattern.to_owned()],
                events: vec![events.to_owned()],
                ..RegistryHistoryOptions::default()
            };
            options.check()
        };
        for good in ["Machine/*", "Machine/Spindle/Speed", "M*", "*/Speed", "*"] {
            assert_eq!(check(good, "Server"), Ok(()), "{good}");
        }
        for wrong in ["", "Machine", "/x", "/*", "Machine/", "Machine/A#EURange"] {
            let error = HistoryPatternError::Variables(wrong.to_owned());
            assert_eq!(check(wrong, "Server"), Err(error));
        }
        for good in ["Machine", "M*", "*"] {
            assert_eq!(check("*", good), Ok(()), "{good}");
        }
        for wrong in ["", "Machine/Spindle", "Machine/*"] {
            let error = HistoryPatternError::Events(wrong.to_owned());
            assert_eq!(check("*", wrong), Err(error));
        }
    }
}
