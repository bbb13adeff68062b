//! Cells of received values, and their values after a missed deadline.

use std::sync::Arc;

use takt_cell::Cell;
use takt_pubsub::subscriber::{DataTarget, FieldTarget, SubscribedField};
use takt_ua::{DateTime, StatusCode, Variant};

use crate::deadline::Reaction;
use crate::error::ControlError;

/// Cell of a received field.
#[derive(Debug)]
struct Input {
    field: String,
    cell: Arc<Cell>,
    substitute: Option<Variant>,
}

/// Cells of all received fields.
#[derive(Debug, Default)]
pub(crate) struct Inputs(Vec<Input>);

/// Target that notes the cells of another one.
pub(crate) struct NotingTarget<'a> {
    pub(crate) target: &'a mut dyn DataTarget,
    pub(crate) inputs: &'a mut Inputs,
}

impl DataTarget for NotingTarget<'_> {
    fn target(&mut self, field: SubscribedField<'_>) -> Option<FieldTarget> {
        let found = self.target.target(field)?;
        if let FieldTarget::Cell(cell) = &found {
            let configured = field.target.map(|target| target.override_value.clone());
            self.inputs.0.push(Input {
                field: field.meta_data.name.to_string(),
                cell: Arc::clone(cell),
                substitute: configured.filter(|value| !value.is_empty()),
            });
        }
        Some(found)
    }
}

impl Inputs {
    /// Checks that a reaction is possible.
    ///
    /// # Errors
    /// [`ControlError::Substitute`] for a field without a value that its cell takes.
    pub(crate) fn check(&self, reaction: Reaction) -> Result<(), ControlError> {
        if reaction != Reaction::Substitute {
            return Ok(());
        }
        for input in &self.0 {
            let refused = |reason| ControlError::Substitute {
                field: input.field.clone(),
                reason,
            };
            // Only an attempt tells whether the cell takes the value.
            let before = input.cell.get();
            let substitute = input.substitute.as_ref();
            let substitute = substitute.ok_or_else(|| refused(StatusCode::BadNoData))?;
            let now = DateTime::now();
            let set = input.cell.set(substitute, StatusCode::Good, now);
            set.map_err(|error| refused(error.status_code()))?;
            // The value before is set again: nothing has been missed yet.
            if let Ok(before) = before
                && let Some(value) = &before.value
            {
                let time = before.source_timestamp.unwrap_or(now);
                let _ = input.cell.set(value, before.status_code(), time);
            }
        }
        Ok(())
    }

    /// Carries out a reaction.
    pub(crate) fn react(&self, reaction: Reaction) {
        for Input {
            cell, substitute, ..
        } in &self.0
        {
            let last = match reaction {
                Reaction::HoldLast => cell.get().ok().and_then(|last| last.value),
                _ => None,
            };
            let (value, status) = match (reaction, &last, substitute) {
                (Reaction::HoldLast, Some(value), _) => {
                    (value, StatusCode::UncertainLastUsableValue)
                }
                (Reaction::Substitute, _, Some(value)) => (value, StatusCode::GoodLocalOverride),
                _ => continue,
            };
            // A value of this cell's type fits; a cell that others are setting gets it in the next cycle.
            let _ = cell.set(value, status, DateTime::now());
        }
    }
}
