//! Elliptic curves whose SecurityPolicies a server offers.

use std::fmt;
use std::str::FromStr;

use takt_crypto::EllipticCurve;

/// Elliptic curves whose SecurityPolicies a server offers, besides those with RSA.
///
/// By default only nistP256: each curve needs a certificate of its own, which an administrator has to trust at the clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedCurves(Vec<EllipticCurve>);

impl OfferedCurves {
    /// Returns the curves.
    pub fn iter(&self) -> impl Iterator<Item = EllipticCurve> {
        self.0.iter().copied()
    }
}

impl Default for OfferedCurves {
    fn default() -> Self {
        Self(vec![EllipticCurve::NistP256])
    }
}

impl FromStr for OfferedCurves {
    type Err = String;

    /// Reads `none`, `all`, or names of curves with commas between. The name of a SecurityPolicy stands for its curve.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "none" => return Ok(Self(Vec::new())),
            "all" => return Ok(Self(EllipticCurve::ALL.to_vec())),
            _ => {}
        }
        let mut curves = Vec::new();
        for name in text.split(',') {
            let bare = name.strip_prefix("ECC_").unwrap_or(name);
            let mut all = EllipticCurve::ALL.into_iter();
            let found = all.find(|curve| curve.name().eq_ignore_ascii_case(bare));
            let names = EllipticCurve::ALL.map(EllipticCurve::name).join(", ");
            let curve =
                found.ok_or_else(|| format!("`{name}` is not none, all or one of {names}"))?;
            if !curves.contains(&curve) {
                curves.push(curve);
            }
        }
        Ok(Self(curves))
    }
}

impl fmt::Display for OfferedCurves {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(EllipticCurve::name).collect();
        match names.is_empty() {
            true => formatter.write_str("none"),
            false => formatter.write_str(&names.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_read() {
        let read = |text: &str| text.parse::<OfferedCurves>();
        for text in ["none", "nistP256", "nistP384,curve25519"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert_eq!(read("ECC_nistP256,NISTP256"), Ok(OfferedCurves::default()));
        assert_eq!(read("all").unwrap().iter().count(), 3);
        assert!(read("brainpoolP256r1").unwrap_err().contains("nistP384"));
        assert!(read("").is_err());
    }
}
