//! Takt's client and server, over `opc.tcp` and `opc.iox2`: a Method that returns its argument, and one that returns the sum of its
//! bytes.

use std::path::PathBuf;
use std::time::Instant;

use takt_app::certificates::{describe, open_store};
use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{Client, ClientOptions, ClientSecurity, Endpoint, Method, Provider, Waiting};
use takt_crypto::KeyKind;
use takt_space::{MethodCall, OutputArguments};
use takt_ua::{BuiltInType, NodeId, StatusCode, VariantRef};

use super::client::{Answered, Exchange, TIMEOUT, serve_commands};
use super::error::OwnPeerError;
use super::payload::{Mode, sum};
use super::setting::{Given, PeerSetting};

/// Transport of the services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// `opc.tcp`.
    Tcp,
    /// `opc.iox2`.
    SharedMemory,
}

impl Transport {
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Tcp => &["poll", "security"],
            Self::SharedMemory => &["poll"],
        }
    }

    /// Returns the name of the Provider, which is unique on this host.
    fn name(setting: &PeerSetting) -> String {
        format!("TaktEcho{}", setting.port)
    }

    fn endpoint(self, setting: &PeerSetting) -> Result<Endpoint, OwnPeerError> {
        let text = match self {
            Self::Tcp => format!("opc.tcp://{}", setting.socket(0)),
            Self::SharedMemory => format!("opc.iox2://{}", Self::name(setting)),
        };
        text.parse().map_err(OwnPeerError::failed)
    }
}

fn waiting(given: &Given) -> Waiting {
    match given.poll {
        true => Waiting::Spin,
        false => Waiting::Sleep,
    }
}

fn runtime_directory(setting: &PeerSetting) -> PathBuf {
    setting.folder.join("runtime")
}

/// Namespace of the Provider.
const NAMESPACE: u16 = 1;
/// ApplicationName of the client.
const CLIENT: &str = "TaktEchoClient";

fn method(mode: Mode) -> NodeId {
    NodeId::string(NAMESPACE, mode.name())
}

/// Runs the server.
pub(super) fn serve(setting: &PeerSetting, transport: Transport) -> Result<(), OwnPeerError> {
    let given = setting.given(transport.options())?;
    let echo = |call: &MethodCall<'_>, outputs: &mut OutputArguments<'_, '_>| {
        let input = call.input(0).ok_or(StatusCode::BadArgumentsMissing)?;
        outputs.push(&input);
        Ok(())
    };
    let ack = |call: &MethodCall<'_>, outputs: &mut OutputArguments<'_, '_>| {
        let Some(VariantRef::ByteString(Some(bytes))) = call.input(0) else {
            return Err(StatusCode::BadInvalidArgument.into());
        };
        outputs.push(&VariantRef::Byte(sum(bytes)));
        Ok(())
    };
    let provider = Provider::builder(Transport::name(setting))
        .without_registry()
        .endpoint(format!("opc.tcp://{}", setting.socket(0)))
        .method(
            Method::in_place(Mode::Echo.name(), echo)
                .input("Payload", BuiltInType::ByteString)
                .output("Payload", BuiltInType::ByteString)
                .inline(),
        )
        .method(
            Method::in_place(Mode::Ack.name(), ack)
                .input("Payload", BuiltInType::ByteString)
                .output("Sum", BuiltInType::Byte)
                .inline(),
        )
        .serve(ServeOptions {
            waiting: waiting(&given),
            runtime_directory: Some(runtime_directory(setting)),
            security: EndpointSecurity {
                certificates: Some(setting.folder.join("pki")),
                users: Some(setting.folder.join("users")),
                secured_loopback: given.is_secured,
                // The client may be on another host. It calls Methods without a user.
                allow_none: !given.is_secured,
                anonymous_operators: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        })
        .start()
        .map_err(OwnPeerError::failed)?;
    if given.is_secured {
        // The client may be on another host, and then gets these files: it cannot add its own certificate here.
        let pki = setting.folder.join("pki");
        let store = open_store(Some(&pki)).map_err(OwnPeerError::failed)?;
        let client = describe(CLIENT, &ClientOptions::named(CLIENT).uri(), Vec::new());
        let made = store.own(&client, KeyKind::Rsa);
        made.map_err(OwnPeerError::failed)?;
    }
    println!("ready");
    let _ = std::io::Read::read_to_end(&mut std::io::stdin(), &mut Vec::new());
    drop(provider);
    Ok(())
}

struct Calls {
    client: Client,
    object: NodeId,
    methods: [NodeId; 2],
    /// Copy of the last answer.
    answer: Vec<u8>,
}

/// Runs the client.
pub(super) fn connect(setting: &PeerSetting, transport: Transport) -> Result<(), OwnPeerError> {
    let given = setting.given(transport.options())?;
    let security = match given.is_secured {
        true => "Basic256Sha256,encrypt",
        false => "none",
    };
    let options = ClientOptions {
        timeout: TIMEOUT,
        waiting: waiting(&given),
        runtime_directory: Some(runtime_directory(setting)),
        security: ClientSecurity {
            choice: security.parse().map_err(OwnPeerError::Failed)?,
            // The applications of one folder trust each other.
            certificates: Some(setting.folder.join("pki")),
            ..ClientSecurity::default()
        },
        ..ClientOptions::named(CLIENT)
    };
    let endpoint = transport.endpoint(setting)?;
    let client = Client::connect(&endpoint, options).map_err(OwnPeerError::failed)?;
    println!("info setting security={security}");
    serve_commands(&mut Calls {
        client,
        object: NodeId::numeric(NAMESPACE, takt_app::model::provider::OBJECT),
        methods: Mode::ALL.map(method),
        answer: Vec::new(),
    })
}

impl Exchange for Calls {
    fn exchange(
        &mut self,
        mode: Mode,
        request: &[u8],
        answered: Answered<'_>,
    ) -> Result<(), OwnPeerError> {
        let [echo, ack] = &self.methods;
        let method = match mode {
            Mode::Echo => echo,
            Mode::Ack => ack,
        };
        let answer = &mut self.answer;
        let input = [VariantRef::ByteString(Some(request))];
        let called = self
            .client
            .call_in_place(&self.object, method, &input, |outputs| {
                // The checked answer can be read in place from now on, as that of bare iceoryx2. The copy is for the comparison of its bytes.
                let end = Instant::now();
                answer.clear();
                if let Some(output) = outputs.get(0) {
                    match mode {
                        Mode::Echo => output.bytes().copy_into(answer),
                        Mode::Ack => answer.extend(output.get::<u8>(0)),
                    }
                }
                end
            });
        match called {
            Ok(end) => answered(end, answer),
            Err(takt_app::ClientError::Timeout { .. }) => false,
            Err(error) => return Err(OwnPeerError::failed(error)),
        };
        Ok(())
    }
}
