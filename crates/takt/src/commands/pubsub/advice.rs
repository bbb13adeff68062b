//! Advice on errors of running Publishers and Subscribers.

use takt_app::ClientError;
use takt_link::{BrokerRefusal, ConnectionRefusal, DownReason, LinkError, TlsFailure};
use takt_pubsub::action::ActionError;
use takt_pubsub::runtime::ProblemCause;
use takt_pubsub::security::{Replay, VerifyError};
use takt_pubsub::{LossCause, PublishError, ReceiveError};
use takt_ua::StatusCode;

use crate::explain;

/// Returns advice on a message that was not made, or not sent.
pub(in crate::commands) fn problem(cause: &ProblemCause) -> &'static str {
    match cause {
        ProblemCause::Publish(error) => publish(error),
        ProblemCause::Link(error) => link(error),
        ProblemCause::Refusal(reason) => refusal(*reason),
        ProblemCause::Action(ActionError::Receive(error)) => refused(error, false),
        ProblemCause::Action(ActionError::Publish(error)) => publish(error),
        ProblemCause::ClockStep { .. } => {
            "The next publishing interval follows the new time. A clock that is set repeatedly needs a look at chronyd, ptp4l or phc2sys."
        }
        // The error names the remedy.
        ProblemCause::TimerSlack(_) => "Its wake-ups are up to 50 \u{b5}s late without it.",
        ProblemCause::Event => {
            "Send fewer events in each publishing interval, with a value for each field."
        }
    }
}

fn refusal(reason: BrokerRefusal) -> &'static str {
    match reason {
        BrokerRefusal::NotAuthorized => {
            "Give this client the right to publish to the topic, in the access list of the broker."
        }
        BrokerRefusal::TopicName => "Is the topic (queue_name) one that the broker accepts?",
        BrokerRefusal::Quota => {
            "Raise the limits of the broker for this client, or the publishing_interval."
        }
        _ => "The log of the broker may say more.",
    }
}

/// Returns advice on lost messages.
pub(in crate::commands) fn loss(cause: LossCause) -> &'static str {
    match cause {
        LossCause::Overflow => {
            "This host was too slow, or was stopped, or there was no connection for a time. --priority and --core help if it is \
             too slow."
        }
        LossCause::Discard => {
            "The state of the link, or the length of the messages, is the reason."
        }
        LossCause::Refusal => {
            "The access list and the limits of the broker say which messages it takes."
        }
        LossCause::LaunchTime => "Raise delta of ETF, or the priority of the Publisher.",
        LossCause::Gap => {
            "The network, the Publisher or this host lost them; a Publisher that is too fast for its receivers does so, too."
        }
        LossCause::Repetition => {
            "Give each Publisher a PublisherId of its own. After a restart of a Publisher, messages are accepted again when \
             two times the message_receive_timeout have passed (without one, ten seconds)."
        }
        LossCause::KeyFrame => {
            "Values come with the next key frame; a smaller key_frame_count sends it sooner."
        }
        LossCause::Chunks => {
            "The network or this host lost some chunks. Divide the DataSet, so that its messages need no chunks."
        }
        LossCause::Kind => "`takt pubsub decode` shows every field of a captured message.",
        LossCause::Unclaimed => UNCLAIMED,
        LossCause::Encoding => UNDECODABLE,
    }
}

fn publish(error: &PublishError) -> &'static str {
    match error {
        PublishError::RawData(_) => {
            "RawData needs values of the types and lengths in the configuration. Correct the field, or use \
             field_encoding = \"Variant\"."
        }
        PublishError::Security(_) => {
            "Check the keys: --keys names a SecurityKeyService, --key gives one."
        }
        PublishError::TooLong { .. } => {
            "Divide the DataSet. max_network_message_size of the WriterGroup, the link and the broker limit a message."
        }
        PublishError::Length { .. } => {
            "The flow of the scenario has messages of one length, for which its delay is proven: give texts and arrays one length, or \
             correct its payload."
        }
        PublishError::Output(error) if error.is::<LinkError>() => {
            error.downcast_ref().map_or("", link)
        }
        PublishError::Output(_) | PublishError::NoRoom => {
            "Is the message too long for the link, or the link too slow for the publishing_interval?"
        }
        PublishError::Encode(_) | PublishError::Json(_) => {
            "Compare the values with the types in the configuration; `takt pubsub config check FILE` checks the file."
        }
    }
}

