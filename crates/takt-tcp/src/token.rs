//! Security tokens: which one secures what is sent, and which ones are accepted (OPC 10000-4 5.6.2.1,
//! OPC 10000-6 6.7.4).

use std::time::{Duration, Instant};

use crate::error::TransportError;
use crate::security::{ChunkSecurity, TokenSecurity};

/// One security token with its keys.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) id: u32,
    created: Instant,
    lifetime: Duration,
    security: TokenSecurity,
}

impl Token {
    pub(crate) fn new(
        id: u32,
        created: Instant,
        lifetime: Duration,
        security: TokenSecurity,
    ) -> Self {
        Self {
            id,
            created,
            lifetime,
            security,
        }
    }

    pub(crate) fn send(&self) -> &dyn ChunkSecurity {
        &*self.security.send
    }

    fn expires(&self) -> Instant {
        self.created + self.lifetime
    }

    /// When a client renews: after 75 % of the lifetime.
    pub(crate) fn renew_at(&self) -> Instant {
        self.created + self.lifetime / 4 * 3
    }

    /// Messages secured with an expired token are accepted for another 25 % of its lifetime, because clocks
    /// differ and messages take time.
    pub(crate) fn accepted_until(&self) -> Instant {
        self.expires() + self.lifetime / 4
    }

    fn accepts(&self, id: u32, now: Instant) -> bool {
        self.id == id && now < self.accepted_until()
    }
}

/// A server's tokens. A renewed one is not used for sending before the client has used it, because until then
/// the client may not know it.
#[derive(Debug)]
pub(crate) struct ServerTokens {
    current: Token,
    renewed: Option<Token>,
}

impl ServerTokens {
    pub(crate) fn new(first: Token) -> Self {
        Self {
            current: first,
            renewed: None,
        }
    }

    /// Adds a renewed token; one that the client never used is forgotten.
    pub(crate) fn renew(&mut self, token: Token) {
        self.renewed = Some(token);
    }

    /// The security for a chunk that names token `id`.
    pub(crate) fn receive(
        &self,
        id: u32,
        now: Instant,
    ) -> Result<&dyn ChunkSecurity, TransportError> {
        if self.current.accepts(id, now) {
            return Ok(&*self.current.security.receive);
        }
        match &self.renewed {
            Some(token) if token.accepts(id, now) => Ok(&*token.security.receive),
            _ => Err(TransportError::TokenUnknown(id)),
        }
    }

    /// The client has used token `id` in a chunk that was verified: from the first use of a renewed one on, the
    /// old one is no longer accepted.
    pub(crate) fn used(&mut self, id: u32) {
        if self.current.id != id
            && let Some(renewed) = self.renewed.take_if(|token| token.id == id)
        {
            self.current = renewed;
        }
    }

    /// The token for sending: the current one until it expires.
    pub(crate) fn sending(&self, now: Instant) -> &Token {
        match &self.renewed {
            Some(renewed) if now >= self.current.expires() => renewed,
            _ => &self.current,
        }
    }

    /// When no token will be accepted any more.
    pub(crate) fn accepted_until(&self) -> Instant {
        let current = self.current.accepted_until();
        match &self.renewed {
            Some(token) => current.max(token.accepted_until()),
            None => current,
        }
    }
}

/// A client's tokens. A renewed one is used at once; the one before is accepted while responses secured with it may
/// be under way.
#[derive(Debug)]
pub(crate) struct ClientTokens {
    current: Token,
    previous: Option<Token>,
}

impl ClientTokens {
    pub(crate) fn new(first: Token) -> Self {
        Self {
            current: first,
            previous: None,
        }
    }

    pub(crate) fn renew(&mut self, token: Token) {
        self.previous = Some(std::mem::replace(&mut self.current, token));
    }

    pub(crate) fn current(&self) -> &Token {
        &self.current
    }

    /// The security for a chunk that names token `id`.
    pub(crate) fn receive(
        &self,
        id: u32,
        now: Instant,
    ) -> Result<&dyn ChunkSecurity, TransportError> {
        if self.current.accepts(id, now) {
            return Ok(&*self.current.security.receive);
        }
        match &self.previous {
            Some(token) if token.accepts(id, now) => Ok(&*token.security.receive),
            _ => Err(TransportError::TokenUnknown(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::{NoSecurity, Role, SecurityPolicy};
    use takt_ua::enumerations::MessageSecurityMode;

    fn token(id: u32, created: Instant) -> Token {
        let security = NoSecurity.symmetric(Role::Server, MessageSecurityMode::None, &[], &[]);
        Token::new(id, created, Duration::from_secs(100), security.unwrap())
    }

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_server_waits_for_the_client_before_it_uses_a_new_token() {
        let start = Instant::now();
        let mut tokens = ServerTokens::new(token(1, start));
        assert!(tokens.receive(1, start).is_ok());
        assert!(tokens.receive(2, start).is_err());

        let renewal = after(start, 75);
        tokens.renew(token(2, renewal));
        assert_eq!(tokens.sending(renewal).id, 1);
        assert!(tokens.receive(1, renewal).is_ok());
        assert!(tokens.receive(2, renewal).is_ok());
        // The client never speaks: the old one expires, so the new one is used.
        assert_eq!(tokens.sending(after(start, 100)).id, 2);

        tokens.used(2);
        assert_eq!(tokens.sending(renewal).id, 2);
        assert_eq!(
            tokens.receive(1, renewal).unwrap_err(),
            TransportError::TokenUnknown(1)
        );
        assert_eq!(tokens.accepted_until(), after(start, 75 + 125));
    }

    #[test]
    fn an_expired_token_is_accepted_for_a_quarter_of_its_lifetime() {
        let start = Instant::now();
        let tokens = ServerTokens::new(token(1, start));
        assert!(tokens.receive(1, after(start, 124)).is_ok());
        assert!(tokens.receive(1, after(start, 125)).is_err());
        assert_eq!(token(1, start).renew_at(), after(start, 75));
    }

    #[test]
    fn an_unused_renewal_is_replaced_by_the_next() {
        let start = Instant::now();
        let mut tokens = ServerTokens::new(token(1, start));
        tokens.renew(token(2, start));
        tokens.renew(token(3, start));
        tokens.used(1);
        assert!(tokens.receive(1, start).is_ok());
        assert!(tokens.receive(2, start).is_err());
        assert!(tokens.receive(3, start).is_ok());
    }

    #[test]
    fn a_client_uses_a_new_token_at_once_and_still_accepts_the_old_one() {
        let start = Instant::now();
        let mut tokens = ClientTokens::new(token(1, start));
        let renewal = after(start, 75);
        tokens.renew(token(2, renewal));
        assert_eq!(tokens.current().id, 2);
        assert!(tokens.receive(1, after(start, 124)).is_ok());
        assert!(tokens.receive(1, after(start, 125)).is_err());
        assert!(tokens.receive(2, after(start, 125)).is_ok());
    }
}
