//! Destination of messages.

/// Destination of messages, which are written to the memory from which they will be sent: a batch, or loaned shared memory.
pub trait Output {
    /// Error of an output that does not take a message.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Room for one message.
    type Reservation<'a>: Reserved<Error = Self::Error>
    where
        Self: 'a;

    /// Returns the length of the longest message, in bytes.
    fn max_message_size(&self) -> usize;

    /// Reserves room for one message of `length` bytes; its content is undefined.
    ///
    /// # Errors
    /// There is no room.
    fn reserve(&mut self, length: usize) -> Result<Self::Reservation<'_>, Self::Error>;
}

/// Room for one message in an [`Output`]. If it is dropped without [`commit`](Self::commit), nothing is sent.
pub trait Reserved: AsMut<[u8]> {
    /// Error of an output that does not take a message.
    type Error;

    /// Passes the complete message on.
    ///
    /// # Errors
    /// The message is not taken.
    fn commit(self) -> Result<(), Self::Error>;
}

/// Output that keeps messages: for tests, and for applications with their own link.
impl Output for Vec<Vec<u8>> {
    type Error = std::convert::Infallible;
    type Reservation<'a> = KeptMessage<'a>;

    fn max_message_size(&self) -> usize {
        usize::MAX
    }

    fn reserve(&mut self, length: usize) -> Result<KeptMessage<'_>, Self::Error> {
        Ok(KeptMessage {
            message: vec![0; length],
            messages: self,
        })
    }
}

/// Message that is kept in a `Vec` when it is committed.
#[derive(Debug)]
pub struct KeptMessage<'a> {
    message: Vec<u8>,
    messages: &'a mut Vec<Vec<u8>>,
}

impl AsMut<[u8]> for KeptMessage<'_> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.message
    }
}

impl Reserved for KeptMessage<'_> {
    type Error = std::convert::Infallible;

    fn commit(self) -> Result<(), Self::Error> {
        self.messages.push(self.message);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_message_that_is_not_committed_is_not_kept() {
        let mut messages: Vec<Vec<u8>> = Vec::new();
        drop(Output::reserve(&mut messages, 3).unwrap());
        let mut message = Output::reserve(&mut messages, 2).unwrap();
        message.as_mut().fill(7);
        message.commit().unwrap();
        assert_eq!(messages, [[7, 7]]);
    }
}