pub(in crate::commands) fn link(error: &LinkError) -> &'static str {
    match error {
        LinkError::Down(reason) => down(*reason),
        LinkError::Full => "The link is too slow for the publishing_interval.",
        LinkError::Incomplete { .. } => {
            "Send less in one interval, or make the queue of the port (`tc`, `ip link set txqueuelen`) or \
             net.core.wmem_max longer."
        }
        LinkError::TooMany { .. } => {
            "Divide the DataSet. There is room for its values at the start, and for the greatest lengths that its fields \
             declare (max_string_length, array_dimensions): do they declare too much, or too little?"
        }
        LinkError::TooLarge { .. } => "Divide the DataSet into smaller ones.",
        _ => "Check the address and the network interface of the connection.",
    }
}

/// Returns advice on a link that is down.
pub(in crate::commands) fn down(reason: DownReason) -> &'static str {
    match reason {
        DownReason::NotConnected | DownReason::NotListening | DownReason::NoAnswer => {
            "Is the broker running, and is this its address and port?"
        }
        DownReason::HostUnknown => {
            "Check the name in the address; `getent hosts NAME` shows its address."
        }
        DownReason::Closed => {
            "The log of the broker has the reason. A port for TLS needs mqtts://, and may require a client certificate."
        }
        DownReason::PacketTooLarge => {
            "Divide the DataSet, or let the broker accept longer packets (max_packet_size of mosquitto)."
        }
        DownReason::NoMqtt => {
            "Is this the address and port of a broker? A port for TLS needs mqtts://."
        }
        DownReason::Refused(refusal) => refused_by(refusal),
        DownReason::Tls(failure) => tls(failure),
        DownReason::InterfaceDown | DownReason::InterfaceGone | DownReason::NoCarrier => {
            "`ip link` shows the network interfaces; `ip link set NAME up` switches one on."
        }
        DownReason::Unreachable => {
            "`ip route get ADDRESS` shows the route; network_interface, or --interface, names another one."
        }
        _ => "Check the address and the network interface of the connection.",
    }
}

fn refused_by(refusal: ConnectionRefusal) -> &'static str {
    match refusal {
        ConnectionRefusal::Credentials => {
            "--mqtt-user and --mqtt-password-file name user and password."
        }
        ConnectionRefusal::NotAuthorized => {
            "--mqtt-user and --mqtt-password-file name user and password; the broker decides about the rights of the user."
        }
        ConnectionRefusal::Subscription => "The broker decides which topics a user may read.",
        ConnectionRefusal::ClientIdentifier | ConnectionRefusal::Version => {
            "The log of the broker says more."
        }
        _ => "The log of the broker says more; the connection is tried again and again.",
    }
}

fn tls(failure: TlsFailure) -> &'static str {
    match failure {
        TlsFailure::UnknownAuthority => {
            "--mqtt-ca names the file of the authority that signed the certificate of the broker."
        }
        TlsFailure::Expired | TlsFailure::NotYetValid => {
            "Renew the certificate of the broker, and check the clocks of both hosts."
        }
        TlsFailure::OtherName => "Use the name of the broker that its certificate has.",
        TlsFailure::NoTls => "Use mqtt://, or the port of the broker for TLS, usually 8883.",
        // certificate_expired (RFC 8446, 6.2): that of this client.
        TlsFailure::Alert(45) => {
            "Renew the certificate of --mqtt-certificate, and check the clocks of both hosts."
        }
        TlsFailure::Alert(_) => {
            "--mqtt-certificate and --mqtt-private-key name the certificate of this client, which the broker has to trust."
        }
        _ => {
            "Check the certificates of both sides, and whether the port of the broker is the one for TLS."
        }
    }
}

/// Returns advice on keys that a SecurityKeyService does not return.
pub(super) fn not_returned(id: &str, error: &ClientError) -> String {
    if error.is_connection() {
        return "Is the SecurityKeyService running, and is this its address? It is asked again and again."
            .to_owned();
    }
    match error.status_code() {
        StatusCode::BadNotFound => {
            let id = explain::shell_word(id);
            format!(
                "`takt registry --security-group {id}` is a SecurityKeyService with this group."
            )
        }
        StatusCode::BadUserAccessDenied if matches!(error, ClientError::Operation { .. }) => {
            let id = explain::shell_word(id);
            format!(
                "The service has no such group, or gives its keys to others only: `takt registry --security-group {id}:URI` lists the \
             ApplicationUri of this application's certificate, which `takt trust list` shows."
            )
        }
        _ => explain::advice(error).unwrap_or_default(),
    }
}

