//! EphemeralKeys: key pairs that are made for one agreement (OPC 10000-6, 6.8.1).

use std::fmt;

use aws_lc_rs::agreement::{
    Algorithm, ECDH_P256, ECDH_P384, PrivateKey, UnparsedPublicKey, X25519, agree,
};
use zeroize::Zeroizing;

use crate::CryptoError;
use crate::policy::EllipticCurve;

/// First byte of an uncompressed point (SEC 1, 2.3.3). OPC UA leaves it out.
const UNCOMPRESSED: u8 = 4;

const fn algorithm(curve: EllipticCurve) -> &'static Algorithm {
    match curve {
        EllipticCurve::NistP256 => &ECDH_P256,
        EllipticCurve::NistP384 => &ECDH_P384,
        EllipticCurve::Curve25519 => &X25519,
    }
}

/// The secret that both sides compute. It is set to zero when it is dropped.
pub struct SharedSecret(Zeroizing<Vec<u8>>);

impl SharedSecret {
    /// Returns the bytes. They are no key themselves: keys are derived from them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SharedSecret")
    }
}

/// A key pair on a curve for one agreement. The library sets the private part to zero when it is dropped.
pub struct EphemeralKey {
    curve: EllipticCurve,
    private: PrivateKey,
    public: Vec<u8>,
}

impl EphemeralKey {
    /// Creates a key pair.
    ///
    /// # Errors
    /// [`CryptoError`] if the library fails.
    pub fn generate(curve: EllipticCurve) -> Result<Self, CryptoError> {
        let private = PrivateKey::generate(algorithm(curve)).map_err(|_| CryptoError)?;
        Self::of(curve, private)
    }

    /// Reads a private key: its number, for tests with known answers.
    ///
    /// # Errors
    /// [`CryptoError`] if it is no key of the curve.
    pub fn from_bytes(curve: EllipticCurve, bytes: &[u8]) -> Result<Self, CryptoError> {
        let private = PrivateKey::from_private_key(algorithm(curve), bytes);
        Self::of(curve, private.map_err(|_| CryptoError)?)
    }

    fn of(curve: EllipticCurve, private: PrivateKey) -> Result<Self, CryptoError> {
        let public = private.compute_public_key().map_err(|_| CryptoError)?;
        let public = match curve {
            EllipticCurve::Curve25519 => public.as_ref(),
            _ => public
                .as_ref()
                .strip_prefix(&[UNCOMPRESSED])
                .ok_or(CryptoError)?,
        };
        if public.len() != curve.ephemeral_key_length() {
            return Err(CryptoError);
        }
        Ok(Self {
            curve,
            public: public.to_vec(),
            private,
        })
    }

    /// Returns the curve.
    #[must_use]
    pub const fn curve(&self) -> EllipticCurve {
        self.curve
    }

    /// Returns the public part, as it is sent: both coordinates one after the other, or the one of X25519.
    #[must_use]
    pub fn public(&self) -> &[u8] {
        &self.public
    }

    /// Computes the secret that is shared with the owner of `peer`. For P-256 and P-384 it is the x-coordinate.
    ///
    /// # Errors
    /// [`CryptoError`] if `peer` has a wrong length, is no point of the curve, or leads to a secret of zeros with X25519; and if
    /// it is the own public part, which an attacker could send back.
    pub fn agree(&self, peer: &[u8]) -> Result<SharedSecret, CryptoError> {
        if peer.len() != self.curve.ephemeral_key_length() || peer == self.public {
            return Err(CryptoError);
        }
        let encoded = match self.curve {
            EllipticCurve::Curve25519 => peer.to_vec(),
            _ => [&[UNCOMPRESSED], peer].concat(),
        };
        let peer = UnparsedPublicKey::new(algorithm(self.curve), encoded);
        agree(&self.private, peer, CryptoError, |secret| {
            // The library refuses zeros of X25519; this does not depend on it.
            let is_zero = secret.iter().fold(0, |all, byte| all | byte) == 0;
            match self.curve {
                EllipticCurve::Curve25519 if is_zero => Err(CryptoError),
                _ => Ok(SharedSecret(Zeroizing::new(secret.to_vec()))),
            }
        })
    }
}

impl fmt::Debug for EphemeralKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "EphemeralKey(secret, {})", self.curve.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_get_the_same_secret_and_others_do_not() {
        for curve in EllipticCurve::ALL {
            let key = || EphemeralKey::generate(curve).unwrap();
            let (one, other, stranger) = (key(), key(), key());
            let secret = one.agree(other.public()).unwrap();
            assert_eq!(secret.bytes(), other.agree(one.public()).unwrap().bytes());
            assert_ne!(
                secret.bytes(),
                stranger.agree(other.public()).unwrap().bytes()
            );
            assert_eq!(one.public().len(), curve.ephemeral_key_length());
            assert_eq!(secret.bytes().len(), curve.bits() / 8);
        }
    }

    #[test]
    fn points_that_are_not_on_the_curve_are_refused() {
        for curve in EllipticCurve::ALL {
            let key = EphemeralKey::generate(curve).unwrap();
            let length = curve.ephemeral_key_length();
            for wrong in [length - 1, length + 1, 0] {
                assert!(key.agree(&vec![9; wrong]).is_err());
            }
            // Zero: the point at infinity, or a point of small order.
            assert!(key.agree(&vec![0; length]).is_err());
            assert!(key.agree(key.public()).is_err(), "a reflected key");
            if curve != EllipticCurve::Curve25519 {
                let other = EphemeralKey::generate(curve).unwrap();
                let mut changed = other.public().to_vec();
                changed[length - 1] ^= 1;
                assert!(key.agree(&changed).is_err());
                assert!(key.agree(&vec![0xFF; length]).is_err());
            }
        }
    }

    /// The points of small order of Curve25519 (RFC 7748, 6.1): each leads to a secret of zeros.
    #[test]
    fn points_of_small_order_are_refused() {
        let key = EphemeralKey::generate(EllipticCurve::Curve25519).unwrap();
        let mut one = [0; 32];
        one[0] = 1;
        let mut minus_one = [0xFF; 32];
        (minus_one[0], minus_one[31]) = (0xEC, 0x7F);
        let mut zero_again = minus_one;
        zero_again[0] = 0xED;
        let mut one_again = minus_one;
        one_again[0] = 0xEE;
        for point in [one, minus_one, zero_again, one_again] {
            assert!(key.agree(&point).is_err(), "{point:?}");
        }
    }
}
