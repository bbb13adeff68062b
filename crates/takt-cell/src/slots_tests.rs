use std::sync::Barrier;

use super::*;

struct Memory {
    control: Control,
    words: Vec<AtomicU64>,
    slot_words: usize,
}

impl Memory {
    fn new(slot_words: usize) -> Self {
        let words: Vec<AtomicU64> = (0..slot_words * SLOTS).map(|_| AtomicU64::new(0)).collect();
        initialise(&words);
        Self {
            control: Control::new(),
            words,
            slot_words,
        }
    }

    fn slots(&self) -> Slots<'_> {
        Slots::new(&self.control, &self.words, self.slot_words)
    }

    fn set(&self, value: u64) -> Result<(), Busy> {
        self.slots()
            .set(|words| words.iter().for_each(|w| w.store(value, Ordering::Relaxed)))
    }

    /// Sets words that contain their value and position.
    fn set_marked(&self, value: u64) -> Result<(), Busy> {
        self.slots().set(|words| {
            for (place, word) in (0..).zip(words) {
                word.store(value + (place << 48), Ordering::Relaxed);
            }
        })
    }

    fn get(&self) -> Result<(Vec<u64>, u64), Busy> {
        self.slots()
            .read(|words| words.iter().map(|w| w.load(Ordering::Relaxed)).collect())
    }

    /// Begins a set and stops in the middle of it.
    fn die_while_setting(&self) {
        let generation = self.control.tickets.fetch_add(1, Ordering::Relaxed) + 1;
        let (_, _, words) = self.slots().claim(generation).unwrap().unwrap();
        words[0].store(666, Ordering::Relaxed);
    }
}

#[test]
fn sets_and_reads() {
    let memory = Memory::new(3);
    assert_eq!(memory.get().unwrap(), (vec![0, 0], 1));
    for value in 2..20 {
        memory.set(value).unwrap();
        assert_eq!(memory.get().unwrap(), (vec![value, value], value));
        assert_eq!(memory.control.generation(), value);
    }
}

#[test]
fn slots_are_used_in_turn() {
    let memory = Memory::new(2);
    for turn in 1..=8 {
        memory.set(turn).unwrap();
        assert_eq!(
            memory.control.latest.load(Ordering::Relaxed) % SLOTS as u64,
            turn % SLOTS as u64
        );
    }
}

#[test]
fn dead_writers_block_no_other_thread() {
    let memory = Memory::new(3);
    memory.set(7).unwrap();
    for dead in 0..SLOTS as u64 - 2 {
        memory.die_while_setting();
        assert_eq!(memory.get().unwrap().0, [7 + dead * 10; 2]);
        for value in [8, 9, 17 + dead * 10] {
            memory.set(value).unwrap();
            assert_eq!(memory.get().unwrap().0, [value; 2]);
        }
    }
    // One dead writer too many: nothing can be set, and the last value stays.
    memory.die_while_setting();
    assert_eq!(memory.set(1), Err(Busy));
    assert_eq!(memory.get().unwrap().0, [27; 2]);
}

#[test]
fn an_overtaken_set_changes_nothing() {
    let memory = Memory::new(2);
    let early = memory.control.tickets.fetch_add(1, Ordering::Relaxed) + 1;
    memory.set(5).unwrap();
    assert!(memory.slots().claim(early).unwrap().is_none());
    // Overtaken after it had claimed a slot: the slot returns to the others.
    let early = memory.control.tickets.fetch_add(1, Ordering::Relaxed) + 1;
    let (number, sequence, _) = memory.slots().claim(early).unwrap().unwrap();
    memory.set(6).unwrap();
    sequence.store(early << 1, Ordering::Release);
    memory.slots().publish(early, number);
    assert_eq!(memory.get().unwrap().0, [6]);
    for value in 7..20 {
        memory.set(value).unwrap();
        assert_eq!(memory.get().unwrap().0, [value]);
    }
}

#[test]
fn a_complete_value_that_is_not_yet_published_is_not_claimed() {
    let memory = Memory::new(2);
    let ours = memory.control.tickets.fetch_add(1, Ordering::Relaxed) + 1;
    let (number, sequence, words) = memory.slots().claim(ours).unwrap().unwrap();
    words[0].store(55, Ordering::Relaxed);
    sequence.store(ours << 1, Ordering::Release);
    // Two other sets begin and stop: they must not claim this slot.
    memory.die_while_setting();
    memory.die_while_setting();
    memory.slots().publish(ours, number);
    assert_eq!(memory.get().unwrap(), (vec![55], ours));
}

#[test]
#[cfg_attr(miri, ignore = "printing a panic takes Miri a minute")]
fn a_panic_gives_the_slot_back() {
    let memory = Memory::new(2);
    for _ in 0..2 * SLOTS {
        let slots = memory.slots();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            slots.set(|_| panic!("in the middle"))
        }));
        assert!(result.is_err());
    }
    memory.set(3).unwrap();
    assert_eq!(memory.get().unwrap().0, [3]);
}

#[test]
fn too_little_memory_is_busy_not_a_panic() {
    let control = Control::new();
    let slots = Slots::<SLOTS>::new(&control, &[], 8);
    assert_eq!(slots.set(|_| ()), Err(Busy));
    assert_eq!(slots.read(|_| ()), Err(Busy));
}

/// The largest allowed number of threads set while others read: every value is whole, and no reader sees an older
/// value after a newer one. Small values, so that the slots change hands as often as possible.
#[test]
fn whole_values_under_contention() {
    const SETS: u64 = if cfg!(miri) { 25 } else { 100_000 };
    const READS: u64 = if cfg!(miri) { 25 } else { 100_000 };
    let memory = Memory::new(if cfg!(miri) { 4 } else { 8 });
    memory.set_marked(0).unwrap();
    let start = Barrier::new(SLOTS + 1);
    std::thread::scope(|scope| {
        for writer in 1..SLOTS as u64 {
            let (memory, start) = (&memory, &start);
            scope.spawn(move || {
                start.wait();
                for n in 0..SETS {
                    let value = writer << 32 | n;
                    memory.set_marked(value).unwrap();
                    // The other sets may interrupt all attempts of a read.
                    let Ok((words, _)) = memory.get() else {
                        continue;
                    };
                    assert!(
                        words[0] >> 32 != writer || words[0] >= value,
                        "an older value of our own"
                    );
                }
            });
        }
        for _ in 0..2 {
            let (memory, start) = (&memory, &start);
            scope.spawn(move || {
                start.wait();
                let mut newest = (0, [0; SLOTS]);
                for _ in 0..READS {
                    let Ok((words, generation)) = memory.get() else {
                        continue;
                    };
                    for (place, word) in (0..).zip(&words) {
                        assert_eq!(*word, words[0] + (place << 48), "torn: {words:x?}");
                    }
                    assert!(generation >= newest.0, "generation went back");
                    newest.0 = generation;
                    let (writer, n) = ((words[0] >> 32) as usize, words[0] & 0xFFFF_FFFF);
                    assert!(n >= newest.1[writer], "a writer's values went back");
                    newest.1[writer] = n;
                }
            });
        }
    });
}
