//! Memory shared between processes: anonymous files (`memfd_create`) whose seals guarantee their size to every
//! process that maps them.
//!
//! * A segment has no name in the file system: the memory is freed with the last process that has it, however that
//!   process ends. It is only reachable through a passed descriptor (`SCM_RIGHTS`), across containers too.
//! * Its size is fixed (`F_SEAL_SHRINK`, `F_SEAL_GROW`) and it is in the kernel's tmpfs, so that touching it can
//!   never raise SIGBUS. Pages are allocated when they are first written or read: [`allocated_length`] returns the
//!   allocated part.
//! * One process writes: a [`Segment`] is mapped writable by its creator only (`F_SEAL_FUTURE_WRITE`), others read it
//!   as a [`SegmentView`]. Only the segments of [`Segment::create_for_all`] can be written by every process with the
//!   descriptor.

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

#[cfg(miri)]
use emulated::{fs, mm};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;
use rustix::time::Timespec;
#[cfg(not(miri))]
use rustix::{fs, mm};

use crate::shared_bytes::SharedBytes;

#[cfg(miri)]
mod emulated;

/// Returns the size of a page in bytes, of which lengths and offsets of mappings are multiples: 4096 on x86-64, up to
/// 65536 elsewhere.
#[must_use]
pub fn page_size() -> usize {
    rustix::param::page_size()
}

/// A mapped piece of a file, unmapped when dropped.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: it owns the mapping, which belongs to the process, not to a thread: any thread may use and unmap it.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference only returns atomics, which threads may share. The caller of `Segment::exclusive`
// guarantees the rest.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(fd: BorrowedFd<'_>, length: usize, writable: bool) -> io::Result<Self> {
        let protection = if writable {
            ProtFlags::READ | ProtFlags::WRITE
        } else {
            ProtFlags::READ
        };
        // SAFETY: without a given address the kernel chooses an unused one.
        let start = unsafe {
            mm::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                MapFlags::SHARED,
                fd,
                0,
            )?
        };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: mapped for the life of `self`, page-aligned, and memory of the kernel has no uninitialised bytes.
        // Other processes may write it at any time, which atomics allow. `SegmentView` makes sure that read-only
        // mappings are only loaded from.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.length / 8) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length; all borrows of it are borrows of `self`, and have ended.
        let unmapped = unsafe { mm::munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Shared memory that this process created and writes.
#[derive(Debug)]
pub struct Segment {
    fd: OwnedFd,
    mapping: Mapping,
}

impl Segment {
    /// Creates a segment of `length` bytes, rounded up to pages, all zero, that no other process can write. `name` is
    /// shown in `/proc/PID/maps`.
    ///
    /// # Errors
    /// The system's error: too many descriptors, or no space in the address space.
    pub fn create(name: &str, length: usize) -> io::Result<Self> {
        // The own mapping exists before the seal is set, and stays writable.
        Self::sealed(name, length, SealFlags::FUTURE_WRITE | SealFlags::SEAL)
    }

    /// Creates a segment that every process with the descriptor may write.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn create_for_all(name: &str, length: usize) -> io::Result<Self> {
        Self::sealed(name, length, SealFlags::SEAL)
    }

    fn sealed(name: &str, length: usize, seals: SealFlags) -> io::Result<Self> {
        let length = length
            .max(1)
            .checked_next_multiple_of(page_size())
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let fd = fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        fs::ftruncate(&fd, length as u64)?;
        let mapping = Mapping::new(fd.as_fd(), length, true)?;
        fs::fcntl_add_seals(&fd, SIZE_SEALS | seals)?;
        Ok(Self { fd, mapping })
    }

    /// Maps a segment that [`create_for_all`](Self::create_for_all) made in another process.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if its size can change or is above `max_length`; others if the system refuses.
    pub fn open_for_all(fd: OwnedFd, max_length: usize) -> io::Result<Self> {
        let length = checked_length(&fd, max_length, SIZE_SEALS)?;
        let mapping = Mapping::new(fd.as_fd(), length, true)?;
        Ok(Self { fd, mapping })
    }

    /// Returns the descriptor to pass on.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Returns the memory.
    #[must_use]
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        self.mapping.words()
    }

    /// Wakes all threads that [wait](SegmentView::wait) for the word at `index`, in this process or another.
    pub fn wake(&self, index: usize) {
        if let Some(half) = self.words().get(index).map(lower_half) {
            // It cannot fail for a word of this segment.
            let _ = futex::wake(half, futex::Flags::empty(), u32::MAX >> 1);
        }
    }

    /// Returns the size in bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.mapping.length
    }

    /// Returns `false`, because there is at least one page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mapping.length == 0
    }

    /// Returns a part of the memory as an exclusive slice, for example for an encoder; `None` if it is outside.
    ///
    /// # Safety
    /// No other code in this process uses these bytes while the slice exists, and other processes cannot write them:
    /// the segment was created by [`create`](Self::create). (Other processes have to handle reading bytes that are
    /// being written.)
    #[must_use]
    #[allow(clippy::mut_from_ref, reason = "exclusive by the caller's promise")]
    pub unsafe fn exclusive(&self, range: Range<usize>) -> Option<&mut [MaybeUninit<u8>]> {
        if range.start > range.end || range.end > self.mapping.length {
            return None;
        }
        // SAFETY: inside the mapping, which lives as long as `self`; exclusive by the caller's contract.
        Some(unsafe {
            let start = self.mapping.start.as_ptr().add(range.start);
            std::slice::from_raw_parts_mut(start.cast(), range.end - range.start)
        })
    }
}

