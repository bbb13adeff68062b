//! Links of responses.

use std::net::IpAddr;

use takt_link::{Address, LinkCounters, LinkError, Sender, open_sender};

use super::links::ActionLinks;
use crate::action::ActionTransmit;
use crate::losses::Losses;
use crate::runtime::links::LinkPlan;

/// Maximum number of sockets that are kept for ResponseAddresses, so that a Requestor cannot make the Responder open any number.
const MAX_RESPONSE_LINKS: usize = 64;

/// Links for responses: the default one, and those of Requestors' ResponseAddresses with UDP.
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
            // All topics share one connection to the broker.
            Some(topic) if links.request.address.has_topics() => {
                let usual = self.usual.as_mut();
                return usual.map_or(Ok(()), |sender| {
                    sender.send_to_topic(topic, &transmit.bytes)
                });
            }
            Some(address) if links.request.address.is_udp() => {
                Some(self.sender_to(links, address)?)
            }
            _ => self.usual.as_mut(),
        };
        // Without an address for responses, requests are not answered.
        sender.map_or(Ok(()), |sender| sender.send(&transmit.bytes))
    }

    /// Returns a sender to an `opc.udp` URL.
    ///
    /// # Errors
    /// The address is another one. The name of a host is not accepted: each request could have the Responder wait for another name.
    fn sender_to(
        &mut self,
        links: &ActionLinks,
        wanted: &str,
    ) -> Result<&mut Box<dyn Sender>, LinkError> {
        let known = self
            .asked_for
            .iter()
            .position(|(address, _)| address == wanted);
        let index = match known {
            Some(index) => index,
            None => {
                let address = Address::parse(wanted).ok().filter(has_ip_address);
                let address = address.ok_or_else(|| refused(wanted))?;
                let sender = open_sender(&address, &links.request.options)?;
                if self.asked_for.len() >= MAX_RESPONSE_LINKS {
                    // The oldest one goes. The next response to its address opens it again.
                    let (_, sender) = self.asked_for.remove(0);
                    self.closed += sender.close();
                }
                self.asked_for.push((wanted.to_owned(), sender));
                self.asked_for.len() - 1
            }
        };
        let found = self.asked_for.get_mut(index);
        found
            .map(|(_, sender)| sender)
            .ok_or_else(|| refused(wanted))
    }
}

/// Returns true for UDP to an IP address, which may have a zone.
fn has_ip_address(address: &Address) -> bool {
    matches!(address, Address::Udp { host, .. }
        if host.split('%').next().is_some_and(|host| host.parse::<IpAddr>().is_ok()))
}

fn refused(wanted: &str) -> LinkError {
    LinkError::Option {
        option: "ResponseAddress",
        // Any sender chooses this text, so only its beginning is reported.
        value: wanted.chars().take(100).collect(),
        expected: "opc.udp:// with an IP address",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::cell::RefCell;
    use std::rc::Rc;

    use takt_link::{LinkOptions, LinkState, Reservation};

    /// Messages with their topics.
    type Sent = Rc<RefCell<Vec<(String, Vec<u8>)>>>;

    /// Sender that notes the messages to topics.
    struct Noting(Sent);

    impl Sender for Noting {
        fn reserve(&mut self, _: usize) -> Result<Reservation<'_>, LinkError> {
            panic!("each response has its own topic");
        }

        fn flush(&mut self) -> Result<usize, LinkError> {
            Ok(0)
        }

        fn state(&self) -> LinkState {
            LinkState::Up
        }

        fn max_message_size(&self) -> usize {
            1000
        }

        fn counters(&self) -> LinkCounters {
            LinkCounters::default()
        }

        fn send_to_topic(&mut self, topic: &str, message: &[u8]) -> Result<(), LinkError> {
            self.0
                .borrow_mut()
                .push((topic.to_owned(), message.to_vec()));
            Ok(())
        }
    }

    #[test]
    fn responses_to_many_topics_share_one_connection() {
        let sent = Sent::default();
        let mut responses = Responses {
            usual: Some(Box::new(Noting(Rc::clone(&sent)))),
            asked_for: Vec::new(),
            closed: LinkCounters::default(),
        };
        let request = LinkPlan {
            address: Address::parse("mqtt://127.0.0.1:1").unwrap(),
            options: LinkOptions::default(),
        };
        let links = ActionLinks {
            request,
            response: None,
        };
        for number in 0..1000_u32 {
            let transmit = ActionTransmit {
                response_address: Some(format!("hmi/{number}")),
                bytes: vec![1],
            };
            responses.send(&links, transmit).unwrap();
        }
        assert!(responses.asked_for.is_empty());
        let sent = sent.borrow();
        assert_eq!(sent.len(), 1000);
        assert_eq!(sent[999], ("hmi/999".to_owned(), vec![1]));
    }

    #[test]
    fn names_of_hosts_are_not_resolved_for_requestors() {
        let mut responses = Responses::open(None).unwrap();
        let request = LinkPlan {
            address: Address::parse("opc.udp://127.0.0.1:4841").unwrap(),
            options: LinkOptions::default(),
        };
        let links = ActionLinks {
            request,
            response: None,
        };
        let mut answer = |address: &str| {
            let transmit = ActionTransmit {
                response_address: Some(address.to_owned()),
                bytes: vec![1],
            };
            responses.send(&links, transmit)
        };
        for address in ["opc.udp://127.0.0.1:4842", "opc.udp://[::1]:4842"] {
            let outcome = answer(address);
            assert!(!matches!(outcome, Err(LinkError::Option { .. })));
        }
        for address in [
            "opc.udp://hmi.example:4842",
            "opc.eth://01-00-5E-00-00-01",
            "",
        ] {
            let outcome = answer(address);
            assert!(
                matches!(outcome, Err(LinkError::Option { .. })),
                "{address}"
            );
        }
    }
}
