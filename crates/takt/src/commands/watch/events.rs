//! `takt watch ENDPOINT --events`: Events, one in each line.

use std::time::Duration;

use miette::IntoDiagnostic;
use serde_json::{Map, Value, json};
use takt_app::client::DeclaredValue;
use takt_app::{ClientError, EventNotification, Outage, Subscription, SubscriptionOptions};
use takt_rt::interrupt::Interrupt;
use takt_rt::time_limit::TimeLimit;
use takt_space::namespace0::Namespace0;
use takt_ua::{LocalizedText, NodeId, Variant, ids};

use super::event_query::{EventLineQuery, is_audit};
use super::lost::LostNotifications;
use crate::arguments::WatchArguments;
use crate::commands::connect::{connect, node};
use crate::commands::described::Described;
use crate::{explain, output};

/// Longest wait for an Event before the next check for an interrupt.
const STEP: Duration = Duration::from_millis(50);

/// Least room for a message in a narrow terminal, in columns.
const LEAST: usize = 8;

/// Explanation of an empty output.
const NO_AUDIT_EVENTS: [&str; 3] = [
    "no audit Events came: a server of Takt sends them over an encrypted connection",
    "(--security encrypt) to users with the role security-admin, and over shared",
    "memory to the Unix user of the server",
];

pub fn run(arguments: &WatchArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    let explained = |error: ClientError| explain::client(&error);
    let mut client = connect(&arguments.connect)?;
    let mut notifiers = Vec::new();
    for text in &arguments.nodes {
        notifiers.push(node(&mut client, text).map_err(explained)?);
    }
    if notifiers.is_empty() {
        notifiers.push(NodeId::from(ids::SERVER));
    }
    let chosen = arguments.event_type.as_deref();
    let is_json = arguments.connect.json;
    let mut queries = EventLineQuery::all(&mut client, chosen, &arguments.conditions, is_json)?;
    let options = SubscriptionOptions {
        publishing_interval: arguments.interval,
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(client, options).map_err(explained)?;
    let mut query = queries.next();
    for notifier in &notifiers {
        while let Some(one) = &query {
            let refused = match subscription.monitor_events(notifier, one.query.clone()) {
                Ok(_) => break,
                Err(error) => error,
            };
            // The server may accept fewer fields.
            match queries.next() {
                Some(next) if !refused.is_connection() => query = Some(next),
                _ => return Err(explained(refused)),
            }
        }
    }
    // The fields of a later query are the first ones of an earlier query, so these names fit all notifiers.
    let names = query.map(|query| query.names).unwrap_or_default();
    // Alarms that are active already, and after a restart of the server. Servers without Conditions refuse it.
    if let Err(error) = subscription.refresh_conditions() {
        tracing::debug!("no ConditionRefresh: {error}");
    }
    let mut outage = Outage::default();
    let mut lost = LostNotifications::default();
    let mut has_shown = false;
    let mut described = Described::default();
    let end = TimeLimit::of(arguments.run_for);
    while !interrupt.is_set() {
        let left = end.left();
        if left.is_zero() {
            break;
        }
        match subscription.next_event(left.min(STEP)) {
            Ok(event) => {
                if event.is_some() || subscription.client().is_connected() {
                    outage.ended();
                }
                if let Some(event) = event {
                    has_shown |= !Line::of(&event.fields).is_marker;
                    described.learn_declared(subscription.client(), &declared(&event.fields));
                    show(&event, &names, arguments, &described);
                }
            }
            Err(error) if error.is_temporary() => {
                interrupt.wait(Some(outage.failed(&error).min(left)));
            }
            Err(error) => return Err(explained(error)),
        }
        lost.note_messages(subscription.lost_messages());
    }
    lost.finish(is_json);
    if !has_shown && chosen.is_some_and(is_audit) {
        for line in NO_AUDIT_EVENTS {
            output::complain(line);
        }
    }
    Ok(())
}

fn show(
    event: &EventNotification,
    names: &[String],
    arguments: &WatchArguments,
    described: &Described,
) {
    let is_audit = Line::of(&event.fields).kind.starts_with("Audit");
    if arguments.event_type.is_some() || !is_audit {
        let is_json = arguments.connect.json;
        show_fields(&event.fields, names, Shown::Time, is_json, described);
    }
}

/// The part of the Time of an Event that its line shows, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Shown {
    Time,
    DateAndTime,
}

/// Returns the fields of an Event, whose DataTypes are not known.
pub(in crate::commands) fn declared(fields: &[Variant]) -> Vec<DeclaredValue<'_>> {
    fields.iter().map(|field| (None, field)).collect()
}

/// Prints the fields of an [`EventLineQuery`] with these names: one line of a terminal, or JSON.
pub(in crate::commands) fn show_fields(
    fields: &[Variant],
    names: &[String],
    shown: Shown,
    is_json: bool,
    described: &Described,
) {
    let line = Line::of(fields);
    if is_json {
        let fields: Map<String, Value> = names
            .iter()
            .zip(fields)
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.clone(), described.json(value, None)))
            .collect();
        return output::line(json!(fields));
    }
    if !line.is_marker {
        output::line(line.text(shown, takt_figures::width()));
    }
}

