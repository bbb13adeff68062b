//! Ways of PubSub messages to the wire: one module per way. Bytes are sent and received; what they mean is
//! `takt-wire`'s and `takt-pubsub`'s business.
