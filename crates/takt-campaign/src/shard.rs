//! Shares of a campaign, for several processes or hosts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Share of a campaign: each `of`-th case and backend, from the `number`-th on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shard {
    /// Number of the share, from 1.
    pub number: u32,
    /// Number of all shares.
    pub of: u32,
}

/// Text that is no share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a share is written as its number and the number of all shares, for example 3/16")]
pub struct NoShard;

impl Shard {
    /// Returns true if an item is in the share. Items are counted from 0.
    #[must_use]
    pub fn has(self, item: usize) -> bool {
        // `usize` has at least 32 bits on every platform of Linux.
        item % self.of.max(1) as usize + 1 == self.number as usize
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (number, of) = text.split_once('/').ok_or(NoShard)?;
        let number = number.trim().parse().map_err(|_| NoShard)?;
        let of = of.trim().parse().map_err(|_| NoShard)?;
        match (1..=of).contains(&number) {
            true => Ok(Self { number, of }),
            false => Err(NoShard),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn each_item_is_in_one_share() {
        for item in 0..40 {
            let shards = (1..=16).map(|number| Shard { number, of: 16 });
            assert_eq!(shards.filter(|shard| shard.has(item)).count(), 1);
        }
    }

    #[test]
    fn shares_are_read_and_written() {
        let shard: Shard = "3/16".parse().unwrap();
        assert_eq!((shard.number, shard.of), (3, 16));
        assert_eq!(shard.to_string(), "3/16");
        for wrong in ["", "3", "0/16", "17/16", "a/2", "1/0", "-1/2", "1/2/3"] {
            assert_eq!(wrong.parse::<Shard>(), Err(NoShard), "{wrong}");
        }
    }
}
