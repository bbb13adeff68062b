//! Trust lists that clients have open (OPC 10000-20, 4.2).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use takt_rt::memory_budget::Charge;
use takt_ua::{NodeId, StatusCode};

use super::contents::MAX_TRUST_LIST;

/// Files that a Session may have open at once.
const MAX_PER_SESSION: usize = 4;

/// Files that may be open at once.
const MAX_FILES: usize = 32;

/// Time without a call after which a file is closed (ActivityTimeout, OPC 10000-12, 7.8.2.1).
const IDLE: Duration = Duration::from_secs(60);

/// An open trust list.
pub(super) struct OpenFile {
    session: NodeId,
    bytes: Vec<u8>,
    position: usize,
    is_written: bool,
    used: Instant,
    charge: Charge,
}

/// The open files by their handles.
#[derive(Default)]
pub(super) struct OpenFiles {
    files: BTreeMap<u32, OpenFile>,
    last_handle: u32,
}

impl OpenFiles {
    /// Closes the files of Sessions that are gone, and those that nobody uses.
    pub(super) fn retain(&mut self, is_open: impl Fn(&NodeId) -> bool) {
        self.files
            .retain(|_, file| file.used.elapsed() < IDLE && is_open(&file.session));
    }

    pub(super) fn count(&self) -> u16 {
        u16::try_from(self.files.len()).unwrap_or(u16::MAX)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Checks that a file can be opened for reading, or for writing.
    pub(super) fn check(&self, session: &NodeId, for_writing: bool) -> Result<(), StatusCode> {
        let mut files = self.files.values();
        if for_writing && !self.files.is_empty() {
            return Err(StatusCode::BadNotWritable);
        }
        if files.any(|file| file.is_written) {
            return Err(StatusCode::BadNotReadable);
        }
        let own = self.files.values().filter(|file| file.session == *session);
        if self.files.len() >= MAX_FILES || own.count() >= MAX_PER_SESSION {
            return Err(StatusCode::BadResourceUnavailable);
        }
        Ok(())
    }

    /// Adds a file and returns its handle. `bytes` is its content, `charge` the memory of it.
    pub(super) fn add(
        &mut self,
        session: &NodeId,
        bytes: Vec<u8>,
        is_written: bool,
        charge: Charge,
    ) -> u32 {
        self.last_handle = self.last_handle.checked_add(1).unwrap_or(1);
        let file = OpenFile {
            session: session.clone(),
            bytes,
            position: 0,
            is_written,
            used: Instant::now(),
            charge,
        };
        self.files.insert(self.last_handle, file);
        self.last_handle
    }

    /// Returns a file of a Session.
    pub(super) fn get(
        &mut self,
        session: &NodeId,
        handle: u32,
    ) -> Result<&mut OpenFile, StatusCode> {
        let file = self.files.get_mut(&handle);
        let file = file.filter(|file| file.session == *session);
        let file = file.ok_or(StatusCode::BadInvalidArgument)?;
        file.used = Instant::now();
        Ok(file)
    }

    /// Closes a file of a Session, and returns what was written to it; `None` if it was open for reading.
    pub(super) fn close(
        &mut self,
        session: &NodeId,
        handle: u32,
    ) -> Result<Option<Vec<u8>>, StatusCode> {
        // A Session closes only what it has opened.
        self.get(session, handle)?;
        let file = self.files.remove(&handle);
        Ok(file.filter(|file| file.is_written).map(|file| file.bytes))
    }
}

impl OpenFile {
    pub(super) fn is_written(&self) -> bool {
        self.is_written
    }

    pub(super) fn position(&self) -> u64 {
        u64::try_from(self.position).unwrap_or(u64::MAX)
    }

    /// Sets the position; one behind the end is the end (OPC 10000-20, 4.2.8).
    pub(super) fn set_position(&mut self, position: u64) {
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        self.position = position.min(self.bytes.len());
    }

    /// Reads at most `length` bytes; none at the end.
    pub(super) fn read(&mut self, length: i32) -> Result<&[u8], StatusCode> {
        if self.is_written {
            return Err(StatusCode::BadInvalidState);
        }
        let length = usize::try_from(length).map_err(|_| StatusCode::BadInvalidArgument)?;
        let start = self.position;
        self.position = start.saturating_add(length).min(self.bytes.len());
        Ok(self.bytes.get(start..self.position).unwrap_or_default())
    }

    /// Writes at the position.
    pub(super) fn write(&mut self, data: &[u8]) -> Result<(), StatusCode> {
        if !self.is_written {
            return Err(StatusCode::BadInvalidState);
        }
        let end = self.position.saturating_add(data.len());
        if end > MAX_TRUST_LIST {
            return Err(StatusCode::BadRequestTooLarge);
        }
        let length = end.max(self.bytes.len());
        // Charged first, so that a refused write changes nothing.
        self.charge
            .resize(length)
            .map_err(|_| StatusCode::BadOutOfMemory)?;
        self.bytes.resize(length, 0);
        if let Some(place) = self.bytes.get_mut(self.position..end) {
            place.copy_from_slice(data);
        }
        self.position = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use takt_rt::memory_budget::MemoryBudget;

    use super::*;

    #[test]
    fn files_belong_to_their_sessions_and_are_limited() {
        let memory = MemoryBudget::new(MAX_TRUST_LIST);
        let mut files = OpenFiles::default();
        let sessions = [1, 2].map(|number: u32| NodeId::numeric(1, number));
        let [own, other] = &sessions;
        for _ in 0..MAX_PER_SESSION {
            files.check(own, false).unwrap();
            files.add(own, b"content".to_vec(), false, memory.empty_charge());
        }
        let busy = Err(StatusCode::BadResourceUnavailable);
        assert_eq!(files.check(own, false), busy);
        assert_eq!(files.check(other, false), Ok(()));
        assert_eq!(files.check(other, true), Err(StatusCode::BadNotWritable));
        let denied = files.get(other, 1).map(drop);
        assert_eq!(denied, Err(StatusCode::BadInvalidArgument));
        let file = files.get(own, 1).unwrap();
        assert_eq!(file.read(4), Ok(&b"cont"[..]));
        assert_eq!(file.read(400), Ok(&b"ent"[..]));
        assert_eq!(file.read(1), Ok(&b""[..]));
        file.set_position(u64::MAX);
        assert_eq!(file.position(), 7);
        assert_eq!(file.read(-1), Err(StatusCode::BadInvalidArgument));
        assert_eq!(file.write(b"x"), Err(StatusCode::BadInvalidState));
        files.retain(|session| session == other);
        assert!(files.is_empty());
        let handle = files.add(other, Vec::new(), true, memory.empty_charge());
        assert_eq!(files.check(own, false), Err(StatusCode::BadNotReadable));
        let file = files.get(other, handle).unwrap();
        file.write(b"abc").unwrap();
        file.set_position(1);
        file.write(b"xyz").unwrap();
        let large = vec![0; MAX_TRUST_LIST];
        assert_eq!(file.write(&large), Err(StatusCode::BadRequestTooLarge));
        assert_eq!(memory.used(), 4);
        assert_eq!(files.close(other, handle), Ok(Some(b"axyz".to_vec())));
        assert_eq!(memory.used(), 0);
    }
}
