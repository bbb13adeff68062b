//! Cells of which targets write parts (OPC 10000-14, 6.2.10.2.3, WriteIndexRange).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_cell::Cell;
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::{DateTime, NumericRange, StatusCode, Variant};

/// Part of a cell. The cell has one status, the worst of its parts: those of other targets, too.
#[derive(Debug, Clone)]
pub(super) struct CellPart {
    range: NumericRange,
    /// Statuses of all parts of the cell.
    statuses: Arc<Mutex<Vec<StatusCode>>>,
    /// Index of this part.
    index: usize,
}

impl CellPart {
    pub(super) fn new(range: NumericRange) -> Self {
        Self {
            range,
            statuses: Arc::new(Mutex::new(vec![StatusCode::BadWaitingForInitialData])),
            index: 0,
        }
    }

    /// Adds this part to those of the same cell.
    fn join(&mut self, others: &Self) {
        let mut statuses = others.lock();
        self.index = statuses.len();
        statuses.push(StatusCode::BadWaitingForInitialData);
        drop(statuses);
        self.statuses = Arc::clone(&others.statuses);
    }

    /// Writes the part; without a value only its status. The cell keeps its values also while its status is Bad, because
    /// later parts are put into them.
    pub(super) fn store(
        &self,
        cell: &Cell,
        part: Option<&Variant>,
        status: StatusCode,
        time: DateTime,
    ) -> Result<(), StatusCode> {
        // Threads of other connections write other parts of the same value.
        let mut statuses = self.lock();
        let mut whole = last_value(cell)?;
        match part {
            // A part does not tell the length of the whole array: there must be a value to put it into.
            Some(_) if whole.is_empty() => return Err(StatusCode::BadIndexRangeNoData),
            Some(part) => self.range.write(&mut whole, part)?,
            None => {}
        }
        if let Some(own) = statuses.get_mut(self.index) {
            *own = status;
        }
        let status = worst(&statuses).unwrap_or(status);
        cell.set(&whole, status, time)
            .map_err(|error| error.status_code())
    }

    /// Marks the part as uncertain if it is Good.
    pub(super) fn doubt(&self, cell: &Cell) -> Result<(), StatusCode> {
        let mut statuses = self.lock();
        let own = statuses.get_mut(self.index).filter(|own| own.is_good());
        let Some(own) = own else {
            return Ok(());
        };
        *own = StatusCode::UncertainLastUsableValue;
        let status = worst(&statuses).unwrap_or(StatusCode::UncertainLastUsableValue);
        cell.change_status(status)
            .map_err(|error| error.status_code())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<StatusCode>> {
        // A panic leaves no status half written, so the others stay in use.
        self.statuses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parts of all cells, to which those of further targets are added.
#[derive(Debug, Default)]
pub(crate) struct CellParts {
    /// One part of each cell. The cell stays with its address.
    known: HashMap<*const Cell, (Arc<Cell>, CellPart)>,
}

impl CellParts {
    /// Adds a part of a cell to those that are known.
    pub(super) fn join(&mut self, cell: &Arc<Cell>, part: &mut CellPart) {
        match self.known.get(&Arc::as_ptr(cell)) {
            Some((_, others)) => part.join(others),
            None => {
                let known = (Arc::clone(cell), part.clone());
                self.known.insert(Arc::as_ptr(cell), known);
            }
        }
    }
}

/// Returns the worst of the statuses of parts.
fn worst(statuses: &[StatusCode]) -> Option<StatusCode> {
    let order = |status: &&StatusCode| {
        (
            Reverse(status.is_bad()),
            status.is_good(),
            **status == StatusCode::Good,
        )
    };
    statuses.iter().min_by_key(order).copied()
}

/// Returns the last value of a cell, also if its status is Bad; empty if there is none.
fn last_value(cell: &Cell) -> Result<Variant, StatusCode> {
    let mut encoded = Vec::new();
    cell.encode_value(&mut Encoder::growing(&mut encoded, usize::MAX))
        .map_err(|error| error.status_code())?;
    Variant::decode(&mut Decoder::new(&encoded)).map_err(|error| error.status_code())
}
