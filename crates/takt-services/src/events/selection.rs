//! Selection of recorded Events by an EventFilter.

use takt_space::{Caller, Event, View};
use takt_ua::structures::EventFilter;
use takt_ua::{ExtensionObject, StatusCode};

use super::filter::CheckedFilter;
use super::receivers::may_receive_recorded;

/// A validated EventFilter for the history of Events (OPC 10000-11, 6.5.2): the clauses mean the same as those of a MonitoredItem.
#[derive(Debug)]
pub struct EventSelection(CheckedFilter);

impl EventSelection {
    /// Validates a filter.
    ///
    /// # Errors
    /// `BadEventFilterInvalid`, `BadTooManyOperations` or another StatusCode of the filter.
    pub fn new(filter: &EventFilter, view: &View<'_>) -> Result<Self, StatusCode> {
        let filter = ExtensionObject::from_structure(filter);
        let checked = CheckedFilter::of_request(&filter, view);
        let (checked, _) = checked.map_err(|refused| refused.status)?;
        Ok(Self(checked))
    }

    /// Returns the encoded fields of an Event, an array of Variants, and the units of work. There are no fields if the client may not
    /// receive Events of the source, if the WHERE clause is not true, or if the fields are too large for a message.
    pub fn select(
        &self,
        event: &Event,
        caller: &Caller,
        view: &View<'_>,
    ) -> (Option<Vec<u8>>, u64) {
        if !may_receive_recorded(caller, event, view) {
            return (None, 0);
        }
        match self.0.passes(event, view) {
            (true, units) => (self.0.select(event, view).ok(), units),
            (false, units) => (None, units),
        }
    }
}
