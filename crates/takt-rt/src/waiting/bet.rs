//! Account of won and lost spins.

/// Number of waits without a spin after the first loss of an account.
const FIRST_PAUSE: u32 = 64;
/// Largest number of waits without a spin. After it, one spin is tried again.
const LONGEST_PAUSE: u32 = 4096;
/// Number of lost spins, beyond the won ones, that close a full account.
const FULL: u8 = 4;

/// Account of the spins of one kind: open while at least half of them are won. A closed account opens after a pause for
/// one trial; each lost trial doubles the pause.
#[derive(Debug, Clone)]
pub(super) struct Bet {
    credit: u8,
    pause: u32,
    next_pause: u32,
}

impl Default for Bet {
    fn default() -> Self {
        Self {
            credit: FULL,
            pause: 0,
            next_pause: FIRST_PAUSE,
        }
    }
}

impl Bet {
    /// Returns true if the next wait may spin.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.pause == 0
    }

    /// Counts a wait that did not spin because the account was closed.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.pause = self.pause.saturating_sub(1);
    }

    /// Counts a spin that ended with a message.
    #[inline]
    pub(super) fn win(&mut self) {
        if self.credit < FULL {
            self.credit += 1;
            if self.credit == FULL {
                self.next_pause = FIRST_PAUSE;
            }
        }
    }

    /// Counts a spin that ended without a message.
    pub(super) fn lose(&mut self) {
        self.credit = self.credit.saturating_sub(1);
        if self.credit == 0 {
            // One loss closes the account again after the pause, until spins are won.
            self.credit = 1;
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(LONGEST_PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of spins in `waits` waits, all of them lost.
    fn lost_spins(bet: &mut Bet, waits: u32) -> u32 {
        let mut spins = 0;
        for _ in 0..waits {
            if bet.is_open() {
                spins += 1;
                bet.lose();
            } else {
                bet.skip();
            }
        }
        spins
    }

    #[test]
    fn lost_spins_become_rare() {
        let mut bet = Bet::default();
        assert_eq!(lost_spins(&mut bet, 68), 4);
        // Pauses of 64, 128, 256 … and 4096 waits.
        assert_eq!(lost_spins(&mut bet, 10_000), 7);
        assert!(lost_spins(&mut bet, 100_000) <= 25);
    }

    #[test]
    fn a_closed_account_opens_again_when_spins_are_won() {
        let mut bet = Bet::default();
        lost_spins(&mut bet, 500);
        while !bet.is_open() {
            bet.skip();
        }
        for _ in 0..10 {
            bet.win();
        }
        // An occasional loss changes nothing.
        for _ in 0..1000 {
            bet.lose();
            bet.win();
            assert!(bet.is_open());
        }
        // The account starts again with the short pause.
        assert_eq!(lost_spins(&mut bet, 68), 4);
    }
}
