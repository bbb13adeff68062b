//! Reasons of errors of a running PubSub, each printed once, with advice.

use std::collections::BTreeSet;
use std::error::Error;

use takt_demo::screen::Screen;
use takt_link::LinkState;
use takt_pubsub::runtime::{ComponentState, Problem, ProblemCause, PubSub};

use super::advice;
use crate::explain;

/// Maximum number of reasons that are printed. Messages of strangers can cause any number of them.
const MAX_REASONS: usize = 32;

/// Reasons that were printed.
#[derive(Default)]
pub(in crate::commands) struct Reports {
    printed: BTreeSet<String>,
    /// Components whose link was down at the last check. A link to a broker is down until it is connected.
    down: BTreeSet<String>,
}

impl Reports {
    /// Prints a reason with advice. It is printed again with -v only.
    pub(in crate::commands) fn print(&mut self, screen: &Screen, reason: String, advice: &str) {
        if self.printed.contains(&reason) || self.printed.len() >= MAX_REASONS {
            tracing::info!("{reason}");
            return;
        }
        // The next table is shown below.
        screen.finish();
        tracing::warn!("{reason}. {advice}");
        self.printed.insert(reason);
        if self.printed.len() == MAX_REASONS {
            tracing::warn!("further reasons are shown with -v only");
        }
    }

    /// Prints the problems since the last check, and the links that were down at both.
    pub(in crate::commands) fn check(&mut self, screen: &Screen, pub_sub: &PubSub) {
        let mut down = BTreeSet::new();
        for component in components(pub_sub) {
            let LinkState::Down(reason) = component.link else {
                continue;
            };
            if self.down.contains(&component.name) {
                self.print(screen, link_text(&component), advice::down(reason));
            }
            down.insert(component.name);
        }
        for problem in pub_sub.problems() {
            // A link that is down is reported above, once for all its messages.
            if !down.contains(&*problem.component) {
                let advice = advice::problem(&problem.cause);
                self.print(screen, problem_text(&problem), advice);
            }
        }
        self.down = down;
    }
}

/// Returns an error if a link is down, or if a WriterGroup has sent nothing because of errors.
pub(in crate::commands) fn outcome(pub_sub: &PubSub) -> miette::Result<()> {
    for component in components(pub_sub) {
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
    match pub_sub.writer_groups().find(is_silent) {
        None => Ok(()),
        Some(group) => Err(explain::with_help(
            format!("{}: no message was sent", group.name),
            "The reasons are shown above.",
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
        ProblemCause::Link(_) | ProblemCause::Event => None,
    };
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
