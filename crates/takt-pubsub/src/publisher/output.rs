//! Where messages go.

/// Takes messages, which are written where they will be sent from: a batch, or loaned shared memory.
pub trait Output {
    /// Why a message is not taken.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The longest message that can be sent, in bytes.
    fn max_message_size(&self) -> usize;

    /// Room for one message of so many bytes. What was reserved, and not [committed](Self::commit), is given back.
    fn reserve(&mut self, length: usize) -> Result<&mut [u8], Self::Error>;

    /// The message that was reserved is complete.
    fn commit(&mut self) -> Result<(), Self::Error>;
}

/// Keeps messages: for tests, and for those who have their own way to the wire.
impl Output for Vec<Vec<u8>> {
    type Error = std::convert::Infallible;

    fn max_message_size(&self) -> usize {
        usize::MAX
    }

    fn reserve(&mut self, length: usize) -> Result<&mut [u8], Self::Error> {
        self.push(vec![0; length]);
        Ok(self.last_mut().map(Vec::as_mut_slice).unwrap_or_default())
    }

    fn commit(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}
