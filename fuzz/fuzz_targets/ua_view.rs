//! The borrowed messages of the hot paths accept the same bytes as the owned ones, and can be read to the end.

use takt_fuzz::{choice, decode};
use takt_ua::structures::{
    CallRequest, CallResponse, ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};
use takt_ua::views::{
    CallRequestRef, CallResponseRef, ReadRequestRef, ReadResponseRef, WriteRequestRef,
    WriteResponseRef,
};

/// Decodes both forms of a message; returns the number of list elements of the borrowed one.
macro_rules! both {
    ($bytes:expr, $owned:ty, $borrowed:ty, $list:ident) => {{
        let owned = decode::<$owned>($bytes).ok();
        let borrowed = decode::<$borrowed>($bytes).ok();
        assert_eq!(
            owned.map(|message| message.$list.len()),
            borrowed.map(|message| message.$list.iter().count())
        );
    }};
}

pub(crate) fn run(data: &[u8]) {
    let Some((kind, bytes)) = choice(data) else {
        return;
    };
    match kind % 6 {
        0 => both!(bytes, ReadRequest, ReadRequestRef<'_>, nodes_to_read),
        1 => both!(bytes, WriteRequest, WriteRequestRef<'_>, nodes_to_write),
        2 => both!(bytes, CallRequest, CallRequestRef<'_>, methods_to_call),
        3 => both!(bytes, ReadResponse, ReadResponseRef<'_>, results),
        4 => both!(bytes, WriteResponse, WriteResponseRef<'_>, results),
        _ => both!(bytes, CallResponse, CallResponseRef<'_>, results),
    }
}
