//! Causes of broken connections to a broker.

use std::error::Error;
use std::io;

use rumqttc::v5::mqttbytes::v5::{ConnectReturnCode as Code5, DisconnectReasonCode};
use rumqttc::v5::{self, mqttbytes};
use rumqttc::{ConnectReturnCode as Code3, TlsError, mqttbytes as mqttbytes3};
use rustls::CertificateError;

use crate::error::{ConnectionRefusal, DownReason, TlsFailure};

/// Returns the cause of a broken connection of version 3.1.1.
pub(super) fn of_version_3(error: &rumqttc::ConnectionError) -> DownReason {
    use rumqttc::ConnectionError as Broken;
    use rumqttc::StateError as State;
    tracing::debug!(%error, "the connection to the MQTT broker broke");
    match error {
        Broken::Io(error)
        | Broken::MqttState(
            State::Io(error) | State::Deserialization(mqttbytes3::Error::Io(error)),
        ) => of_io(error),
        Broken::Tls(error) => of_tls(error),
        Broken::NetworkTimeout | Broken::FlushTimeout => DownReason::NoAnswer,
        Broken::MqttState(State::AwaitPingResp) => DownReason::NoAnswer,
        Broken::MqttState(State::ConnectionAborted) => DownReason::Closed,
        Broken::MqttState(State::Deserialization(mqttbytes3::Error::OutgoingPacketTooLarge {
            ..
        })) => DownReason::PacketTooLarge,
        Broken::MqttState(State::Deserialization(_)) | Broken::NotConnAck(_) => DownReason::NoMqtt,
        Broken::ConnectionRefused(code) => DownReason::Refused(match code {
            Code3::BadUserNamePassword => ConnectionRefusal::Credentials,
            Code3::NotAuthorized => ConnectionRefusal::NotAuthorized,
            Code3::BadClientId => ConnectionRefusal::ClientIdentifier,
            Code3::RefusedProtocolVersion => ConnectionRefusal::Version,
            Code3::ServiceUnavailable => ConnectionRefusal::Unavailable,
            Code3::Success => ConnectionRefusal::Other,
        }),
        _ => DownReason::NotConnected,
    }
}

/// Returns the cause of a broken connection of version 5.
pub(super) fn of_version_5(error: &v5::ConnectionError) -> DownReason {
    use v5::ConnectionError as Broken;
    use v5::StateError as State;
    tracing::debug!(%error, "the connection to the MQTT broker broke");
    match error {
        Broken::Io(error)
        | Broken::MqttState(
            State::Io(error) | State::Deserialization(mqttbytes::Error::Io(error)),
        ) => of_io(error),
        Broken::Tls(error) => of_tls(error),
        Broken::Timeout(_) | Broken::MqttState(State::AwaitPingResp) => DownReason::NoAnswer,
        Broken::MqttState(State::ConnectionAborted) => DownReason::Closed,
        Broken::MqttState(State::OutgoingPacketTooLarge { .. }) => DownReason::PacketTooLarge,
        Broken::MqttState(State::ServerDisconnect { reason_code, .. }) => {
            of_disconnect(*reason_code)
        }
        Broken::MqttState(State::ConnFail { reason }) | Broken::ConnectionRefused(reason) => {
            of_answer(*reason)
        }
        Broken::MqttState(State::Deserialization(_)) | Broken::NotConnAck(_) => DownReason::NoMqtt,
        _ => DownReason::NotConnected,
    }
}

fn of_answer(code: Code5) -> DownReason {
    DownReason::Refused(match code {
        Code5::BadUserNamePassword | Code5::BadAuthenticationMethod => {
            ConnectionRefusal::Credentials
        }
        Code5::NotAuthorized | Code5::Banned => ConnectionRefusal::NotAuthorized,
        Code5::BadClientId | Code5::ClientIdentifierNotValid => ConnectionRefusal::ClientIdentifier,
        Code5::RefusedProtocolVersion | Code5::UnsupportedProtocolVersion => {
            ConnectionRefusal::Version
        }
        Code5::ServiceUnavailable
        | Code5::ServerUnavailable
        | Code5::ServerBusy
        | Code5::QuotaExceeded
        | Code5::ConnectionRateExceeded => ConnectionRefusal::Unavailable,
        Code5::PacketTooLarge => return DownReason::PacketTooLarge,
        _ => ConnectionRefusal::Other,
    })
}