/// An Event as it is shown.
struct Line {
    time: String,
    severity: String,
    kind: String,
    message: String,
    states: String,
    /// True for the begin and the end of a refresh.
    is_marker: bool,
}

impl Line {
    fn of(fields: &[Variant]) -> Self {
        // The indexes below are places in `FIELDS` of event_query.rs.
        let field = |index: usize| fields.get(index).unwrap_or(&Variant::Empty);
        let text = |index: usize| match field(index) {
            Variant::LocalizedText(text) => LocalizedText::clone(text).text.to_string(),
            Variant::Empty => String::new(),
            other => other.to_string(),
        };
        let time = match field(1) {
            // Of the form 2026-01-02T03:04:05.678Z.
            Variant::DateTime(time) => output::whole_milliseconds(*time).to_iso8601(),
            _ => String::new(),
        };
        let kind = match field(0) {
            Variant::NodeId(node) => name_of_type(node),
            _ => String::new(),
        };
        let (source, message) = (text(3), text(4));
        let message = match source.is_empty() || message.contains(&source) {
            true => message,
            false => format!("{source}: {message}"),
        };
        let state = |index: usize, yes: &'static str, no: &'static str| match field(index) {
            Variant::Boolean(true) => Some(yes),
            Variant::Boolean(false) => Some(no),
            _ => None,
        };
        // A Condition is acknowledged first, and confirmed then.
        let response = match (field(7), field(8)) {
            (Variant::Boolean(false), _) => Some("unacked"),
            (Variant::Boolean(true), Variant::Boolean(false)) => Some("unconfirmed"),
            (Variant::Boolean(true), _) => Some("acked"),
            _ => None,
        };
        let shelved = matches!(field(10), Variant::Boolean(true)).then_some("shelved");
        let states = [state(6, "active", "inactive"), response, shelved];
        let states: Vec<&str> = states.into_iter().flatten().collect();
        let is_condition = !states.is_empty();
        Self {
            time,
            severity: text(2),
            is_marker: kind.starts_with("Refresh"),
            // The states tell that it is a Condition.
            kind: if is_condition { String::new() } else { kind },
            // A message of a server must not write anywhere else on the terminal.
            message: output::printable(&message),
            states: states.join(", "),
        }
    }

    /// Returns the line, cut to the width of a terminal if there is one.
    fn text(&self, shown: Shown, columns: Option<usize>) -> String {
        let (from, width) = match shown {
            Shown::Time => (11, 12),
            Shown::DateAndTime => (0, 24),
        };
        let time = self.time.get(from..).unwrap_or(&self.time);
        let time = match shown {
            Shown::Time => time.trim_end_matches('Z'),
            Shown::DateAndTime => time,
        };
        let head = format!("{time:<width$} {:>4} {}", self.severity, self.kind);
        let head = head.trim_end();
        let tail = match self.states.is_empty() {
            true => String::new(),
            false => format!(" [{}]", self.states),
        };
        let used = head.chars().count() + 1 + tail.chars().count();
        let room = columns.map_or(usize::MAX, |columns| {
            columns.saturating_sub(used).max(LEAST)
        });
        format!("{head} {}{tail}", cut(&self.message, room))
    }
}

/// Returns a text of at most `columns` characters.
fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Returns the name of an EventType of the standard without its last word, or the NodeId of another one.
fn name_of_type(node: &NodeId) -> String {
    let standard = node.standard_id().and_then(Namespace0::get);
    let Some(standard) = standard else {
        return node.to_string();
    };
    let name = standard.browse_name();
    let short = name.strip_suffix("EventType");
    let short = short.or_else(|| name.strip_suffix("Type"));
    match short {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::DateTime;

    use super::*;

    #[test]
    fn lines_fit_the_terminal() {
        let long = "hot ".repeat(100);
        let fields: Vec<Variant> = vec![
            NodeId::from(ids::EXCLUSIVE_LIMIT_ALARM_TYPE).into(),
            "2026-01-02T03:04:05.678Z"
                .parse::<DateTime>()
                .unwrap()
                .into(),
            700_u16.into(),
            "Spindle".into(),
            LocalizedText::from(format!("{long}\u{1b}[2J\n").as_str()).into(),
            Variant::Empty,
            true.into(),
            false.into(),
        ];
        let line = Line::of(&fields);
        let dated = line.text(Shown::DateAndTime, Some(80));
        assert_eq!(dated.chars().count(), 80, "{dated}");
        assert!(
            dated.starts_with("2026-01-02T03:04:05.678Z  700 "),
            "{dated}"
        );
        let text = line.text(Shown::Time, Some(80));
        assert_eq!(text.chars().count(), 80, "{text}");
        assert!(text.starts_with("03:04:05.678  700 Spindle: hot"), "{text}");
        assert!(text.ends_with("[active, unacked]"), "{text}");
        // A file or a pipe has no width.
        let whole = line.text(Shown::Time, None);
        assert!(whole.contains(long.trim_end()), "{whole}");
        assert!(whole.ends_with("[active, unacked]"), "{whole}");
        let control = LocalizedText::from("a\u{1b}b").into();
        let fields = vec![
            Variant::Empty,
            Variant::Empty,
            1_u16.into(),
            Variant::Empty,
            control,
        ];
        assert!(!Line::of(&fields).text(Shown::Time, None).contains('\u{1b}'));
    }
}
