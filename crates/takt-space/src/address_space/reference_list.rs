//! The references of one node in the order in which they were added: a plain list, or a list with an index if there are many.
//!
//! A position identifies a reference for a cursor. In a long list it stays the same as long as the reference exists. In a short
//! list it moves up when a reference before it is deleted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::reference::Reference;

/// Maximum number of references without an index.
const MAX_SHORT: usize = 64;
/// Number of references below which the index is removed.
const MIN_LONG: usize = 32;
/// Positions in one chunk of a long list.
const CHUNK: usize = 64;

/// References of one node. The size of a `Vec` while they are few.
#[derive(Debug, Clone)]
pub(crate) enum ReferenceList {
    Short(Vec<Reference>),
    Long(Box<LongList>),
}

/// Many references. A clone shares the chunks, so that a change while a reader uses the list copies one of them.
#[derive(Debug, Clone)]
pub(crate) struct LongList {
    /// Chunks in order, with the position of the first entry; chunks without references are left out.
    chunks: Vec<(usize, Arc<Chunk>)>,
    length: usize,
    /// The position of the next reference.
    end: usize,
    /// Index of the newest of the clones: only that one is changed and searched.
    index: Arc<Mutex<Index>>,
}

type Chunk = Vec<Option<Reference>>;

/// The positions of references by their hash.
#[derive(Debug, Default)]
struct Index {
    hasher: foldhash::fast::RandomState,
    positions: HashMap<u64, usize, foldhash::fast::RandomState>,
    /// Positions of references whose hash is not unique.
    collisions: Vec<usize>,
}

impl Default for ReferenceList {
    fn default() -> Self {
        Self::Short(Vec::new())
    }
}

impl From<Vec<Reference>> for ReferenceList {
    fn from(references: Vec<Reference>) -> Self {
        if references.len() > MAX_SHORT {
            Self::Long(Box::new(LongList::of(references)))
        } else {
            Self::Short(references)
        }
    }
}

impl ReferenceList {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Short(references) => references.len(),
            Self::Long(list) => list.length,
        }
    }

    /// Returns the position after the last reference.
    pub(crate) fn end(&self) -> usize {
        match self {
            Self::Short(references) => references.len(),
            Self::Long(list) => list.end,
        }
    }

    /// Returns true if positions stay the same when references before them are removed.
    pub(crate) fn is_long(&self) -> bool {
        matches!(self, Self::Long(_))
    }

    /// Returns the first reference at this position or after it, with its own position.
    pub(crate) fn at_or_after(&self, position: usize) -> Option<(usize, &Reference)> {
        match self {
            Self::Short(references) => references
                .get(position)
                .map(|reference| (position, reference)),
            Self::Long(list) => list.at_or_after(position),
        }
    }

    /// Returns the references from a position on.
    pub(crate) fn iter_from(&self, position: usize) -> impl Iterator<Item = &Reference> {
        let (short, long) = match self {
            Self::Short(references) => (references.get(position..), None),
            Self::Long(list) => (None, Some(list.iter_from(position))),
        };
        let short = short.unwrap_or_default().iter();
        short.chain(long.into_iter().flatten())
    }

    /// Returns the position of the reference.
    pub(crate) fn position(&self, reference: &Reference) -> Option<usize> {
        match self {
            Self::Short(references) => references.iter().position(|known| known == reference),
            Self::Long(list) => list.position(reference),
        }
    }

    pub(crate) fn push(&mut self, reference: Reference) {
        match self {
            Self::Short(references) if references.len() < MAX_SHORT => references.push(reference),
            Self::Short(references) => {
                let mut list = LongList::of(std::mem::take(references));
                list.push(reference);
                *self = Self::Long(Box::new(list));
            }
            Self::Long(list) => list.push(reference),
        }
    }

    /// Removes a reference. Returns its position.
    pub(crate) fn remove(&mut self, reference: &Reference) -> Option<usize> {
        let position = self.position(reference)?;
        match self {
            Self::Short(references) => {
                references.remove(position);
            }
            Self::Long(list) => {
                list.remove(position);
                // Well below MAX_SHORT, so that a list at the limit is not converted back and forth.
                if list.length < MIN_LONG {
                    *self = Self::Short(list.iter_from(0).cloned().collect());
                }
            }
        }
        Some(position)
    }
}

impl LongList {
    fn of(references: Vec<Reference>) -> Self {
        let mut list = Self {
            chunks: Vec::new(),
            length: 0,
            end: 0,
            index: Arc::default(),
        };
        for reference in references {
            list.push(reference);
        }
        list
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the chunk with this position, or the index where it would be inserted.
    fn chunk(&self, position: usize) -> Result<usize, usize> {
        let first = position - position % CHUNK;
        self.chunks
            .binary_search_by_key(&first, |(first, _)| *first)
    }

    fn get(&self, position: usize) -> Option<&Reference> {
        let (_, chunk) = self.chunks.get(self.chunk(position).ok()?)?;
        chunk.get(position % CHUNK)?.as_ref()
    }

    fn at_or_after(&self, position: usize) -> Option<(usize, &Reference)> {
        let (at, mut offset) = match self.chunk(position) {
            Ok(at) => (at, position % CHUNK),
            Err(at) => (at, 0),
        };
        for (first, chunk) in self.chunks.get(at..)? {
            let entries = chunk.iter().enumerate().skip(offset);
            for (number, entry) in entries {
                if let Some(reference) = entry {
                    return Some((first + number, reference));
                }
            }
            offset = 0;
        }
        None
    }

    fn iter_from(&self, position: usize) -> impl Iterator<Item = &Reference> {
        let (at, offset) = match self.chunk(position) {
            Ok(at) => (at, position % CHUNK),
            Err(at) => (at, 0),
        };
        let chunks = self.chunks.get(at..).unwrap_or_default();
        chunks
            .iter()
            .flat_map(|(_, chunk)| chunk.iter())
            .skip(offset)
            .flatten()
    }

    fn position(&self, reference: &Reference) -> Option<usize> {
        let index = self.index();
        // Another reference can have the same hash.
        let is_there = |position: &usize| self.get(*position) == Some(reference);
        let hash = index.hash(reference);
        let found = index.positions.get(&hash).copied().filter(is_there);
        found.or_else(|| index.collisions.iter().copied().find(is_there))
    }

    fn push(&mut self, reference: Reference) {
        let position = self.end;
        self.index().insert(&reference, position);
        match self.chunks.last_mut() {
            Some((first, chunk)) if *first == position - position % CHUNK => {
                let chunk = Arc::make_mut(chunk);
                // Entries at the end may have been removed with their references.
                chunk.resize(position % CHUNK, None);
                chunk.push(Some(reference));
            }
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.resize(position % CHUNK, None);
                chunk.push(Some(reference));
                self.chunks
                    .push((position - position % CHUNK, Arc::new(chunk)));
            }
        }
        self.length += 1;
        self.end += 1;
    }

