//! From a WriterGroup to a link.

use takt_link::{LinkError, Sender};

use crate::publisher::Output;

/// A link that messages are made in, where they are sent from. What is committed goes out with the link's next
/// [`flush`](Sender::flush).
pub struct LinkOutput<'a>(pub &'a mut dyn Sender);

impl Output for LinkOutput<'_> {
    type Error = LinkError;

    #[inline]
    fn max_message_size(&self) -> usize {
        self.0.max_message_size()
    }

    #[inline]
    fn reserve(&mut self, length: usize) -> Result<&mut [u8], Self::Error> {
        self.0.reserve(length)
    }

    #[inline]
    fn commit(&mut self) -> Result<(), Self::Error> {
        self.0.commit()
    }
}
