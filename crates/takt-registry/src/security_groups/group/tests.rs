//! Tests of a SecurityGroup.

use super::*;

const SECOND: i64 = 10_000_000;

fn group() -> SecurityGroup {
    let wanted = SecurityGroupDataType {
        name: "Plant".into(),
        key_lifetime: 10_000.0,
        max_future_key_count: 3,
        max_past_key_count: 1,
        ..SecurityGroupDataType::default()
    };
    let mut group = SecurityGroup::new(revise(wanted).unwrap(), 1000, 5, DateTime(0));
    advance(&mut group, 0);
    group
}

/// Advances the group with distinguishable keys.
fn advance(group: &mut SecurityGroup, seconds: i64) -> bool {
    let mut number = group.last_token_id().max(4) as u8;
    let now = DateTime(seconds * SECOND);
    let advanced = group.advance(now, |key| {
        number = number.wrapping_add(1);
        key.fill(number);
        Ok(())
    });
    advanced.unwrap()
}

fn tokens(group: &SecurityGroup, start: u32, count: u32) -> (u32, Vec<u8>) {
    let keys = group.keys(start, count, DateTime(0));
    (
        keys.first_token_id,
        keys.keys.iter().map(|key| key[0]).collect(),
    )
}

#[test]
fn keys_become_current_on_time_and_do_not_change() {
    let mut group = group();
    assert_eq!(tokens(&group, 0, 9), (5, vec![5, 6, 7, 8]));
    assert!(!advance(&mut group, 9));
    assert!(advance(&mut group, 10));
    assert_eq!(tokens(&group, 0, 9), (6, vec![6, 7, 8, 9]));
    assert_eq!(tokens(&group, 5, 2), (5, vec![5, 6]));
    assert!(advance(&mut group, 29));
    assert_eq!(tokens(&group, 0, 0), (7, vec![7]));
    assert_eq!(tokens(&group, 9, 9), (9, vec![9, 10]));
    // An unknown token stands for the oldest.
    assert_eq!(tokens(&group, 5, 1), (6, vec![6]));
    let left = group.keys(0, 1, DateTime(29 * SECOND)).time_to_next_key;
    assert_eq!(left, 1_000.0);
}

#[test]
fn tokens_never_come_back() {
    let mut group = group();
    // No keys were requested for a hundred KeyLifetimes.
    assert!(advance(&mut group, 1000));
    assert_eq!(tokens(&group, 0, 1).0, 105);
    assert_eq!(tokens(&group, 1, 1).0, 105);
    // The clock was set back.
    assert!(advance(&mut group, 500));
    assert_eq!(tokens(&group, 0, 1).0, 105);
    assert!(!advance(&mut group, 505));
    assert!(advance(&mut group, 510));
    assert_eq!(tokens(&group, 0, 1).0, 106);
}

#[test]
fn a_jump_of_the_clock_costs_few_keys_and_tokens() {
    for now in [DateTime(i64::MAX), DateTime(i64::MIN), DateTime(0)] {
        for then in [DateTime(i64::MAX), DateTime(i64::MIN), DateTime(0)] {
            for first in [1, u32::MAX - 20, u32::MAX - 1, u32::MAX] {
                let configuration = revise(SecurityGroupDataType {
                    name: "Plant".into(),
                    key_lifetime: SHORTEST_KEY_LIFETIME,
                    max_future_key_count: MAX_KEY_COUNT,
                    ..SecurityGroupDataType::default()
                });
                let mut group = SecurityGroup::new(configuration.unwrap(), 1000, first, now);
                for time in [now, then] {
                    let mut made = 0;
                    let advanced = group.advance(time, |_| {
                        made += 1;
                        assert!(made <= MOST_KEYS, "{first} {time:?}");
                        Ok(())
                    });
                    advanced.unwrap();
                    let keys = group.keys(0, 99, time);
                    assert_eq!(keys.keys.len(), usize::from(MOST_KEYS));
                    assert_eq!(keys.first_token_id, group.current_token_id);
                }
                assert!(group.current_token_id <= first.saturating_add(MOST_PASSED));
                assert!(SecurityGroup::restore(group.record()).is_some());
            }
        }
    }
}

