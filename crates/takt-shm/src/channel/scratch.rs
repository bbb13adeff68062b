//! Memory to which the server copies each request, where its client cannot write.

use takt_rt::memory_budget::{BudgetExhausted, Charge, MemoryBudget};
use takt_rt::shared_bytes::SharedBytes;

/// Number of bytes that are kept for the next request, even after a pause.
const KEPT: usize = 256 << 10;

/// Scratch memory; see the [module](self).
#[derive(Debug)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    charge: Charge,
}

impl Scratch {
    pub(crate) fn new(memory: &MemoryBudget) -> Self {
        Self {
            bytes: Vec::new(),
            charge: memory.empty_charge(),
        }
    }

    /// Returns the last copied bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    pub(crate) fn copy(&mut self, body: SharedBytes<'_>) -> Result<(), BudgetExhausted> {
        self.make_room(body.len())?;
        body.copy_into(&mut self.bytes);
        Ok(())
    }

    /// Makes room for a copy of `length` bytes that is made in [slices](Self::vec).
    pub(crate) fn begin(&mut self, length: usize) -> Result<(), BudgetExhausted> {
        self.make_room(length)?;
        self.bytes.clear();
        Ok(())
    }

    /// Returns the copy that was [begun](Self::begin). No more than its length is to be added. It may be taken: see
    /// [`recount`](Self::recount).
    pub(crate) fn vec(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Charges the memory that is left after the copy, which may have been taken.
    pub(crate) fn recount(&mut self) {
        self.charge.force(self.bytes.capacity());
    }

    /// Copies bytes that no process can write any more.
    #[cfg(any(test, feature = "iceoryx2"))]
    pub(crate) fn copy_slice(&mut self, body: &[u8]) -> Result<(), BudgetExhausted> {
        self.make_room(body.len())?;
        self.bytes.clear();
        self.bytes.extend_from_slice(body);
        Ok(())
    }

    /// Returns true if a large request took more memory than is kept.
    pub(crate) fn is_large(&self) -> bool {
        self.bytes.capacity() > KEPT
    }

    /// Returns the number of bytes of memory.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Gives back at most `slice` bytes of the memory of a large request. Returns true if there is more.
    pub(crate) fn trim_slice(&mut self, slice: usize) -> bool {
        let capacity = self.bytes.capacity();
        if capacity <= slice {
            self.free();
            return false;
        }
        self.bytes.clear();
        self.bytes.shrink_to(capacity - slice);
        self.charge.force(self.bytes.capacity());
        true
    }

    /// Gives back the memory of a large request.
    pub(crate) fn trim(&mut self) {
        if self.is_large() {
            self.free();
        }
    }

    fn free(&mut self) {
        self.bytes = Vec::new();
        self.charge.force(0);
    }

    #[inline]
    fn make_room(&mut self, length: usize) -> Result<(), BudgetExhausted> {
        match length > self.bytes.capacity() {
            true => self.grow(length),
            false => Ok(()),
        }
    }

    #[cold]
    fn grow(&mut self, length: usize) -> Result<(), BudgetExhausted> {
        self.bytes.clear();
        // Small copies grow in steps; for large ones only the needed memory is taken.
        let capacity = match length {
            0..=KEPT => length.next_power_of_two(),
            _ => length,
        };
        if let Err(exhausted) = self.charge.resize(capacity) {
            self.free();
            return Err(exhausted);
        }
        // Pages that it has are moved: freeing them takes longer. The process may have less memory than its budget, under a limit
        // of address space: the request is refused then, and the process goes on.
        if self.bytes.try_reserve_exact(capacity).is_err() {
            self.free();
            let limit = self.charge.budget().limit();
            return Err(BudgetExhausted { limit });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_the_process_cannot_have_is_refused() {
        let memory = MemoryBudget::unlimited();
        let mut scratch = Scratch::new(&memory);
        scratch.copy_slice(&vec![1; 900_000]).unwrap();
        // More than any allocation may have.
        assert!(scratch.begin(1 << 63).is_err());
        assert_eq!((scratch.capacity(), memory.used()), (0, 0));
        scratch.copy_slice(b"short").unwrap();
        assert_eq!(scratch.bytes(), b"short");
    }

    #[test]
    fn memory_is_given_back_in_slices() {
        let memory = MemoryBudget::new(10 << 20);
        let mut scratch = Scratch::new(&memory);
        scratch.copy_slice(&vec![1; 8 << 20]).unwrap();
        let mut used = memory.used();
        assert_eq!(used, 8 << 20);
        let mut slices = 1;
        while scratch.trim_slice(1 << 20) {
            assert_eq!(used - memory.used(), 1 << 20);
            used = memory.used();
            slices += 1;
        }
        assert_eq!((slices, memory.used()), (8, 0));
    }

    #[test]
    fn a_copy_that_is_taken_is_not_charged() {
        let memory = MemoryBudget::new(1 << 20);
        let mut scratch = Scratch::new(&memory);
        scratch.copy_slice(&vec![1; 900_000]).unwrap();
        assert_eq!(std::mem::take(scratch.vec()).len(), 900_000);
        scratch.recount();
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn copies_are_charged_and_large_ones_given_back() {
        let memory = MemoryBudget::new(1 << 20);
        let mut scratch = Scratch::new(&memory);
        scratch.copy_slice(b"short").unwrap();
        assert_eq!((scratch.bytes(), memory.used()), (&b"short"[..], 8));
        scratch.copy_slice(&vec![1; 900_000]).unwrap();
        assert_eq!(memory.used(), 900_000);
        assert!(scratch.copy_slice(&vec![1; 1_100_000]).is_err());
        assert_eq!((scratch.bytes().len(), memory.used()), (0, 0));
        scratch.copy_slice(&vec![1; 900_000]).unwrap();
        scratch.trim();
        assert_eq!(memory.used(), 0);
    }
}
