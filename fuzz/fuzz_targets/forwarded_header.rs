//! The additionalHeader of forwarded requests: no content gives a client a Role that it does not have.

use std::sync::LazyLock;

use takt_space::{Caller, RoleSet, UserRole};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::structures::AdditionalParametersType;
use takt_ua::{ExtensionObject, NodeId, Structure};

static FORWARDER: LazyLock<Caller> = LazyLock::new(|| Caller {
    roles: RoleSet::of(&[UserRole::Observer, UserRole::Operator]),
    ..Caller::local()
});

pub(crate) fn run(bytes: &[u8]) {
    // The TypeId and the length are added, so that the whole input is the body of the header.
    let mut encoded = Vec::new();
    let mut encoder = Encoder::growing(&mut encoded, bytes.len() + 64);
    let type_id = NodeId::numeric(0, AdditionalParametersType::BINARY_ENCODING_ID);
    type_id.encode(&mut encoder).expect("there is room");
    encoder.u8(1).expect("there is room");
    encoder.byte_string(Some(bytes)).expect("there is room");
    let mut decoder = Decoder::with_limits(&encoded, takt_fuzz::LIMITS);
    let Ok(header) = ExtensionObject::decode(&mut decoder) else {
        return;
    };
    if let Some(roles) = takt_services::fuzzing::forwarded_roles(&header, &FORWARDER) {
        assert_eq!(roles.intersection(FORWARDER.roles), roles);
    }
}
