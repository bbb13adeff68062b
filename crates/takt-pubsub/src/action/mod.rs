//! Actions (OPC 10000-14, 5.4.3 and 6.2.11.2): a Requestor requests an Action, a Responder carries it out and responds.
//!
//! * [`PublishedAction`] is the description of an Action that both share: its targets, and the fields of requests and responses
//!   (OPC 10000-14, 6.2.3.10).
//! * A [`Responder`] receives requests, carries out each once with an [`ActionHandler`], and makes the responses.
//! * A [`Requestor`] makes requests, repeats them where messages can be lost, and matches the responses to them.
//!
//! All of it is sans-io: time and messages go in, messages and events come out. Over transports that lose messages, both report
//! their progress in the ActionState (OPC 10000-14, Tables 83 and 84). A PublishingInterval of 0 means a transport that does not
//! lose messages, such as a broker.
//!
//! Action messages are not protected: a WriterGroup of Actions with a SecurityMode is refused.

mod execution;
mod handler;
mod message;
mod published;
mod requestor;
mod responder;

pub use handler::{ActionCall, ActionHandler, ActionOutcome, ActionTicket};
pub use message::{ActionError, ActionMapping};
pub use published::PublishedAction;
pub(crate) use published::offers_actions;
pub use requestor::{ActionEvent, RequestError, Requestor};
pub use responder::{ActionTransmit, Responder};
