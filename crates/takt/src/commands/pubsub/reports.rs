//! Reasons of errors of a running PubSub, each printed once, with advice.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use serde_json::{Map, Value, json};
use takt_link::{DownReason, LinkState};
use takt_pubsub::runtime::{ComponentState, Problem, ProblemCause, PubSub};
use takt_pubsub::{LossCause, Losses, PublishError};
use takt_terminal::Screen;

use super::advice;
use crate::explain;

/// Maximum number of reasons that are printed. Messages of strangers can cause any number of them.
const MAX_REASONS: usize = 32;

/// Number of checks during which a link may connect, before this is reported.
const CONNECTING: u32 = 20;

/// Reasons that were printed.
#[derive(Default)]
pub(in crate::commands) struct Reports {
    printed: BTreeSet<String>,
    /// Components whose link was down at the last check, with the number of checks since it went down.
    down: BTreeMap<String, u32>,
}

impl Reports {
    /// Prints a reason with advice. It is printed again with -v only.
    pub(in crate::commands) fn print(&mut self, screen: &Screen, reason: String, advice: &str) {
        let cause = reason.clone();
        self.print_cause(screen, cause, reason, advice);
    }

    /// Prints the first reason of each cause.
    fn print_cause(&mut self, screen: &Screen, cause: String, reason: String, advice: &str) {
        if self.printed.contains(&cause) || self.printed.len() >= MAX_REASONS {
            tracing::info!("{reason}");
            return;
        }
        // The next table is shown below.
        screen.finish();
        tracing::warn!("{reason}. {advice}");
        self.printed.insert(cause);
        if self.printed.len() == MAX_REASONS {
            tracing::warn!("further reasons are shown with -v only");
        }
    }

    /// Prints the problems since the last check, and the links that were down at both.
    pub(in crate::commands) fn check(&mut self, screen: &Screen, pub_sub: &PubSub) {
        let mut down = BTreeMap::new();
        for component in components(pub_sub) {
            let LinkState::Down(reason) = component.link else {
                continue;
            };
            let checks = self
                .down
                .get(&component.name)
                .map_or(0, |checks| checks + 1);
            // A link to a broker is down until it is connected; TLS and a busy host take a moment.
            let first = match reason {
                DownReason::NotConnected => CONNECTING,
                _ => 1,
            };
            if checks >= first {
                self.print(screen, link_text(&component), advice::down(reason));
            }
            down.insert(component.name, checks);
        }
        for component in components(pub_sub) {
            for (cause, _) in component.statistics.losses.iter() {
                // The first message without a reader is reported with its header, a refusal with its reason, and one that cannot
                // be decoded with the name of the field.
                let is_told = matches!(
                    cause,
                    LossCause::Unclaimed | LossCause::Refusal | LossCause::Encoding
                );
                if !is_told {
                    let text = format!("{}: messages are lost: {cause}", component.name);
                    self.print(screen, text, advice::loss(cause));
                }
            }
        }
        for problem in pub_sub.problems() {
            // A link that is down is reported above, once for all its messages.
            if !down.contains_key(&*problem.component) {
                let advice = advice::problem(&problem.cause);
                let text = problem_text(&problem);
                let cause = match problem.cause {
                    // The length changes with the values.
                    ProblemCause::Publish(PublishError::TooLong { .. }) => {
                        format!("{}: too long", problem.component)
                    }
                    ProblemCause::Publish(PublishError::Length { .. }) => {
                        format!("{}: length", problem.component)
                    }
                    _ => text.clone(),
                };
                self.print_cause(screen, cause, text, advice);
            }
        }
        self.down = down;
    }
}

/// Logs the numbers of lost messages by cause, and of errors.
pub(in crate::commands) fn tell_losses(pub_sub: &PubSub) {
    for ComponentState {
        name, statistics, ..
    } in components(pub_sub)
    {
        for (cause, count) in statistics.losses.iter() {
            tracing::warn!("{}", loss_text(&name, cause, count));
        }
    }
    for ComponentState {
        name, statistics, ..
    } in pub_sub.connections()
    {
        if statistics.errors > 0 {
            tracing::warn!("{name}: {} messages were not accepted", statistics.errors);
        }
    }
}

