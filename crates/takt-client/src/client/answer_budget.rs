//! Memory that the answers of a server take while a client collects them.

use takt_ua::binary::{Encode, Encoder};

use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// Limit of the memory that answers of a server take together, and the memory that they have taken so far, in bytes.
///
/// Everything that takes several answers counts them while they come: a server may send them without end. One answer counts
/// while it is decoded ([`ClientOptions::max_memory`](super::ClientOptions::max_memory)).
#[derive(Debug, Clone)]
pub struct AnswerBudget {
    limit: usize,
    used: usize,
    /// Encoding of the last item.
    encoded: Vec<u8>,
}

impl AnswerBudget {
    /// Creates a budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            used: 0,
            encoded: Vec::new(),
        }
    }

    /// Returns the limit in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the memory taken so far, in bytes.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used
    }

    /// Takes the memory of items: their size, and the length of their encoding for everything that they point to.
    ///
    /// # Errors
    /// [`ClientError::TooMuch`] if the limit is exceeded; `of` names the items in it.
    pub fn take<T: Encode>(
        &mut self,
        endpoint: &Endpoint,
        of: &'static str,
        items: &[T],
    ) -> Result<(), ClientError> {
        for item in items {
            self.encoded.clear();
            let mut encoder = Encoder::growing(&mut self.encoded, usize::MAX);
            let fits = item.encode(&mut encoder).is_ok();
            let length = if fits { encoder.position() } else { usize::MAX };
            self.take_bytes(endpoint, of, length.saturating_add(size_of::<T>()))?;
        }
        Ok(())
    }

    /// Takes `bytes`.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn take_bytes(
        &mut self,
        endpoint: &Endpoint,
        of: &'static str,
        bytes: usize,
    ) -> Result<(), ClientError> {
        self.used = self.used.saturating_add(bytes);
        match self.used <= self.limit {
            true => Ok(()),
            false => Err(ClientError::too_much(endpoint, of, self.limit)),
        }
    }

    /// Gives back what was taken after `used` was returned by [`used`](Self::used).
    pub fn return_to(&mut self, used: usize) {
        self.used = self.used.min(used);
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::UaString;

    use super::*;

    #[test]
    fn items_count_their_size_and_what_they_point_to() {
        let endpoint: Endpoint = "opc.tcp://127.0.0.1:4840".parse().unwrap();
        let one = 4 + 100 + size_of::<UaString>();
        let mut budget = AnswerBudget::new(2 * one);
        let text = [UaString::from("x".repeat(100).as_str())];
        budget.take(&endpoint, "texts", &text).unwrap();
        assert_eq!(budget.used(), one);
        budget.take(&endpoint, "texts", &text).unwrap();
        let error = budget.take(&endpoint, "texts", &text).unwrap_err();
        let shown = error.to_string();
        for part in [&*format!("{} bytes of texts", 2 * one), "max_memory"] {
            assert!(shown.contains(part), "{shown}");
        }
        budget.return_to(one);
        budget.take(&endpoint, "texts", &text).unwrap();
    }
}
