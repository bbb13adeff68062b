//! Changes of SecurityGroups on their way to the database, which are taken back if they are lost.

use takt_rt::memory_budget::Charge;
use takt_ua::StatusCode;

use super::group::SecurityGroup;
use super::{SecurityGroups, State, nodes};
use crate::database::{DatabaseError, Undo};

/// Memory in bytes of a change that waits for the disk, beside the states of the group: its place in the queue, its name,
/// and what writes it or takes it back.
const HANDED_OVER: usize = 1024;

impl SecurityGroups {
    /// Hands the removal of a group over to the database.
    pub(super) fn keep_removal(
        &self,
        state: &State,
        name: &str,
        group: &SecurityGroup,
    ) -> Result<(), StatusCode> {
        let charge = self.rules.reserve(HANDED_OVER + group.memory())?;
        let database = &self.rules.database;
        let removed = database.remove_security_group(name, self.undo(state, name), charge);
        removed.map_err(|error| refuse(&error))
    }

    /// Returns what restores the present state of a group if a change of it is lost.
    fn undo(&self, state: &State, name: &str) -> Undo {
        let before = state.groups.get(name).cloned();
        let (groups, name) = (self.this.clone(), name.to_owned());
        Box::new(move || {
            if let Some(groups) = groups.upgrade() {
                groups.restore(&name, before);
            }
        })
    }

    /// Restores the state of a group before a change that is lost.
    fn restore(&self, name: &str, before: Option<SecurityGroup>) {
        let Some(space) = self.space.upgrade() else {
            return;
        };
        let mut state = self.lock();
        // It is lost: a later state has to be handed over anew.
        state.handed_over.remove(name);
        match before {
            Some(group) => {
                if !state.groups.contains_key(name)
                    && let Err(error) = self.show(&space, &group.configuration)
                {
                    tracing::error!(security_group = name, %error, "cannot be shown again");
                }
                state.groups.insert(name.to_owned(), group);
            }
            None => {
                state.groups.remove(name);
                nodes::hide(&space, name);
            }
        }
    }

    /// Hands the present state of a group over to the database; no client gets its keys before they are on the disk. It replaces
    /// the last state of the group if that one still waits. Otherwise `reserve` reserves its memory.
    pub(super) fn keep(
        &self,
        state: &mut State,
        group: &SecurityGroup,
        reserve: impl FnOnce(usize) -> Result<Charge, StatusCode>,
    ) -> Result<(), StatusCode> {
        let name = group.configuration.name.as_str();
        let last_token = state.last_token.max(group.last_token_id());
        let last = state.handed_over.get(name);
        if !last.is_some_and(|last| last.replace(group.record(), last_token)) {
            // The state itself, and that before it.
            let charge = reserve(HANDED_OVER + 2 * group.memory())?;
            let database = &self.rules.database;
            let undo = self.undo(state, name);
            let kept = database.keep_security_group(group.record(), last_token, undo, charge);
            let kept = kept.map_err(|error| refuse(&error))?;
            state.handed_over.insert(name.to_owned(), kept);
        }
        state.last_token = last_token;
        Ok(())
    }
}

fn refuse(error: &DatabaseError) -> StatusCode {
    tracing::error!(%error, "a SecurityGroup could not be stored");
    StatusCode::BadResourceUnavailable
}
