//! Links of responses.

use takt_link::{Address, LinkCounters, LinkError, Sender, open_sender};

use super::links::ActionLinks;
use crate::action::ActionTransmit;
use crate::losses::Losses;
use crate::runtime::links::LinkPlan;

/// Maximum number of links that are kept for ResponseAddresses, so that a Requestor cannot make the Responder open any number.
const MAX_RESPONSE_LINKS: usize = 64;

/// Links for responses: the default one, and those of Requestors' ResponseAddresses.
pub(super) struct Responses {
    usual: Option<Box<dyn Sender>>,
    asked_for: Vec<(String, Box<dyn Sender>)>,
    /// Numbers of links that were closed.
    closed: LinkCounters,
}

impl Responses {
    /// Opens the default link, if there is one.
    pub(super) fn open(usual: Option<&LinkPlan>) -> Result<Self, LinkError> {
        let usual = usual.map(|link| open_sender(&link.address, &link.options));
        Ok(Self {
            usual: usual.transpose()?,
            asked_for: Vec::new(),
            closed: LinkCounters::default(),
        })
    }

    /// Returns the length of the longest message of the default link, if there is one.
    pub(super) fn max_message_size(&self) -> Option<usize> {
        self.usual.as_ref().map(|sender| sender.max_message_size())
    }

    /// Adds the messages that the links have lost.
    pub(super) fn add_losses(&self, losses: &mut Losses) {
        losses.add_link(&self.closed);
        let asked_for = self.asked_for.iter().map(|(_, sender)| sender);
        for sender in self.usual.iter().chain(asked_for) {
            losses.add_link(&sender.counters());
        }
    }

    /// Sends a response. One that is not sent is requested again, or given up by the Requestor.
    pub(super) fn send(
        &mut self,
        links: &ActionLinks,
        transmit: ActionTransmit,
    ) -> Result<(), LinkError> {
        let sender = match &transmit.response_address {
            Some(address) => self.sender_to(links, address)?,
            None => self.usual.as_mut(),
        };
        // Without an address for responses, requests are not answered.
        sender.map_or(Ok(()), |sender| sender.send(&transmit.bytes))
    }

    /// Returns a sender to a ResponseAddress: a topic of the same broker, or an `opc.udp` URL if requests come by UDP. `None` for an
    /// address that cannot be sent to.
    fn sender_to(
        &mut self,
        links: &ActionLinks,
        wanted: &str,
    ) -> Result<Option<&mut Box<dyn Sender>>, LinkError> {
        let known = self
            .asked_for
            .iter()
            .position(|(address, _)| address == wanted);
        if let Some(index) = known {
            return Ok(self.asked_for.get_mut(index).map(|(_, sender)| sender));
        }
        let mut plan = links.request.clone();
        if plan.address.has_topics() {
            // A topic with a wildcard cannot be sent to.
            if wanted.contains(['+', '#']) {
                return Ok(None);
            }
            plan.options.mqtt.topic = wanted.to_owned();
        } else if plan.address.is_udp() {
            let Some(address) = Address::parse(wanted).ok().filter(Address::is_udp) else {
                return Ok(None);
            };
            plan.address = address;
        } else {
            return Ok(self.usual.as_mut());
        }
        let sender = open_sender(&plan.address, &plan.options)?;
        if self.asked_for.len() >= MAX_RESPONSE_LINKS {
            let (_, sender) = self.asked_for.remove(0);
            self.closed += sender.close();
        }
        self.asked_for.push((wanted.to_owned(), sender));
        Ok(self.asked_for.last_mut().map(|(_, sender)| sender))
    }
}