/// Shared memory that another process created, for reading.
#[derive(Debug)]
pub struct SegmentView {
    mapping: Mapping,
}

impl SegmentView {
    /// Maps the memory behind a descriptor that a peer has passed.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if its size or its pages can change or it is larger than `max_length`; others
    /// if the system refuses.
    pub fn open(fd: &OwnedFd, max_length: usize) -> io::Result<Self> {
        // With this seal no process can remove pages of it (FALLOC_FL_PUNCH_HOLE) either.
        let seals = SIZE_SEALS | SealFlags::FUTURE_WRITE;
        let length = checked_length(fd, max_length, seals)?;
        let mapping = Mapping::new(fd.as_fd(), length, false)?;
        Ok(Self { mapping })
    }

    /// Returns the size in bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.mapping.length
    }

    /// Returns `false`, because empty memory is not mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mapping.length == 0
    }

    /// Returns all bytes.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> SharedBytes<'_> {
        SharedBytes::of_words(self.mapping.words())
    }

    /// Returns the memory as words.
    ///
    /// # Safety
    /// The words may only be loaded, with relaxed ordering; later accesses are ordered by a fence. For read-only
    /// memory std guarantees no other access (`std::sync::atomic`, "Atomic accesses to read-only memory"), and a
    /// store ends the process.
    #[must_use]
    #[inline]
    pub unsafe fn words(&self) -> &[AtomicU64] {
        self.mapping.words()
    }

    /// Sleeps until the creator of the memory [wakes](Segment::wake) this thread, if the lower half of the word at
    /// `index` still has the value `seen` (futex, FUTEX_WAIT); or until the time is over, or a signal arrives. It
    /// does not return the reason: check the word again.
    pub fn wait(&self, index: usize, seen: u32, timeout: Duration) {
        let timeout = Timespec::try_from(timeout).ok();
        if let Some(half) = self.mapping.words().get(index).map(lower_half) {
            let _ = futex::wait(half, futex::Flags::empty(), seen, timeout.as_ref());
        }
    }

    /// Loads the word at `offset`, a multiple of 8, with acquire ordering; `None` outside.
    //
    // A fence is used, because std guarantees only relaxed loads for read-only memory.
    #[must_use]
    #[inline]
    pub fn load(&self, offset: usize) -> Option<u64> {
        if !offset.is_multiple_of(8) {
            return None;
        }
        let value = self
            .mapping
            .words()
            .get(offset / 8)?
            .load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        Some(value)
    }
}

/// Returns the lower half of a word, which is the futex.
fn lower_half(word: &AtomicU64) -> &AtomicU32 {
    let halves: *const AtomicU32 = std::ptr::from_ref(word).cast();
    let lower = if cfg!(target_endian = "little") { 0 } else { 1 };
    // SAFETY: within the word, aligned, and alive as long as it. The reference only passes the address to the kernel:
    // nothing in this process loads or stores by it, because atomics of different sizes must not race; the kernel's
    // load is like that of another program.
    unsafe { &*halves.add(lower) }
}

