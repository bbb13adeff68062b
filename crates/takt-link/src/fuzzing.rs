//! What the fuzz target `link_frame` calls: readers of bytes that the network and the kernel give.
#![allow(missing_docs, reason = "a test in all but name")]

use crate::address::VlanTag;
use crate::{control, frame};

/// The length of the payload of an Ethernet frame, if it is one of UADP, with and without a tag that the kernel took out.
pub fn ethernet_payload(bytes: &mut [u8]) -> Option<usize> {
    let tag = VlanTag::from_control_information(0xC005);
    let with_tag = frame::Frame::parse(bytes, Some(tag)).map(|frame| frame.payload.len());
    let without = frame::Frame::parse(bytes, None).map(|frame| frame.payload.len());
    with_tag.max(without)
}

/// Looks for ancillary data of all sizes that are looked for.
pub fn control_data(bytes: &[u8]) {
    for (level, kind) in [(263, 8), (1, 40), (0, 8), (41, 50)] {
        let _ = control::find::<4>(bytes, level, kind);
        let _ = control::find::<20>(bytes, level, kind);
    }
}
