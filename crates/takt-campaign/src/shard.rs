//! Shares of a campaign, for several processes or hosts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Greatest number of shares of a campaign.
const MOST_SHARES: u32 = 65_536;

/// Share of a campaign: each `of`-th case and backend, from the `number`-th on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "WrittenShard")]
pub struct Shard {
    /// Number of the share, from 1.
    pub number: u32,
    /// Number of all shares.
    pub of: u32,
}

/// Share as a file has it, before its numbers are checked.
#[derive(Deserialize)]
struct WrittenShard {
    number: u32,
    of: u32,
}

/// Text that is no share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a share is written as its number and the number of all shares, at most {MOST_SHARES}, for example 3/16"
)]
pub struct NoShard;

impl TryFrom<WrittenShard> for Shard {
    type Error = NoShard;

    fn try_from(WrittenShard { number, of }: WrittenShard) -> Result<Self, NoShard> {
        match of <= MOST_SHARES && (1..=of).contains(&number) {
            true => Ok(Self { number, of }),
            false => Err(NoShard),
        }
    }
}

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
        WrittenShard { number, of }.try_into()
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
        let read = |text: &str| serde_json::from_str::<Shard>(text);
        assert_eq!(read(r#"{"number":3,"of":16}"#).unwrap(), shard);
        for (number, of) in [(0, 16), (17, 16), (1, 0), (1, u32::MAX), (1, 65_537)] {
            let text = format!(r#"{{"number":{number},"of":{of}}}"#);
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains("at most 65536"), "{error}");
            assert!(format!("{number}/{of}").parse::<Shard>().is_err());
        }
        for wrong in ["", "3", "0/16", "17/16", "a/2", "1/0", "-1/2", "1/2/3"] {
            assert_eq!(wrong.parse::<Shard>(), Err(NoShard), "{wrong}");
        }
    }
}
