//! Protocols: each divides a stream or a datagram into messages, and says what each message is for. No byte is left out: a rest that
//! is no message of the protocol has a name of its own.

mod divide;
mod http2;
mod mqtt;
mod nats;
mod recognise;
mod ros;
mod rtps;
mod tls;
mod uacp;
mod zenoh;

pub(super) use recognise::{datagram, stream};
