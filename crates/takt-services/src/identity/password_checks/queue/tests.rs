//! Attackers and users in simulated time.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

const CHECK: Duration = Duration::from_millis(20);
const STEP: Duration = Duration::from_millis(1);

/// A queue in simulated time; a login is right if its password is `hammer`.
struct World {
    queue: Queue,
    begin: Instant,
    now: Instant,
    /// Time that costly checks have taken.
    busy: Duration,
    busy_until: Instant,
    ended: (Sender<usize>, Receiver<usize>),
    /// Arrival and answer of each login, and whether it was checked and right.
    logins: Vec<(Instant, Option<Instant>, bool)>,
    /// Users whose checks are quick.
    quick: Vec<&'static str>,
}

impl World {
    fn new() -> Self {
        let begin = Instant::now();
        Self {
            queue: Queue::new(begin),
            begin,
            now: begin,
            busy: Duration::ZERO,
            busy_until: begin,
            ended: channel(),
            logins: Vec::new(),
            quick: Vec::new(),
        }
    }

    fn login(&mut self, name: &str, address: u8, is_right: bool) -> usize {
        let number = self.logins.len();
        self.logins.push((self.now, None, false));
        let ended = self.ended.0.clone();
        let check = PasswordCheck {
            name: name.to_owned(),
            is_known: !name.starts_with("name"),
            is_quick: self.quick.contains(&name),
            network: Some(IpAddr::from([192, 0, 2, address])),
            run: Box::new(move || is_right),
            end: Box::new(move || ended.send(number).unwrap()),
        };
        self.queue.add(check, self.now);
        number
    }

    fn run(&mut self, time: Duration, mut every_step: impl FnMut(&mut Self, u128)) {
        let end = self.now + time;
        while self.now < end {
            every_step(self, (self.now - self.begin).as_millis());
            let due = self.queue.take_due(self.now);
            due.into_iter().for_each(|end| end());
            while self.now >= self.busy_until
                && let Some(next) = self.queue.next(self.now)
            {
                let outcome = next.run();
                let took = if outcome.is_quick {
                    Duration::ZERO
                } else {
                    CHECK
                };
                self.busy += took;
                self.busy_until = self.now + took;
                self.queue.done(outcome, took, self.busy_until);
            }
            for number in self.ended.1.try_iter() {
                let login = &mut self.logins[number];
                login.1 = Some(self.now);
                login.2 = self.now < login.0 + REFUSAL;
            }
            self.now += STEP;
        }
    }

    /// Lets strangers guess, and a user log in twice a second; returns the longest login, `None` if one was refused.
    fn attacked(&mut self, guesses: u128, guess: impl Fn(&mut Self, u128)) -> Option<Duration> {
        let mut right = Vec::new();
        self.run(Duration::from_secs(20), |world, at| {
            if at % (1000 / guesses) == 0 {
                guess(world, at);
            }
            if at % 500 == 250 {
                right.push(world.login("anna", 1, true));
                world.quick.push("anna");
            }
        });
        self.run(2 * REFUSAL, |_, _| {});
        let times = right.iter().map(|number| {
            let (arrived, answered, is_right) = self.logins[*number];
            is_right.then(|| answered.unwrap() - arrived)
        });
        times.collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

#[test]
fn guesses_of_strangers_neither_refuse_nor_delay_a_right_password() {
    type Guess = fn(&mut World, u128);
    let attacks: [(u128, Guess); 6] = [
        // The same user, from the same address.
        (16, |world, _| {
            world.login("anna", 1, false);
        }),
        // The same user, from many addresses.
        (100, |world, at| {
            world.login("anna", u8::try_from(2 + at % 250).unwrap(), false);
        }),
        // Many unknown names, from the same address, or from many.
        (500, |world, at| {
            world.login(&format!("name{at}"), 1, false);
        }),
        (500, |world, at| {
            let address = u8::try_from(at % 250).unwrap();
            world.login(&format!("name{at}"), address, false);
        }),
        // Other users, from the same address.
        (100, |world, at| {
            world.login(["bert", "carl", "dora"][at as usize / 10 % 3], 1, false);
        }),
        // All of it.
        (200, |world, at| {
            world.login(["bert", "name", "dora"][at as usize / 5 % 3], 1, false);
        }),
    ];
    for (at, (guesses, guess)) in attacks.into_iter().enumerate() {
        let mut world = World::new();
        // One login before the attack proves the address.
        world.login("anna", 1, true);
        world.quick.push("anna");
        world.run(REFUSAL, |_, _| {});
        world.begin = world.now;
        let longest = world.attacked(guesses, guess);
        assert!(
            longest.is_some_and(|time| time < REFUSAL),
            "{at}: {longest:?}"
        );
        let share = world.busy.as_secs_f64() / 22.0;
        assert!(share < 0.6, "{at}: {share}");
    }
}

#[test]
fn the_first_login_of_a_user_passes_guesses_of_others() {
    let mut world = World::new();
    let longest = world.attacked(500, |world, at| {
        world.login(&format!("name{at}"), 1, false);
    });
    assert!(longest.is_some_and(|time| time < REFUSAL), "{longest:?}");
    let mut world = World::new();
    let longest = world.attacked(16, |world, _| {
        world.login("anna", 1, false);
    });
    assert!(longest.is_some_and(|time| time < REFUSAL), "{longest:?}");
}

/// The time of a refusal tells nothing: not whether the name is known, the check is quick, or there was one.
#[test]
fn all_refusals_take_the_same_time() {
    let mut world = World::new();
    world.quick.push("anna");
    world.run(Duration::from_secs(5), |world, at| {
        for name in ["anna", "bert", "name"] {
            if at % 7 == 0 && at < 3000 {
                world.login(name, 1, false);
            }
        }
    });
    assert!(world.logins.len() > 1000);
    for (arrived, answered, _) in world.logins {
        assert_eq!(answered.unwrap() - arrived, REFUSAL);
    }
}

#[test]
fn guesses_for_one_name_have_a_rate() {
    let mut world = World::new();
    world.quick.push("anna");
    let checked = std::rc::Rc::new(std::cell::Cell::new(0_u32));
    for second in 0..10_u32 {
        for _ in 0..200 {
            world.login("anna", 1, false);
        }
        let before = world.now;
        while let Some(next) = world.queue.next(world.now) {
            checked.set(checked.get() + 1);
            let outcome = next.run();
            world.queue.done(outcome, Duration::ZERO, world.now);
        }
        world.run(Duration::from_secs(1), |_, _| {});
        assert!(world.now > before, "{second}");
    }
    assert!(checked.get() <= 10 * BURST, "{}", checked.get());
    assert!(world.queue.lanes.len() <= 1 && world.queue.refusals.len() < MAX_REFUSALS);
}
