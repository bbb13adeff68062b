//! Well-formed requests over either transport, sent without a wait for the answers. Answers are read later or never.

use std::time::Duration;

use takt_rt::child::ChildError;
use takt_shm::{ClientConfig, ShmClient, ShmError};
use takt_tcp::{TcpClient, TcpClientConfig, TcpClientError};
use takt_ua::binary::Decode;
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, ApplicationDescription, CreateSessionRequest,
    CreateSessionResponse, CreateSubscriptionRequest, CreateSubscriptionResponse, RequestHeader,
};
use takt_ua::{ByteString, LocalizedText, NodeId, Structure, UaString};

use crate::request;
use crate::target::Attacker;

/// Longest wait of an attacker for the server; later it counts as a refusal.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Interval at which an attacker checks for the end of the attack.
pub(crate) const STEP: Duration = Duration::from_millis(50);

/// Session timeout of attackers. It is short, so that resources left behind by closed connections differ from resources still
/// held.
pub(crate) const SESSION_MILLIS: f64 = 2000.0;

/// Failure to send a message or to receive its answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Lost {
    #[error(transparent)]
    Tcp(#[from] TcpClientError),
    #[error(transparent)]
    SharedMemory(#[from] ShmError),
    #[error("the answer is not {expected}: {reason}")]
    Answer {
        expected: &'static str,
        reason: String,
    },
    #[error(transparent)]
    System(#[from] std::io::Error),
    #[error("the process of a client {0}")]
    Child(#[from] ChildError),
    #[error("the victim {0}")]
    Victim(&'static str),
}

impl Lost {
    /// Returns true if the connection still works.
    fn is_timeout(&self) -> bool {
        matches!(
            self,
            Self::Tcp(TcpClientError::Timeout)
                | Self::SharedMemory(ShmError::Timeout | ShmError::Busy(_))
        )
    }
}

/// Transport to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Tcp,
    SharedMemory,
}

/// An open SecureChannel, or a channel in shared memory.
pub(crate) enum Channel {
    Tcp(Box<TcpClient>),
    SharedMemory(Box<ShmClient>),
}

impl Channel {
    pub(crate) fn open(attacker: &mut Attacker<'_>, way: Way) -> Result<Self, Lost> {
        let channel = match way {
            Way::Tcp => {
                let url = &attacker.endpoints.tcp;
                let client = TcpClient::connect(url, TcpClientConfig::default(), PATIENCE)?;
                Self::Tcp(Box::new(client))
            }
            Way::SharedMemory => {
                let config = ClientConfig {
                    runtime_directory: attacker.target.runtime_directory.clone(),
                    ..ClientConfig::default()
                };
                let client = ShmClient::connect(&attacker.endpoints.name, &config, PATIENCE)?;
                Self::SharedMemory(Box::new(client))
            }
        };
        attacker.tally.connections += 1;
        Ok(channel)
    }

    /// Sends a message: TypeId and structure. Returns true if the server took it within `patience`.
    pub(crate) fn send(
        &mut self,
        attacker: &mut Attacker<'_>,
        message: &[u8],
        patience: Duration,
    ) -> Result<bool, Lost> {
        let sent = match self {
            Self::Tcp(client) => client
                .send(patience, |encoder| encoder.bytes(message))
                .map(drop)
                .map_err(Lost::from),
            Self::SharedMemory(client) => client
                .send(|encoder| encoder.bytes(message), patience)
                .map(drop)
                .map_err(Lost::from),
        };
        match sent {
            Ok(()) => {
                attacker.tally.messages += 1;
                Ok(true)
            }
            Err(lost) if lost.is_timeout() => Ok(false),
            Err(lost) => Err(lost),
        }
    }

    /// Sends a message. It waits for the server until the attack ends.
    pub(crate) fn push(&mut self, attacker: &mut Attacker<'_>, message: &[u8]) -> Result<(), Lost> {
        let mut sent = self.send(attacker, message, PATIENCE)?;
        while !sent && attacker.goes_on() {
            sent = match self {
                // The message is in the buffer already.
                Self::Tcp(client) => match client.maintain(STEP) {
                    Ok(()) => true,
                    Err(TcpClientError::Timeout) => false,
                    Err(error) => return Err(error.into()),
                },
                Self::SharedMemory(_) => {
                    self.receive(attacker, STEP)?;
                    self.send(attacker, message, STEP)?
                }
            };
        }
        Ok(())
    }

    /// Returns the next response, or none if it does not come in time.
    pub(crate) fn receive(
        &mut self,
        attacker: &mut Attacker<'_>,
        patience: Duration,
    ) -> Result<Option<Vec<u8>>, Lost> {
        let received = match self {
            Self::Tcp(client) => client
                .receive(patience)
                .map(|(_, body)| body.to_vec())
                .map_err(Lost::from),
            Self::SharedMemory(client) => client
                .receive(patience)
                .map(|(_, body)| body.map(<[u8]>::to_vec).unwrap_or_default())
                .map_err(Lost::from),
        };
        match received {
            Ok(body) => {
                attacker.tally.responses += 1;
                Ok(Some(body))
            }
            Err(lost) if lost.is_timeout() => Ok(None),
            Err(lost) => Err(lost),
        }
    }

    /// Sends a request and waits for its response, which must be an `R`.
    pub(crate) fn call<R: Structure + for<'a> Decode<'a>>(
        &mut self,
        attacker: &mut Attacker<'_>,
        request: &impl Structure,
    ) -> Result<R, Lost> {
        let wrong = |reason| Lost::Answer {
            expected: R::NAME,
            reason,
        };
        self.push(attacker, &request::message(request))?;
        let response = self
            .receive(attacker, PATIENCE)?
            .ok_or_else(|| wrong("none came".to_owned()))?;
        request::decode(&response).map_err(wrong)
    }
}

/// A channel with an activated Session.
pub(crate) struct Session {
    pub(crate) channel: Channel,
    pub(crate) token: NodeId,
}

impl Session {
    /// Connects and opens a Session.
    pub(crate) fn open(attacker: &mut Attacker<'_>, way: Way) -> Result<Self, Lost> {
        let channel = Channel::open(attacker, way)?;
        Self::open_on(attacker, channel, "urn:takt:bench:attack")
    }

    /// Opens a Session of an application with the ApplicationUri `uri`.
    pub(crate) fn open_on(
        attacker: &mut Attacker<'_>,
        channel: Channel,
        uri: &str,
    ) -> Result<Self, Lost> {
        Self::open_for(attacker, channel, uri, SESSION_MILLIS)
    }

    /// Opens a Session with a timeout in milliseconds.
    pub(crate) fn open_for(
        attacker: &mut Attacker<'_>,
        mut channel: Channel,
        uri: &str,
        timeout: f64,
    ) -> Result<Self, Lost> {
        let token = create(attacker, &mut channel, uri, timeout)?;
        let activate = ActivateSessionRequest {
            request_header: request::header(&token),
            ..ActivateSessionRequest::default()
        };
        let _: ActivateSessionResponse = channel.call(attacker, &activate)?;
        Ok(Self { channel, token })
    }

    /// Returns the header of a request. Its timeout hint is 0, so that the server sets no time limit.
    pub(crate) fn header(&self) -> RequestHeader {
        RequestHeader {
            timeout_hint: 0,
            ..request::header(&self.token)
        }
    }

    /// Creates a Subscription with an interval of 100 ms and returns its id.
    pub(crate) fn subscribe(&mut self, attacker: &mut Attacker<'_>) -> Result<u32, Lost> {
        self.subscribe_for(attacker, 30)
    }

    /// Creates a Subscription with an interval of 100 ms and a lifetime of that many intervals, and returns its id.
    pub(crate) fn subscribe_for(
        &mut self,
        attacker: &mut Attacker<'_>,
        lifetime: u32,
    ) -> Result<u32, Lost> {
        let create = CreateSubscriptionRequest {
            request_header: self.header(),
            requested_publishing_interval: 100.0,
            requested_lifetime_count: lifetime,
            requested_max_keep_alive_count: 10,
            publishing_enabled: true,
            ..CreateSubscriptionRequest::default()
        };
        let created: CreateSubscriptionResponse = self.channel.call(attacker, &create)?;
        Ok(created.subscription_id)
    }

    /// Sends one message repeatedly until the attack ends, with at most `unanswered` requests at a time. Without reading answers,
    /// an attacker sends only that many.
    pub(crate) fn repeat(
        &mut self,
        attacker: &mut Attacker<'_>,
        message: &[u8],
        unanswered: usize,
    ) -> Result<(), Lost> {
        for _ in 0..unanswered {
            self.channel.push(attacker, message)?;
        }
        while attacker.goes_on() {
            if self.channel.receive(attacker, STEP)?.is_some() {
                self.channel.push(attacker, message)?;
            }
        }
        Ok(())
    }
}

/// Sends CreateSession and returns the authentication token.
pub(crate) fn create(
    attacker: &mut Attacker<'_>,
    channel: &mut Channel,
    uri: &str,
    timeout: f64,
) -> Result<NodeId, Lost> {
    let text = |text: &str| UaString::from(text);
    let request = CreateSessionRequest {
        request_header: request::header(&NodeId::NULL),
        client_description: ApplicationDescription {
            application_uri: text(uri),
            application_name: LocalizedText::from("Attack"),
            ..ApplicationDescription::default()
        },
        session_name: text("Attack"),
        client_nonce: ByteString::from(vec![0; 32]),
        requested_session_timeout: timeout,
        ..CreateSessionRequest::default()
    };
    let created: CreateSessionResponse = channel.call(attacker, &request)?;
    Ok(created.authentication_token)
}
