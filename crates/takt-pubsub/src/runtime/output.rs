//! Link as the destination of a WriterGroup's messages.

use takt_link::{LaunchTime, LinkError, Reservation, Sender};

use crate::publisher::{Output, Reserved};

/// Link to which messages are written. Committed messages are sent by the next [`flush`](Sender::flush) of the link.
pub struct LinkOutput<'l> {
    link: &'l mut dyn Sender,
    launch_time: Option<LaunchTime>,
}

impl<'l> LinkOutput<'l> {
    /// Creates an output whose messages have no launch time.
    #[inline]
    pub fn new(link: &'l mut dyn Sender) -> Self {
        Self {
            link,
            launch_time: None,
        }
    }

    /// Sets the launch time of all messages. Links without [`LinkOptions::launch_times`](takt_link::LinkOptions::launch_times)
    /// ignore it.
    #[must_use]
    #[inline]
    pub fn with_launch_time(mut self, launch_time: Option<LaunchTime>) -> Self {
        self.launch_time = launch_time;
        self
    }
}

impl Output for LinkOutput<'_> {
    type Error = LinkError;
    type Reservation<'a>
        = LinkReservation<'a>
    where
        Self: 'a;

    #[inline]
    fn max_message_size(&self) -> usize {
        self.link.max_message_size()
    }

    #[inline]
    fn reserve(&mut self, length: usize) -> Result<LinkReservation<'_>, LinkError> {
        Ok(LinkReservation {
            reservation: self.link.reserve(length)?,
            launch_time: self.launch_time,
        })
    }
}

/// Room for one message in a link.
#[derive(Debug)]
pub struct LinkReservation<'a> {
    reservation: Reservation<'a>,
    launch_time: Option<LaunchTime>,
}

impl AsMut<[u8]> for LinkReservation<'_> {
    #[inline]
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.reservation
    }
}

impl Reserved for LinkReservation<'_> {
    type Error = LinkError;

    #[inline]
    fn commit(self) -> Result<(), LinkError> {
        self.reservation.commit_at(self.launch_time)
    }
}
