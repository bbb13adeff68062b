//! Actions (OPC 10000-14, 5.4.3 and 6.2.11.2): a Requestor asks for something to be done, a Responder does it and answers.
//!
//! * [`PublishedAction`] is what both know of an Action: its targets, and the fields of requests and responses (6.2.3.10).
//! * A [`Responder`] takes requests, has an [`ActionHandler`] carry them out, each once, and makes the responses.
//! * A [`Requestor`] makes requests, again and again where messages can be lost, and finds the responses to them.
//!
//! All of it is sans-io: time and messages go in, messages and events come out. Over transports that lose messages both say with the
//! ActionState how far they are (Tables 83 and 84); a PublishingInterval of 0 stands for those that do not, such as a broker.
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