    fn remove(&mut self, position: usize) {
        let Ok(at) = self.chunk(position) else {
            return;
        };
        let Some((_, chunk)) = self.chunks.get_mut(at) else {
            return;
        };
        let chunk = Arc::make_mut(chunk);
        let Some(reference) = chunk.get_mut(position % CHUNK).and_then(Option::take) else {
            return;
        };
        // This gives back memory, and changes no position.
        if chunk.iter().all(Option::is_none) {
            self.chunks.remove(at);
        }
        self.length -= 1;
        self.index().remove(&reference, position);
    }
}

impl Index {
    fn hash(&self, reference: &Reference) -> u64 {
        self.hasher.hash_one((
            reference.reference_type,
            reference.is_forward,
            reference.target.node_id(),
        ))
    }

    fn insert(&mut self, reference: &Reference, position: usize) {
        let hash = self.hash(reference);
        match self.positions.entry(hash) {
            Entry::Vacant(entry) => {
                entry.insert(position);
            }
            Entry::Occupied(_) => self.collisions.push(position),
        }
    }

    fn remove(&mut self, reference: &Reference, position: usize) {
        let hash = self.hash(reference);
        if self.positions.get(&hash) == Some(&position) {
            self.positions.remove(&hash);
        } else {
            self.collisions.retain(|known| *known != position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::{ReferenceTypes, Target};
    use super::*;
    use takt_ua::{NodeId, NodeIdRef};

    fn references(count: u32) -> Vec<Reference> {
        let reference_type = ReferenceTypes::new().index(NodeIdRef::from(35)).unwrap();
        let targets = (0..count).map(|number| Target::Local(NodeId::numeric(1, number)));
        targets
            .map(|target| Reference {
                reference_type,
                is_forward: true,
                target,
            })
            .collect()
    }

    fn contents(list: &ReferenceList) -> Vec<Reference> {
        list.iter_from(0).cloned().collect()
    }

    #[test]
    fn a_few_references_take_no_more_memory_than_a_list() {
        assert_eq!(size_of::<ReferenceList>(), size_of::<Vec<Reference>>());
    }

    #[test]
    fn short_and_long_lists_do_the_same_as_a_plain_one() {
        let all = references(500);
        let (mut list, mut plain) = (ReferenceList::default(), Vec::new());
        let mut state = 1_u64;
        for round in 0..4_000_usize {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let reference = &all[(state >> 40) as usize % all.len()];
            // The list grows for a while, then it shrinks.
            let adds = (state >> 33) % 4 < if round / 1_000 % 2 == 0 { 3 } else { 1 };
            let known = plain.iter().position(|known| known == reference);
            assert_eq!(list.position(reference).is_some(), known.is_some());
            match (adds, known) {
                (true, None) => {
                    list.push(reference.clone());
                    plain.push(reference.clone());
                }
                (false, Some(at)) => {
                    assert!(list.remove(reference).is_some());
                    plain.remove(at);
                }
                (false, None) => assert!(list.remove(reference).is_none()),
                (true, Some(_)) => {}
            }
            assert_eq!(list.len(), plain.len());
            if round % 50 == 0 {
                assert_eq!(contents(&list), plain);
                let mut position = 0;
                for reference in &plain {
                    let (at, found) = list.at_or_after(position).unwrap();
                    assert_eq!((found, list.position(found)), (reference, Some(at)));
                    position = at + 1;
                }
                assert!(list.at_or_after(position).is_none());
                assert!(position <= list.end());
            }
        }
    }

    #[test]
    fn a_reader_keeps_its_snapshot() {
        let all = references(1_000);
        let list = ReferenceList::from(all.clone());
        let mut changed = list.clone();
        for reference in all.iter().step_by(3) {
            assert!(changed.remove(reference).is_some());
        }
        changed.push(all[0].clone());
        assert_eq!(contents(&list), all);
        assert_eq!(changed.len(), 1_000 - 334 + 1);
    }

    #[test]
    fn positions_in_a_long_list_stay() {
        let all = references(300);
        let mut list = ReferenceList::from(all.clone());
        for reference in &all[..200] {
            assert!(list.remove(reference).is_some());
        }
        assert_eq!(list.position(&all[250]), Some(250));
        assert_eq!(list.at_or_after(10).unwrap().0, 200);
        assert_eq!(list.iter_from(299).count(), 1);
        assert_eq!(list.end(), 300);
    }
}
