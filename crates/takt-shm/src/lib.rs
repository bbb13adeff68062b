//! OPC UA services over iceoryx2 shared memory: endpoint `opc.iox2://<ApplicationName>`.

mod address;
pub mod names;
mod wait;

pub use address::{
    ApplicationName, ApplicationNameError, EndpointUrl, EndpointUrlError, TRANSPORT_PROFILE_URI,
    URL_SCHEME,
};
pub use wait::WaitPolicy;
