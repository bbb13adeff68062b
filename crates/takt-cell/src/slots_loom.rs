//! Models that `loom` runs under every order of steps, and every outcome of relaxed loads, that the memory model allows
//! (up to its bound on preemptions). Run them with
//! `RUSTFLAGS="--cfg loom" cargo test -p takt-cell --release --target-dir target/loom loom`.
//!
//! Fewer slots than in real cells make the critical case, reuse, occur early.

use loom::sync::Arc;
use loom::thread;

use super::*;

/// `N` slots of a sequence and two words.
struct Memory<const N: usize> {
    control: Control,
    words: Vec<AtomicU64>,
}

impl<const N: usize> Memory<N> {
    fn new() -> Arc<Self> {
        let words: Vec<AtomicU64> = (0..3 * N).map(|_| AtomicU64::new(0)).collect();
        initialise(&words);
        Arc::new(Self {
            control: Control::new(),
            words,
        })
    }

    fn slots(&self) -> Slots<'_, N> {
        Slots::new(&self.control, &self.words, 3)
    }

    fn set(&self, value: u64) -> Result<(), Busy> {
        self.slots()
            .set(|words| words.iter().for_each(|w| w.store(value, Ordering::Relaxed)))
    }

    /// Reads once; every accepted value must be whole.
    fn get(&self) -> Result<(u64, u64), Busy> {
        let ((first, second), generation) = self.slots().read(|words| {
            (
                words[0].load(Ordering::Relaxed),
                words[1].load(Ordering::Relaxed),
            )
        })?;
        assert_eq!(first, second, "torn value accepted");
        Ok((first, generation))
    }

    /// Claims a slot, writes half of it, and stops for ever.
    fn die_while_setting(&self) {
        let generation = self.control.tickets.fetch_add(1, Ordering::Relaxed) + 1;
        if let Ok(Some((_, _, words))) = self.slots().claim(generation) {
            fence(Ordering::Release);
            words[0].store(666, Ordering::Relaxed);
        }
    }
}

fn model(preemptions: usize, test: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    if builder.preemption_bound.is_none() {
        builder.preemption_bound = Some(preemptions);
    }
    builder.check(test);
}

/// Two slots, so that the second set overwrites what the reader may just be copying.
#[test]
fn loom_reader_against_reuse_of_its_slot() {
    model(4, || {
        let memory = Memory::<2>::new();
        let writer = Arc::clone(&memory);
        let writer = thread::spawn(move || {
            for value in 1..=3 {
                writer.set(value).unwrap();
            }
        });
        if let Ok((value, generation)) = memory.get() {
            assert_eq!(generation, value + 1);
            if let Ok((later, _)) = memory.get() {
                assert!(later >= value, "went back");
            }
        }
        writer.join().unwrap();
        assert_eq!(memory.get().unwrap(), (3, 4));
    });
}

/// Two sets at once: both succeed, the last published value is one of theirs, and a thread that reads after its own
/// set finds that value or a later one.
#[test]
fn loom_two_writers() {
    model(12, || {
        let memory = Memory::<4>::new();
        let other = Arc::clone(&memory);
        let other = thread::spawn(move || {
            other.set(1).unwrap();
            let (_, generation) = other.get().unwrap();
            assert!(generation >= 2);
        });
        memory.set(2).unwrap();
        memory.get().unwrap();
        other.join().unwrap();
        let (value, generation) = memory.get().unwrap();
        assert!(value == 1 || value == 2);
        assert_eq!(generation, 3, "the later ticket is the one that stays");
    });
}

/// The largest allowed number of writers: each finds a slot.
#[test]
fn loom_three_writers() {
    model(2, || {
        let memory = Memory::<4>::new();
        let writers: Vec<_> = (1..=2)
            .map(|value| {
                let memory = Arc::clone(&memory);
                thread::spawn(move || memory.set(value).unwrap())
            })
            .collect();
        memory.set(3).unwrap();
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(memory.get().unwrap().1, 4);
    });
}

/// Two writers, one of them twice, and a reader.
#[test]
fn loom_two_writers_and_a_reader() {
    model(2, || {
        let memory = Memory::<4>::new();
        let writer = Arc::clone(&memory);
        let writer = thread::spawn(move || writer.set(1).unwrap());
        let reader = Arc::clone(&memory);
        let reader = thread::spawn(move || {
            let (_, generation) = reader.get().unwrap();
            let (_, later) = reader.get().unwrap();
            assert!(later >= generation);
        });
        memory.set(2).unwrap();
        memory.set(3).unwrap();
        writer.join().unwrap();
        reader.join().unwrap();
        assert_eq!(memory.get().unwrap().1, 4);
    });
}

/// More writers than slots allow: some get Busy, but no torn value is ever accepted.
#[test]
fn loom_too_many_writers_are_safe() {
    model(3, || {
        let memory = Memory::<2>::new();
        let other = Arc::clone(&memory);
        let other = thread::spawn(move || {
            let _ = other.set(1);
            let _ = other.set(2);
        });
        let reader = Arc::clone(&memory);
        let reader = thread::spawn(move || {
            let _ = reader.get();
        });
        let _ = memory.set(3);
        other.join().unwrap();
        reader.join().unwrap();
        memory.get().unwrap();
    });
}

/// A writer that stops during a set blocks neither sets nor reads.
#[test]
fn loom_a_dead_writer() {
    model(2, || {
        let memory = Memory::<4>::new();
        let dying = Arc::clone(&memory);
        let dying = thread::spawn(move || dying.die_while_setting());
        for value in 1..=3 {
            memory.set(value).unwrap();
            assert_eq!(memory.get().unwrap().0, value);
        }
        dying.join().unwrap();
        memory.set(4).unwrap();
        assert_eq!(memory.get().unwrap().0, 4);
    });
}