fn of_disconnect(code: DisconnectReasonCode) -> DownReason {
    use DisconnectReasonCode as Code;
    DownReason::Refused(match code {
        Code::PacketTooLarge => return DownReason::PacketTooLarge,
        Code::KeepAliveTimeout => return DownReason::NoAnswer,
        Code::NotAuthorized => ConnectionRefusal::NotAuthorized,
        Code::SessionTakenOver => ConnectionRefusal::ClientIdentifier,
        Code::ServerBusy
        | Code::ServerShuttingDown
        | Code::QuotaExceeded
        | Code::ConnectionRateExceeded => ConnectionRefusal::Unavailable,
        _ => ConnectionRefusal::Other,
    })
}

fn of_io(error: &io::Error) -> DownReason {
    if let Some(tls) = error.get_ref().and_then(tls_of) {
        return of_rustls(tls);
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => DownReason::NotListening,
        io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::AddrNotAvailable => DownReason::Unreachable,
        io::ErrorKind::TimedOut => DownReason::NoAnswer,
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => DownReason::Closed,
        // The resolver has no kind of its own; its errors have no number of the system.
        _ if error.raw_os_error().is_none() && error.to_string().contains("lookup address") => {
            DownReason::HostUnknown
        }
        _ => DownReason::NotConnected,
    }
}

/// Returns the error of TLS among the causes.
fn tls_of<'e>(error: &'e (dyn Error + Send + Sync + 'static)) -> Option<&'e rustls::Error> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(tls) = error.downcast_ref() {
            return Some(tls);
        }
        cause = error.source();
    }
    None
}

fn of_tls(error: &TlsError) -> DownReason {
    match error {
        TlsError::Io(error) => of_io(error),
        TlsError::TLS(error) => of_rustls(error),
        TlsError::DNSName(_) => DownReason::Tls(TlsFailure::OtherName),
        _ => DownReason::Tls(TlsFailure::Other),
    }
}

fn of_rustls(error: &rustls::Error) -> DownReason {
    use CertificateError as Certificate;
    DownReason::Tls(match error {
        rustls::Error::AlertReceived(alert) => TlsFailure::Alert(u8::from(*alert)),
        rustls::Error::InvalidMessage(_) => TlsFailure::NoTls,
        rustls::Error::InvalidCertificate(cause) => match cause {
            Certificate::Expired | Certificate::ExpiredContext { .. } => TlsFailure::Expired,
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                TlsFailure::NotYetValid
            }
            Certificate::UnknownIssuer => TlsFailure::UnknownAuthority,
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                TlsFailure::OtherName
            }
            // Another authority with the same name.
            Certificate::BadSignature => TlsFailure::UnknownAuthority,
            _ => TlsFailure::Certificate,
        },
        _ => TlsFailure::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_of_the_system_are_told_apart() {
        let of = |kind: io::ErrorKind| of_io(&kind.into());
        assert_eq!(
            of(io::ErrorKind::ConnectionRefused),
            DownReason::NotListening
        );
        assert_eq!(of(io::ErrorKind::ConnectionReset), DownReason::Closed);
        assert_eq!(
            of(io::ErrorKind::NetworkUnreachable),
            DownReason::Unreachable
        );
        let unknown =
            io::Error::other("failed to lookup address information: Name or service not known");
        assert_eq!(of_io(&unknown), DownReason::HostUnknown);
    }

    #[test]
    fn causes_of_tls_are_found_within_those_of_the_system() {
        let of = |error: rustls::Error| of_io(&io::Error::new(io::ErrorKind::InvalidData, error));
        let alert = rustls::AlertDescription::CertificateRequired;
        let required = of(rustls::Error::AlertReceived(alert));
        assert_eq!(required, DownReason::Tls(TlsFailure::Alert(116)));
        assert!(
            required
                .to_string()
                .ends_with("it requires a client certificate")
        );
        let unknown = of(rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer,
        ));
        assert_eq!(unknown, DownReason::Tls(TlsFailure::UnknownAuthority));
    }

    #[test]
    fn refusals_of_a_broker_have_their_cause() {
        let refused = |code| of_version_5(&v5::ConnectionError::ConnectionRefused(code));
        let credentials = DownReason::Refused(ConnectionRefusal::Credentials);
        assert_eq!(refused(Code5::BadUserNamePassword), credentials);
        assert_eq!(refused(Code5::PacketTooLarge), DownReason::PacketTooLarge);
        let refused = |code| of_version_3(&rumqttc::ConnectionError::ConnectionRefused(code));
        assert_eq!(refused(Code3::BadUserNamePassword), credentials);
    }
}
