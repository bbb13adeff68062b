//! Security tokens: the one that secures sent messages, and those that are accepted (OPC 10000-4, 5.6.2.1;
//! OPC 10000-6, 6.7.4).

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

    /// Returns the time of a client's renewal: after 75 % of the lifetime.
    pub(crate) fn renew_at(&self) -> Instant {
        self.created + self.lifetime / 4 * 3
    }

    /// Returns the end of the time in which messages secured with the token are accepted: 25 % of its lifetime after
    /// its expiry, because clocks differ and messages take time.
    pub(crate) fn accepted_until(&self) -> Instant {
        self.expires() + self.lifetime / 4
    }

    fn accepts(&self, id: u32, now: Instant) -> bool {
        self.id == id && now < self.accepted_until()
    }
}

/// Largest number of renewed tokens that a server keeps before the client has used one: the newest, and the one that
/// the client may still use while the response with the newest is under way.
const MAX_UNUSED: usize = 2;

/// Tokens of a server. A renewed token is not used for sending before the client has used it, because until then
/// the client may not know it.
#[derive(Debug)]
pub(crate) struct ServerTokens {
    current: Token,
    /// Oldest first, at most [`MAX_UNUSED`].
    renewed: Vec<Token>,
}

impl ServerTokens {
    pub(crate) fn new(first: Token) -> Self {
        Self {
            current: first,
            renewed: Vec::new(),
        }
    }

    /// Adds a renewed token. A client that only renews never uses a token; the oldest unused one is then dropped.
    pub(crate) fn renew(&mut self, token: Token) {
        if self.renewed.len() == MAX_UNUSED {
            self.renewed.remove(0);
        }
        self.renewed.push(token);
    }

    /// Returns the security for a chunk that names token `id`.
    pub(crate) fn receive(
        &self,
        id: u32,
        now: Instant,
    ) -> Result<&dyn ChunkSecurity, TransportError> {
        self.all()
            .find(|token| token.accepts(id, now))
            .map(|token| &*token.security.receive)
            .ok_or(TransportError::TokenUnknown(id))
    }

    /// Notes that the client has used token `id` in a chunk that was verified. From the first use of a renewed token
    /// on, the older ones are no longer accepted.
    pub(crate) fn used(&mut self, id: u32) {
        if self.current.id != id
            && let Some(index) = self.renewed.iter().position(|token| token.id == id)
            && let Some(used) = self.renewed.drain(..=index).next_back()
        {
            self.current = used;
        }
    }

    /// Returns the token for sending: the oldest that has not expired, because the client certainly knows it.
    pub(crate) fn sending(&self, now: Instant) -> &Token {
        let valid = self.all().find(|token| now < token.expires());
        // If all have expired, the client accepts the newest one longest.
        valid.unwrap_or_else(|| self.renewed.last().unwrap_or(&self.current))
    }

    /// Returns the time from which on no token is accepted any more.
    pub(crate) fn accepted_until(&self) -> Instant {
        let renewed = self.renewed.iter().map(Token::accepted_until);
        renewed.fold(self.current.accepted_until(), Instant::max)
    }

    fn all(&self) -> impl Iterator<Item = &Token> {
        std::iter::once(&self.current).chain(&self.renewed)
    }
}

/// Tokens of a client. A renewed one is used at once; the one before is accepted while responses secured with it may
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

    /// Returns the security for a chunk that names token `id`.
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
        let own = NoSecurity.key_share().unwrap();
        let security = NoSecurity.symmetric(Role::Server, MessageSecurityMode::None, &own, &[]);
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
    fn the_last_token_is_accepted_while_the_next_is_under_way() {
        let start = Instant::now();
        let mut tokens = ServerTokens::new(token(1, start));
        tokens.renew(token(2, after(start, 75)));
        // The client sends its second renewal and, before the response arrives, a message with token 2.
        let second = after(start, 150);
        tokens.renew(token(3, second));
        assert!(tokens.receive(1, second).is_err());
        assert!(tokens.receive(2, second).is_ok());
        assert!(tokens.receive(3, second).is_ok());
        assert_eq!(tokens.sending(second).id, 2);
        tokens.used(2);
        assert_eq!(tokens.sending(second).id, 2);
        tokens.used(3);
        assert!(tokens.receive(2, second).is_err());
        assert_eq!(tokens.sending(second).id, 3);
    }

    #[test]
    fn the_oldest_of_many_unused_renewals_is_dropped() {
        let start = Instant::now();
        let mut tokens = ServerTokens::new(token(1, start));
        for id in 2..=4 {
            tokens.renew(token(id, start));
        }
        tokens.used(1);
        assert!(tokens.receive(1, start).is_ok());
        assert!(tokens.receive(2, start).is_err());
        assert!(tokens.receive(3, start).is_ok());
        assert!(tokens.receive(4, start).is_ok());
        tokens.used(4);
        assert!(tokens.receive(3, start).is_err());
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
