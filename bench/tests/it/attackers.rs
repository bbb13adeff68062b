//! The crate takt-attack: names of attacks, and resources of a server.

use takt_attack::{Attack, Usage};

#[test]
fn names_of_attacks_are_distinct() {
    for attack in Attack::ALL {
        assert_eq!(Attack::from_name(attack.name()), Some(*attack));
        // The names fit into the first column of the table.
        assert!(attack.name().len() <= 18, "{}", attack.name());
    }
}

#[test]
fn memory_that_stays_is_not_recovered() {
    let before = Usage {
        resident: 20 << 20,
        peak: 20 << 20,
        descriptors: 40,
    };
    let within = Usage {
        resident: 30 << 20,
        ..before
    };
    let above = Usage {
        resident: 31 << 20,
        ..before
    };
    let leaked = Usage {
        descriptors: 41,
        ..before
    };
    assert!(within.is_recovered(&before));
    assert!(!above.is_recovered(&before));
    assert!(!leaked.is_recovered(&before));
}

#[test]
fn a_process_sees_itself() {
    let own = Usage::of(std::process::id()).unwrap();
    assert!(own.resident > 0 && own.peak >= own.resident / 2 && own.descriptors > 2);
    assert!(Usage::of(u32::MAX).is_err());
}
