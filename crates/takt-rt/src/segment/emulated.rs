//! The system calls of [segments](super) under Miri, which has neither `memfd_create` nor mappings of files: a
//! deleted file stands for the memory, and its pages are on the heap.
//!
//! All mappings of one file are one allocation. So Miri detects data races that no tool detects between two
//! processes.

use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::SealFlags;

/// Emulated file.
struct Memory {
    inode: u64,
    words: &'static [AtomicU64],
    seals: SealFlags,
}

/// All files, which are never removed because they may be mapped.
static FILES: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

fn files() -> MutexGuard<'static, Vec<Memory>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `use_it` with the newest memory of that inode.
fn with<R>(inode: u64, use_it: impl FnOnce(&mut Memory) -> R) -> io::Result<R> {
    let mut files = files();
    let found = files.iter_mut().rev().find(|file| file.inode == inode);
    found.map(use_it).ok_or(io::ErrorKind::InvalidInput.into())
}

/// Replacement of `rustix::fs`.
pub(super) mod fs {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::fs::{MemfdFlags, SealFlags};

    use super::{Memory, files, with};

    pub(in super::super) struct Stat {
        pub(in super::super) st_size: u64,
    }

    fn metadata(fd: impl AsFd) -> io::Result<Metadata> {
        File::from(fd.as_fd().try_clone_to_owned()?).metadata()
    }

    pub(in super::super) fn inode(fd: impl AsFd) -> io::Result<u64> {
        Ok(metadata(fd)?.ino())
    }

    pub(in super::super) fn memfd_create(name: &str, _: MemfdFlags) -> io::Result<OwnedFd> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = File::create_new(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file.into())
    }

    pub(in super::super) fn ftruncate(fd: impl AsFd, length: u64) -> io::Result<()> {
        File::from(fd.as_fd().try_clone_to_owned()?).set_len(length)?;
        // Millions of words are created at once, because Miri is slow.
        let words: *mut [u64] = vec![0; length as usize / 8].leak();
        files().push(Memory {
            inode: inode(fd)?,
            // SAFETY: leaked, so there is no other owner; an `AtomicU64` has size and alignment of a `u64` here,
            // where atomics are native.
            words: unsafe { &*(words as *const [AtomicU64]) },
            seals: SealFlags::empty(),
        });
        Ok(())
    }

    pub(in super::super) fn fcntl_add_seals(fd: impl AsFd, seals: SealFlags) -> io::Result<()> {
        with(inode(fd)?, |file| file.seals |= seals)
    }

    pub(in super::super) fn fcntl_get_seals(fd: impl AsFd) -> io::Result<SealFlags> {
        with(inode(fd)?, |file| file.seals)
    }

    pub(in super::super) fn fstat(fd: impl AsFd) -> io::Result<Stat> {
        let st_size = metadata(fd)?.len();
        Ok(Stat { st_size })
    }
}

/// Replacement of `rustix::mm`.
pub(super) mod mm {
    use std::ffi::c_void;
    use std::io;
    use std::os::fd::AsFd;

    use rustix::fs::SealFlags;
    use rustix::mm::{MapFlags, ProtFlags};

    use super::{fs, with};

    /// # Safety
    /// The contract of the system call.
    pub(in super::super) unsafe fn mmap(
        _: *mut c_void,
        length: usize,
        protection: ProtFlags,
        _: MapFlags,
        fd: impl AsFd,
        _: u64,
    ) -> io::Result<*mut c_void> {
        with(fs::inode(fd)?, |file| {
            let is_refused = protection.contains(ProtFlags::WRITE)
                && file.seals.contains(SealFlags::FUTURE_WRITE);
            if is_refused || length > size_of_val(file.words) {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            Ok(file.words.as_ptr().cast_mut().cast())
        })?
    }

    /// # Safety
    /// The contract of the system call.
    pub(in super::super) unsafe fn munmap(_: *mut c_void, _: usize) -> io::Result<()> {
        Ok(())
    }
}
