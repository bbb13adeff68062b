//! A counted pointer whose memory is used again: `Rc` without a call of `malloc` for each value.
//!
//! iceoryx2 makes and drops one for every message that is loaned, and lets its user choose the type. Memory that becomes free
//! is kept by the thread that freed it, a few blocks at most, for the next value of the same layout.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::ops::Deref;
use std::process;
use std::ptr::NonNull;

use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_cal::arc_sync_policy::{ArcSyncPolicy, ArcSyncPolicyCreationError, LockGuard};

/// How many blocks a thread keeps. A thread that sends on one channel needs one.
const KEPT: usize = 8;

/// A value with several owners in one thread.
pub(crate) struct Pooled<T> {
    /// Valid, and `owners` in it is the number of `Pooled` that point to it.
    counted: NonNull<Counted<T>>,
    _owns: PhantomData<Counted<T>>,
}

struct Counted<T> {
    owners: Cell<usize>,
    value: T,
}

impl<T> Pooled<T> {
    fn of(value: T) -> Self {
        let block = blocks::take(Layout::new::<Counted<T>>()).cast::<Counted<T>>();
        let counted = Counted {
            owners: Cell::new(1),
            value,
        };
        // SAFETY: the block has the layout of what is written, and is nobody else's.
        unsafe { block.write(counted) };
        Self {
            counted: block,
            _owns: PhantomData,
        }
    }

    fn counted(&self) -> &Counted<T> {
        // SAFETY: valid for as long as there is an owner, and `self` is one. Nobody has a `&mut` to it while it has an owner,
        // except `abandon_in_place`, which has checked that it is the only one.
        unsafe { self.counted.as_ref() }
    }
}

impl<T> Clone for Pooled<T> {
    fn clone(&self) -> Self {
        let owners = &self.counted().owners;
        match owners.get().checked_add(1) {
            Some(more) => owners.set(more),
            // As `Rc` does: owners that were forgotten in a loop, and a count that would wrap.
            None => process::abort(),
        }
        Self {
            counted: self.counted,
            _owns: PhantomData,
        }
    }
}

impl<T> Drop for Pooled<T> {
    fn drop(&mut self) {
        let owners = &self.counted().owners;
        let left = owners.get() - 1;
        owners.set(left);
        if left == 0 {
            // SAFETY: this was the last owner, so the value is dropped once and its memory not used any more. The block came
            // from `take` with this layout.
            unsafe {
                self.counted.drop_in_place();
                blocks::give(self.counted.cast(), Layout::new::<Counted<T>>());
            }
        }
    }
}

impl<T: Debug> Debug for Pooled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counted().value.fmt(f)
    }
}

impl<T: Abandonable> Abandonable for Pooled<T> {
    unsafe fn abandon_in_place(mut this: NonNull<Self>) {
        // SAFETY: the caller promises a valid `Self` that is not used afterwards.
        let this = unsafe { this.as_mut() };
        if this.counted().owners.get() == 1 {
            // SAFETY: the only owner, so nobody else refers to the value, which is not used afterwards.
            unsafe { T::abandon_in_place(NonNull::from(&mut this.counted.as_mut().value)) };
        } else {
            // SAFETY: `this` is valid and not used afterwards.
            unsafe { std::ptr::drop_in_place(this) };
        }
    }
}

/// Access to the value: there is nothing to lock within one thread.
pub(crate) struct Access<'a, T>(&'a T);

impl<T> Deref for Access<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<'a, T: Send + Abandonable> LockGuard<'a, T> for Access<'a, T> {}

impl<T: Send + Debug + Abandonable> ArcSyncPolicy<T> for Pooled<T> {
    type LockGuard<'a>
        = Access<'a, T>
    where
        T: 'a;

    fn new(value: T) -> Result<Self, ArcSyncPolicyCreationError> {
        Ok(Self::of(value))
    }

    fn lock(&self) -> Access<'_, T> {
        Access(&self.counted().value)
    }
}

mod blocks {
    //! Memory of one thread.

    use super::{KEPT, Layout, NonNull, RefCell, alloc, dealloc, handle_alloc_error};

    /// Free blocks, each with the layout it was allocated with.
    struct Free(Vec<(NonNull<u8>, Layout)>);

    impl Drop for Free {
        fn drop(&mut self) {
            for (block, layout) in self.0.drain(..) {
                // SAFETY: allocated with this layout, and given back.
                unsafe { dealloc(block.as_ptr(), layout) };
            }
        }
    }

    thread_local! {
        static FREE: RefCell<Free> = RefCell::new(Free(Vec::with_capacity(KEPT)));
    }

    /// A block for one value. `layout` must not have size zero, which that of something with a counter never has.
    pub(super) fn take(layout: Layout) -> NonNull<u8> {
        // While the thread ends its free blocks may be gone already.
        let kept = FREE.try_with(|free| {
            let free = &mut free.borrow_mut().0;
            let at = free.iter().position(|(_, kept)| *kept == layout)?;
            Some(free.swap_remove(at).0)
        });
        if let Ok(Some(block)) = kept {
            return block;
        }
        // SAFETY: the size is not zero.
        let block = unsafe { alloc(layout) };
        NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout))
    }

    /// Gives a block back.
    ///
    /// # Safety
    /// It must come from [`take`] with the same layout, and not be used any more.
    pub(super) unsafe fn give(block: NonNull<u8>, layout: Layout) {
        let kept = FREE.try_with(|free| {
            let free = &mut free.borrow_mut().0;
            let room = free.len() < KEPT;
            if room {
                free.push((block, layout));
            }
            room
        });
        if kept != Ok(true) {
            // SAFETY: the caller promises that it was allocated with this layout and is not used any more.
            unsafe { dealloc(block.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn the_last_owner_drops_the_value() {
        let witness = Rc::new(());
        let first = Pooled::of(Rc::clone(&witness));
        let second = first.clone();
        drop(first);
        assert_eq!(Rc::strong_count(&witness), 2);
        assert_eq!(format!("{second:?}"), "()");
        drop(second);
        assert_eq!(Rc::strong_count(&witness), 1);
    }

    #[test]
    fn memory_is_used_again() {
        let address = |pooled: &Pooled<[u64; 9]>| pooled.counted.addr();
        let first = Pooled::of([1; 9]);
        let used = address(&first);
        drop(first);
        let other = Pooled::of(7_u8);
        let second = Pooled::of([2; 9]);
        assert_eq!(address(&second), used);
        assert_eq!((second.counted().value, other.counted().value), ([2; 9], 7));
    }

    #[test]
    fn values_may_hold_others_and_move_to_other_threads() {
        let all: Vec<_> = (0..20).map(|n| Pooled::of(Pooled::of(n))).collect();
        drop(all);
        struct Moves(Pooled<u32>);
        // SAFETY: the only owner.
        unsafe impl Send for Moves {}
        let moves = Moves(Pooled::of(5));
        let thread = std::thread::spawn(move || {
            let moves = moves;
            moves.0.counted().value
        });
        assert_eq!(thread.join().unwrap(), 5);
    }
}
