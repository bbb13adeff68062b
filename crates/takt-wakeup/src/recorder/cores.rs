//! Cores of the recorder: not those of the threads that it watches. Reading a ring keeps interrupts off for some ten microseconds.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Moves the calling thread away from the cores to which these threads are pinned, as far as it may use others. A failure changes
/// nothing but times.
pub(super) fn leave(own: &CpuSet, threads: impl IntoIterator<Item = u32>) {
    let pinned = threads.into_iter().filter_map(|thread| {
        let set = sched_getaffinity(Some(Pid::from_raw(thread.cast_signed())?)).ok()?;
        (set.count() == 1).then_some(set)
    });
    let left = without(own, pinned);
    if left.count() > 0 {
        let _ = sched_setaffinity(None, &left);
    }
}

/// Returns the cores that the calling thread may use.
pub(super) fn own() -> CpuSet {
    sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new())
}

/// Returns a set without the cores of others.
fn without(own: &CpuSet, others: impl Iterator<Item = CpuSet>) -> CpuSet {
    let mut left = *own;
    for other in others {
        (0..CpuSet::MAX_CPU)
            .filter(|core| other.is_set(*core))
            .for_each(|core| left.unset(core));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_of_others_are_left() {
        let set = |cores: &[usize]| {
            let mut set = CpuSet::new();
            cores.iter().for_each(|core| set.set(*core));
            set
        };
        let others = [set(&[1]), set(&[1000])];
        let left = without(&set(&[0, 1, 3]), others.into_iter());
        assert!(left == set(&[0, 3]));
        assert_eq!(without(&set(&[1]), [set(&[1])].into_iter()).count(), 0);
    }
}
