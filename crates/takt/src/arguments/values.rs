//! Values of arguments: endpoints, attributes, times.

use std::net::IpAddr;
use std::time::Duration;

use takt_app::model::DEFAULT_REGISTRY;
use takt_app::serve::{Advertised, AdvertisedError};
use takt_app::{Endpoint, EndpointUrl, EndpointUrlError};

pub(super) fn default_registry() -> Endpoint {
    #[allow(clippy::expect_used, reason = "a constant, covered by a test")]
    format!("opc.iox2://{DEFAULT_REGISTRY}")
        .parse()
        .expect("a valid endpoint")
}

pub(super) fn endpoint(text: &str) -> Result<Endpoint, String> {
    text.parse()
        .map_err(|error: takt_app::EndpointError| error.to_string())
}

/// Parses the address of a client for reverse connect: with or without `opc.tcp://`.
pub(crate) fn listening(text: &str) -> Result<EndpointUrl, String> {
    // A port alone would be taken for the name of a host.
    if text.chars().all(|character| character.is_ascii_digit()) {
        return Err(format!("write HOST:PORT, for example 0.0.0.0:{text}"));
    }
    let url = match text.contains("://") {
        true => text.parse(),
        false => format!("opc.tcp://{text}").parse(),
    };
    url.map_err(|error: EndpointUrlError| error.to_string())
}

/// Parses the name or address of a host that a certificate is to contain: as `--advertise`, without a port.
pub(super) fn host(text: &str) -> Result<String, String> {
    // IPv6 addresses are written with and without brackets.
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    match bare.unwrap_or(text).parse::<IpAddr>() {
        Ok(address) if address.is_unspecified() => {
            return Err("no client can connect to this address".to_owned());
        }
        Ok(address) => return Ok(address.to_string()),
        Err(_) => {}
    }
    let parsed: Advertised = text
        .parse()
        .map_err(|error: AdvertisedError| error.reason)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match parsed.port() {
        Some(_) => Err("a certificate contains no port; write HOST".to_owned()),
        None if parsed.host().chars().all(is_plain) => Ok(parsed.host().to_owned()),
        None => Err("a host name has letters, digits, `.`, `-` and `_` only".to_owned()),
    }
}

pub(super) fn attribute(text: &str) -> Result<takt_app::Attribute, String> {
    takt_app::Attribute::from_name(text).ok_or_else(|| {
        format!("`{text}` is not an attribute; write for example Value, DataType, DisplayName")
    })
}

/// Longest time of an argument: a century, so that the clocks of all crates can count it, in any unit.
const LONGEST_TIME: Duration = Duration::from_secs(876_000 * 3600);

/// Parses a time: `10s`, `250ms`, `1.5s`, `2min`. It is [`LONGEST_TIME`] at most.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let fault = || format!("`{text}` is not a time: write for example 10s, 250ms or 2min");
    let unit = text
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(fault)?;
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(fault()),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| fault())? * factor;
    if seconds > LONGEST_TIME.as_secs_f64() {
        return Err(format!("`{text}` is too long: write 876000h at most"));
    }
    // Negative numbers and NaN are refused here.
    Duration::try_from_secs_f64(seconds).map_err(|_| fault())
}

/// Parses the KeyLifetime of a SecurityGroup.
pub(super) fn key_lifetime(text: &str) -> Result<Duration, String> {
    const SHORTEST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(720 * 3600);
    let lifetime = duration(text)?;
    match (SHORTEST..=LONGEST).contains(&lifetime) {
        true => Ok(lifetime),
        false => Err("write a time from 1s to 720h".to_owned()),
    }
}

/// Parses a number of at least 1.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "write a whole number from 1".to_owned())
}

/// Greatest number of a core in a list.
const LAST_CORE: usize = 4095;

/// Parses a list of cores as `taskset` does: `1`, `0-3,6`.
pub(super) fn cores(text: &str) -> Result<Vec<usize>, String> {
    let fault = || format!("`{text}` is not a list of cores: write for example 1 or 0-3,6");
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse().map_err(|_| fault());
        let (first, last): (usize, usize) = (number(first)?, number(last)?);
        if first > last || last > LAST_CORE {
            return Err(fault());
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

pub(super) fn setting(text: &str) -> Result<(String, String), String> {
    let (path, value) = text
        .split_once('=')
        .ok_or("write FIELD=VALUE, for example discipline=cbs")?;
    Ok((path.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_registry_is_an_endpoint() {
        assert_eq!(
            default_registry().to_string(),
            "opc.iox2://SemanticRegistryServer"
        );
    }

    #[test]
    fn lists_of_cores_are_those_of_taskset() {
        assert_eq!(cores("1"), Ok(vec![1]));
        assert_eq!(cores("6,0-3, 2"), Ok(vec![0, 1, 2, 3, 6]));
        for wrong in ["", "a", "3-1", "1-", "-1", "0-99999999999", "0,,1"] {
            assert!(cores(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_host_of_a_certificate_has_neither_port_nor_scheme() {
        for (text, expected) in [
            ("plc7", "plc7"),
            ("plant_1.example", "plant_1.example"),
            ("192.0.2.7", "192.0.2.7"),
            ("[fd00::7]", "fd00::7"),
            ("fd00::7", "fd00::7"),
        ] {
            assert_eq!(host(text).as_deref(), Ok(expected));
        }
        for wrong in [
            "bad host",
            "opc.tcp://plc7:4840",
            "plc7:4840",
            "*",
            "*.plant",
            "",
            "plc7/line",
            "0.0.0.0",
            "[::]",
        ] {
            assert!(host(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_written_with_their_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert!(duration("10").is_err());
        assert!(duration("-1s").is_err());
        assert_eq!(duration("876000h"), Ok(LONGEST_TIME));
        for long in [
            "9999999999999999999s",
            "876001h",
            &format!("1{}s", "0".repeat(400)),
        ] {
            assert!(duration(long).unwrap_err().contains("too long"), "{long}");
        }
    }

    #[test]
    fn an_address_has_a_host() {
        for text in ["plc:4841", "opc.tcp://plc:4841"] {
            assert_eq!(listening(text).unwrap().to_string(), "opc.tcp://plc:4841");
        }
        let error = listening("4950").unwrap_err();
        assert!(error.contains("0.0.0.0:4950"), "{error}");
    }

    #[test]
    fn a_key_lifetime_has_limits() {
        assert_eq!(key_lifetime("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(key_lifetime("720h"), Ok(Duration::from_secs(720 * 3600)));
        for text in ["0s", "999ms", "721h", "1"] {
            assert!(key_lifetime(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_count_begins_with_1() {
        assert_eq!(count("1"), Ok(1));
        for text in ["0", "-1", "1.5", "many", "18446744073709551616"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
