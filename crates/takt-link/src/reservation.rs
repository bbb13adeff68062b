//! Room for one message in a link: reserved, written, and then committed once.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::error::LinkError;
use crate::launch_time::LaunchTime;

/// Room for one message, which is written through [`DerefMut`] and then queued by [`commit`](Self::commit). If it is dropped
/// instead, nothing is sent.
///
/// It borrows the link, so that there is one reservation at a time, and `commit` takes it, so that each message is sent at most
/// once:
///
/// ```compile_fail,E0382
/// # fn send(sender: &mut dyn takt_link::Sender) -> Result<(), takt_link::LinkError> {
/// let message = sender.reserve(4)?;
/// message.commit()?;
/// message.commit()?; // error: use of moved value
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0499
/// # fn send(sender: &mut dyn takt_link::Sender) -> Result<(), takt_link::LinkError> {
/// let first = sender.reserve(4)?;
/// let second = sender.reserve(4)?; // error: the link is borrowed already
/// first.commit()
/// # }
/// ```
#[must_use = "nothing is sent without `commit`"]
pub struct Reservation<'a> {
    place: Place<'a>,
}

/// Memory to which a message is written, and the queue that takes it.
enum Place<'a> {
    /// Memory of the link.
    Own {
        message: &'a mut [u8],
        queue: &'a mut dyn Queue,
    },
    /// Memory that iceoryx2 has lent.
    #[cfg(feature = "iox2")]
    Loaned(crate::loan::Loan<'a>),
}

/// Queue of a link whose messages are written to memory of the link.
pub(crate) trait Queue {
    /// Queues the message that was written.
    fn commit(&mut self, message: &[u8], launch_time: Option<LaunchTime>);
}

impl<'a> Reservation<'a> {
    #[inline]
    pub(crate) fn own(message: &'a mut [u8], queue: &'a mut dyn Queue) -> Self {
        Self {
            place: Place::Own { message, queue },
        }
    }

    #[cfg(feature = "iox2")]
    #[inline]
    pub(crate) fn loaned(loan: crate::loan::Loan<'a>) -> Self {
        Self {
            place: Place::Loaned(loan),
        }
    }

    /// Queues the message; a link without batches sends it.
    ///
    /// # Errors
    /// [`LinkError::Iceoryx2`].
    #[inline]
    pub fn commit(self) -> Result<(), LinkError> {
        self.commit_at(None)
    }

    /// Queues the message as [`commit`](Self::commit) does, with the time at which the message shall leave this host. Links
    /// without [`LinkOptions::launch_times`](crate::LinkOptions::launch_times) ignore it, as do `opc.iox2` and MQTT.
    ///
    /// # Errors
    /// The errors are those of [`commit`](Self::commit).
    #[inline]
    pub fn commit_at(self, launch_time: Option<LaunchTime>) -> Result<(), LinkError> {
        match self.place {
            Place::Own { message, queue } => {
                queue.commit(message, launch_time);
                Ok(())
            }
            #[cfg(feature = "iox2")]
            Place::Loaned(loan) => loan.commit(),
        }
    }
}

impl Deref for Reservation<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.place {
            Place::Own { message, .. } => message,
            #[cfg(feature = "iox2")]
            Place::Loaned(loan) => loan,
        }
    }
}

impl DerefMut for Reservation<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.place {
            Place::Own { message, .. } => message,
            #[cfg(feature = "iox2")]
            Place::Loaned(loan) => loan,
        }
    }
}

impl fmt::Debug for Reservation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation")
            .field("length", &self.len())
            .finish_non_exhaustive()
    }
}