/// Returns the numbers of a component's messages for programs.
pub(in crate::commands) fn component_json(kind: &str, component: &ComponentState) -> Value {
    let statistics = &component.statistics;
    json!({
        kind: component.name,
        "state": format!("{:?}", component.state),
        "networkMessages": statistics.network_messages,
        "errors": statistics.errors,
        "clockSteps": statistics.clock_steps,
        "losses": losses_json(&statistics.losses),
    })
}

/// Returns the numbers of lost messages by cause for programs.
pub(in crate::commands) fn losses_json(losses: &Losses) -> Value {
    let all = LossCause::ALL.iter();
    let losses = all.map(|cause| (cause.name().to_owned(), losses.of(*cause).into()));
    losses.collect::<Map<_, _>>().into()
}

/// Returns the text of the number of messages that were lost for a cause.
pub(in crate::commands) fn loss_text(name: &str, cause: LossCause, count: u64) -> String {
    match cause {
        LossCause::Unclaimed => format!("{name}: {count} messages were for no DataSetReader"),
        LossCause::Encoding => {
            format!("{name}: {count} messages, or fields of them, could not be decoded")
        }
        cause => format!("{name}: {count} messages were lost: {cause}"),
    }
}

/// Returns true if all sent messages were lost. A full queue in shared memory is that of one receiver; others may have the message.
pub(in crate::commands) fn are_all_lost(sent: u64, losses: &Losses) -> bool {
    sent > 0 && losses.total() - losses.of(LossCause::Overflow) >= sent
}

/// Returns an error if a link is down, if a WriterGroup has delivered nothing because of errors or losses, or if a connection has
/// accepted nothing of what it received because of errors.
pub(in crate::commands) fn outcome(pub_sub: &PubSub) -> miette::Result<()> {
    for component in components(pub_sub) {
        // A link that is down is the reason of the missing messages, so it comes first.
        if let LinkState::Down(reason) = component.link {
            return Err(explain::with_help(
                link_text(&component),
                advice::down(reason),
            ));
        }
    }
    let is_silent = |group: &ComponentState| {
        group.statistics.network_messages == 0 && group.statistics.errors > 0
    };
    let shown_above = "The reasons are shown above.";
    if let Some(group) = pub_sub.writer_groups().find(is_silent) {
        let text = format!("{}: no message was sent", group.name);
        return Err(explain::with_help(text, shown_above));
    }
    let is_lost = |group: &ComponentState| {
        are_all_lost(group.statistics.network_messages, &group.statistics.losses)
    };
    if let Some(group) = pub_sub.writer_groups().find(is_lost) {
        let count = group.statistics.network_messages;
        let text = format!("{}: none of {count} messages was delivered", group.name);
        return Err(explain::with_help(text, shown_above));
    }
    let is_deaf = |connection: &ComponentState| {
        connection.statistics.data_set_messages == 0 && connection.statistics.errors > 0
    };
    match pub_sub.connections().find(is_deaf) {
        None => Ok(()),
        Some(connection) => Err(explain::with_help(
            format!("{}: no message was accepted", connection.name),
            shown_above,
        )),
    }
}

fn components(pub_sub: &PubSub) -> impl Iterator<Item = ComponentState> + '_ {
    pub_sub.writer_groups().chain(pub_sub.connections())
}

fn link_text(component: &ComponentState) -> String {
    format!("{}: the link is {}", component.name, component.link)
}

/// Returns the text of a problem with its causes.
fn problem_text(problem: &Problem) -> String {
    let mut text = format!("{}: {}", problem.component, problem.cause);
    let mut cause = match &problem.cause {
        ProblemCause::Publish(error) => error.source(),
        ProblemCause::Link(_)
        | ProblemCause::Action(_)
        | ProblemCause::Refusal(_)
        | ProblemCause::TimerSlack(_)
        | ProblemCause::ClockStep { .. }
        | ProblemCause::Event => None,
    };
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