const SIZE_SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// Returns the number of bytes of a segment, from its start, that are allocated. Reading further ones would allocate
/// memory, which the system would charge to the control group of the reading process.
///
/// For memory that a [`SegmentView`] accepts, it never decreases.
///
/// # Errors
/// An error if the descriptor is not a segment.
pub fn allocated_length(fd: &OwnedFd) -> io::Result<usize> {
    #[cfg(not(miri))]
    let length = fs::seek(fd, fs::SeekFrom::Hole(0))?;
    #[cfg(miri)]
    let length = fs::fstat(fd)?.st_size;
    usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Appends `length` bytes of a segment, from `offset` on, to `bytes`, without mapping them: reading touches only the
/// pages of `bytes` in this process, and nothing has to be unmapped.
///
/// # Errors
/// An error if the segment ends before, or the descriptor is not a segment. A part of the bytes may be appended then.
pub fn read(fd: &OwnedFd, offset: usize, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.reserve(length);
    let mut left = length;
    while left > 0 {
        let at = u64::try_from(offset + length - left).map_err(io::Error::other)?;
        let room = bytes.spare_capacity_mut();
        let room = room.get_mut(..left).unwrap_or_default();
        let read = match rustix::io::pread(fd, room, at) {
            Ok((read, _)) => read.len(),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the kernel has written `read` bytes behind the others, inside the capacity.
        unsafe { bytes.set_len(bytes.len() + read) };
        left -= read;
    }
    Ok(())
}

/// Returns whether a file is in a tmpfs, as all files of `memfd_create` without huge pages are. Huge pages can be
/// missing when they are touched, which ends the process with SIGBUS.
fn is_in_tmpfs(fd: &OwnedFd) -> io::Result<bool> {
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    #[cfg(not(miri))]
    return Ok(fs::fstatfs(fd)?.f_type as u64 == TMPFS_MAGIC);
    #[cfg(miri)]
    return Ok(fs::fstat(fd).is_ok() && TMPFS_MAGIC > 0);
}

/// Returns the size of a segment if its seals guarantee it: a file that its owner can shorten could end this process
/// with SIGBUS.
fn checked_length(fd: &OwnedFd, max_length: usize, sealed: SealFlags) -> io::Result<usize> {
    let invalid = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    if !is_in_tmpfs(fd)? {
        return invalid("the peer's memory is a file of another kind");
    }
    // Files other than memfds have no seals, and return an error.
    match fs::fcntl_get_seals(fd) {
        Ok(seals) if seals.contains(sealed) => {}
        _ => return invalid("the peer's memory is not sealed"),
    }
    match usize::try_from(fs::fstat(fd)?.st_size) {
        Ok(length) if length > 0 && length <= max_length && length.is_multiple_of(8) => Ok(length),
        _ => invalid("the peer's memory does not have the agreed size"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    fn copy_of(segment: &Segment) -> OwnedFd {
        segment.fd().try_clone_to_owned().unwrap()
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "the kernel loads half of a word; Miri takes that for a load of this process"
    )]
    fn a_reader_sleeps_until_it_is_woken() {
        use std::time::{Duration, Instant};
        const WORD: usize = 3;
        const LONG: Duration = Duration::from_secs(20);
        let segment = Segment::create("takt-test", 100).unwrap();
        let fd = segment.fd().try_clone_to_owned().unwrap();
        let view = SegmentView::open(&fd, 1 << 20).unwrap();
        // The value differs from the seen one: there is nothing to wait for.
        view.wait(WORD, 1, LONG);
        let before = Instant::now();
        view.wait(WORD, 0, Duration::from_millis(20));
        assert!(before.elapsed() >= Duration::from_millis(20));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while view.load(8 * WORD) == Some(0) {
                    view.wait(WORD, 0, LONG);
                }
            });
            std::thread::sleep(Duration::from_millis(20));
            segment.words()[WORD].store(1, Ordering::Release);
            segment.wake(WORD);
        });
        assert!(before.elapsed() < LONG);
    }

    #[test]
    fn one_process_writes_and_others_read() {
        let segment = Segment::create("takt-test", 5000).unwrap();
        assert_eq!(segment.len(), 5000_usize.next_multiple_of(page_size()));
        let view = SegmentView::open(&copy_of(&segment), 1 << 20).unwrap();
        assert_eq!(view.load(8), Some(0));
        segment.words()[1].store(7, Ordering::Release);
        assert_eq!(view.load(8), Some(7));
        assert_eq!((view.load(4), view.load(segment.len())), (None, None));
        assert_eq!(view.bytes().len(), segment.len());
        // No other process can map it writable, not even with the descriptor.
        assert!(Segment::open_for_all(copy_of(&segment), 1 << 20).is_err());
    }

    #[test]
    fn shared_writable_memory_is_written_by_all() {
        let segment = Segment::create_for_all("takt-test", 1).unwrap();
        let other = Segment::open_for_all(copy_of(&segment), 1 << 20).unwrap();
        other.words()[0].fetch_or(4, Ordering::Relaxed);
        assert_eq!(segment.words()[0].load(Ordering::Relaxed), 4);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no memfd_create")]
    fn memory_that_could_shrink_is_refused() {
        let open = |fd: &OwnedFd| SegmentView::open(fd, 1 << 20).map_err(|error| error.kind());
        let refused = Err(io::ErrorKind::InvalidData);
        let loose = rustix::fs::memfd_create("takt-test", MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&loose, 4096).unwrap();
        assert_eq!(open(&loose).map(drop), refused);
        let file: OwnedFd = tempfile::tempfile().unwrap().into();
        assert_eq!(open(&file).map(drop), refused);
        let large = Segment::create("takt-test", 2 << 20).unwrap();
        assert_eq!(open(&copy_of(&large)).map(drop), refused);
        let error = rustix::fs::ftruncate(large.fd(), 0).unwrap_err();
        assert_eq!(error, rustix::io::Errno::PERM);
    }

    /// Huge pages can be removed, or be missing, regardless of seals: touching them ends the process.
    #[test]
    #[cfg(not(miri))]
    fn huge_pages_and_memory_whose_pages_can_be_taken_away_are_refused() {
        let flags = MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
        // Nothing is reserved before it is mapped, so this also works on hosts without huge pages.
        let huge = rustix::fs::memfd_create("takt-test", flags).unwrap();
        rustix::fs::ftruncate(&huge, 2 << 20).unwrap();
        let seals = SIZE_SEALS | SealFlags::FUTURE_WRITE;
        rustix::fs::fcntl_add_seals(&huge, seals).unwrap();
        let error = SegmentView::open(&huge, 2 << 20).unwrap_err();
        assert!(error.to_string().contains("another kind"), "{error}");
        let error = Segment::open_for_all(huge, 2 << 20).unwrap_err();
        assert!(error.to_string().contains("another kind"), "{error}");

        let for_all = Segment::create_for_all("takt-test", 8192).unwrap();
        assert!(SegmentView::open(&copy_of(&for_all), 8192).is_err());
        let ours = Segment::create("takt-test", 8192).unwrap();
        let punch = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
        let error = rustix::fs::fallocate(ours.fd(), punch, 0, 4096).unwrap_err();
        assert_eq!(error, rustix::io::Errno::PERM);
    }

    #[test]
    #[cfg(not(miri))]
    fn memory_that_was_not_written_is_not_counted() {
        let page = page_size();
        let segment = Segment::create("takt-test", 8 * page).unwrap();
        let fd = copy_of(&segment);
        assert_eq!(allocated_length(&fd).unwrap(), 0);
        for at in [0, page, 3 * page] {
            segment.words()[at / 8].store(1, Ordering::Relaxed);
        }
        assert_eq!(allocated_length(&fd).unwrap(), 2 * page);
        segment.words()[2 * page / 8].store(1, Ordering::Relaxed);
        assert_eq!(allocated_length(&fd).unwrap(), 4 * page);
    }

    #[test]
    #[cfg_attr(miri, ignore = "the memory of a file is on the heap there")]
    fn bytes_are_read_without_a_mapping() {
        let segment = Segment::create("takt-test", 2 * page_size()).unwrap();
        let (fd, length) = (copy_of(&segment), segment.len());
        segment.words()[1].store(u64::from_ne_bytes(*b"8 to 16."), Ordering::Relaxed);
        let mut bytes = b"before ".to_vec();
        read(&fd, 9, 4, &mut bytes).unwrap();
        assert_eq!(bytes, b"before  to ");
        read(&fd, 0, length, &mut bytes).unwrap();
        assert_eq!(bytes.len(), 11 + length);
        // What was never written is zero, and takes no memory.
        assert_eq!(allocated_length(&fd).unwrap(), page_size());
        let error = read(&fd, length - 1, 2, &mut bytes).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn exclusive_pieces_are_inside() {
        let segment = Segment::create("takt-test", 100).unwrap();
        // SAFETY: one at a time.
        let piece = unsafe { segment.exclusive(8..16) }.unwrap();
        piece.fill(MaybeUninit::new(1));
        assert_eq!(
            segment.words()[1].load(Ordering::Relaxed),
            0x0101_0101_0101_0101
        );
        let end = segment.len();
        // SAFETY: there are none.
        assert!(unsafe { segment.exclusive(0..end + 1) }.is_none());
        assert!(segment.fd().as_fd().try_clone_to_owned().is_ok());
    }
}