/// Returns advice on keys that no SecurityKeyService pushes to this target.
pub(super) fn not_pushed(id: &str, application_uri: &str, endpoint: &str) -> String {
    let id = explain::shell_word(id);
    let application_uri = explain::shell_word(application_uri);
    format!(
        "Is the SecurityKeyService running, and is this its target? `takt registry --security-group {id} --push-target \
         {id}={application_uri}@{endpoint}` pushes them, with the address of this host; it logs its reason."
    )
}

/// Advice on a Subscriber that has no room for all DataSetWriters.
pub(in crate::commands) const NEEDED_READERS: &str =
    "Use a configuration with the DataSetReaders that are needed, instead of an address.";

/// Advice on messages that no DataSetReader takes.
pub(in crate::commands) const UNCLAIMED: &str = "It is counted, and so are further ones. PublisherId, WriterGroup and DataSetWriter are \
     those of the message, ? for missing ones; `takt subscribe ADDRESS` shows all messages at an address.";

/// Advice on messages that cannot be decoded.
const UNDECODABLE: &str = "Does another program send to this address? `takt pubsub decode` shows every field of a captured message.";

/// Returns advice on a message that was not accepted, also if Publishers are asked for metadata (--discovery).
pub(in crate::commands) fn refused(error: &ReceiveError, asks_publishers: bool) -> &'static str {
    match error {
        ReceiveError::MetaDataMissing { .. } if asks_publishers => {
            "The Publisher was asked and has not answered yet: does it announce its metadata at this address? A configuration whose \
             DataSetReader has the fields needs no answer."
        }
        ReceiveError::MetaDataUnknown { .. } => {
            "Use a configuration whose DataSetReader has the fields, and the NetworkMessageNumber of its messages \
             (UADP-Periodic-Fixed)."
        }
        ReceiveError::MetaDataMissing { .. } => {
            "Ask the Publisher with --discovery opc.udp://224.0.2.14:4840, or use a configuration whose DataSetReader has the \
             fields."
        }
        ReceiveError::NotExpected => {
            "Use a configuration whose DataSetReader has security_mode and security_group_id, with --keys or --key."
        }
        ReceiveError::Security(error) => verify(error),
        ReceiveError::Memory { .. } => NEEDED_READERS,
        ReceiveError::MetaDataVersion { .. } => {
            "Take the fields and the configuration_version from the configuration of the Publisher."
        }
        ReceiveError::FieldName { .. }
        | ReceiveError::Field { .. }
        | ReceiveError::RawData(_)
        | ReceiveError::Mismatch { .. } => {
            "Take the fields, in their order, from the configuration of the Publisher."
        }
        ReceiveError::Wire(_) | ReceiveError::Json(_) | ReceiveError::Lost { .. } => UNDECODABLE,
        ReceiveError::Unreadable { .. } => {
            "The other fields of the message are accepted. `takt pubsub decode` shows every field of a captured message."
        }
        ReceiveError::Mended { .. } => "Texts of OPC UA are UTF-8; many devices send Latin-1.",
        ReceiveError::Length { .. } => {
            "The flow of the scenario has messages of one length, for which its delay is proven. Does the Publisher have the \
             configuration that the scenario describes?"
        }
        ReceiveError::Reassembly(_) => "Some chunks of a long message were lost.",
        ReceiveError::Target { .. } => {
            "The value does not fit its target; compare the types of both sides."
        }
    }
}

fn verify(error: &VerifyError) -> &'static str {
    match error {
        VerifyError::UnknownToken(_) => {
            "The key of this message is not here. Keys of a SecurityKeyService (--keys) come with the next request or push; --key gives \
             a single key."
        }
        VerifyError::Signature => {
            "The Publisher has another key: use the same SecurityGroup and SecurityKeyService, or the same --key."
        }
        VerifyError::SecurityModeTooLow(_) => {
            "Set the same security_mode at the Publisher and at the DataSetReader."
        }
        VerifyError::Replay(Replay::TooManyNonces) => {
            "docs/pubsub.md describes MaxMessageNonces, with an example."
        }
        VerifyError::Replay(_) => {
            "Messages are repeated, by a network with loops or by an attacker."
        }
        VerifyError::MessageNonce(_) | VerifyError::Wire(_) => {
            "`takt pubsub decode` shows every field of a captured message."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_words_of_a_command() {
        let advice = not_pushed("x;y", "urn:a", "opc.tcp://a:1");
        assert!(
            advice.contains("--security-group 'x;y' --push-target 'x;y'=urn:a@"),
            "{advice}"
        );
    }
}