#[test]
fn tokens_restart_at_1_behind_the_largest_one() {
    let mut group = group();
    group.current_token_id = u32::MAX - 4;
    assert!(advance(&mut group, 10));
    assert_eq!(tokens(&group, 0, 9).0, u32::MAX - 3);
    assert_eq!(group.last_token_id(), u32::MAX);
    assert!(advance(&mut group, 20));
    let (first, keys) = tokens(&group, 0, 9);
    assert_eq!((first, keys.len()), (FIRST_TOKEN_ID, 4));
    // None of the previous keys is returned.
    assert_eq!(tokens(&group, u32::MAX, 1).0, FIRST_TOKEN_ID);
    assert!(!advance(&mut group, 29));
    for change in [SecurityGroup::invalidate, SecurityGroup::rotate] {
        group.first_token_id = u32::MAX - 3;
        group.current_token_id = u32::MAX;
        change(&mut group, DateTime(30 * SECOND));
        assert!(advance(&mut group, 30));
        assert_eq!(tokens(&group, 0, 9).0, FIRST_TOKEN_ID);
    }
}

#[test]
fn keys_are_invalidated_and_rotated_before_their_time() {
    let mut group = group();
    group.rotate(DateTime(4 * SECOND));
    assert!(advance(&mut group, 4));
    // The future keys are unchanged, and the new current key has its full lifetime.
    assert_eq!(tokens(&group, 0, 9), (6, vec![6, 7, 8, 9]));
    assert_eq!(tokens(&group, 5, 1), (5, vec![5]));
    assert!(!advance(&mut group, 13));
    assert!(advance(&mut group, 14));
    assert_eq!(tokens(&group, 0, 1), (7, vec![7]));
    let last = group.last_token_id();
    group.invalidate(DateTime(15 * SECOND));
    assert!(advance(&mut group, 15));
    let (first, keys) = tokens(&group, 0, 9);
    assert_eq!((first, keys.len()), (last + 1, 4));
    // None of the previous keys is returned.
    assert_eq!(tokens(&group, 7, 1).0, last + 1);
    assert!(!advance(&mut group, 24));
}

#[test]
fn a_restored_group_has_the_same_keys() {
    let mut group = group();
    advance(&mut group, 25);
    let again = SecurityGroup::restore(group.record()).unwrap();
    assert_eq!(tokens(&again, 6, 9), tokens(&group, 6, 9));
    assert_eq!(again.last_token_id(), group.last_token_id());
    assert_eq!((again.user, again.is(&group.configuration)), (1000, true));
}

#[test]
fn parameters_of_a_client_are_revised() {
    let named = |name: &str| SecurityGroupDataType {
        name: name.into(),
        ..SecurityGroupDataType::default()
    };
    let (revised, policy) = revise(named("x")).unwrap();
    assert_eq!(policy, PubSubSecurityPolicy::PubSubAes256Ctr);
    assert_eq!(revised.key_lifetime, DEFAULT_KEY_LIFETIME);
    assert_eq!(revised.max_future_key_count, DEFAULT_KEY_COUNT);
    let (revised, _) = revise(SecurityGroupDataType {
        key_lifetime: f64::INFINITY,
        max_past_key_count: 1_000_000,
        ..named("x")
    })
    .unwrap();
    assert_eq!(revised.key_lifetime, LONGEST_KEY_LIFETIME);
    assert_eq!(revised.max_past_key_count, MAX_KEY_COUNT);
    let refused = [
        named(""),
        named(&"x".repeat(256)),
        named("a\nb"),
        SecurityGroupDataType {
            key_lifetime: f64::NAN,
            ..named("x")
        },
        SecurityGroupDataType {
            security_policy_uri: "urn:x".into(),
            ..named("x")
        },
    ];
    for wanted in refused {
        assert_eq!(revise(wanted).err(), Some(StatusCode::BadInvalidArgument));
    }
}
