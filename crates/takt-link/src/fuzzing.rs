//! Entry points of the fuzz target `link_frame`: readers of bytes from the network and the kernel.
#![allow(missing_docs, reason = "a test in all but name")]

use crate::address::VlanTag;
use crate::launch_report::LaunchReport;
use crate::{control, frame};

/// Returns the length of the payload of an Ethernet frame, if it is one of UADP, with and without a tag that the kernel removed.
pub fn ethernet_payload(bytes: &mut [u8]) -> Option<usize> {
    let tag = VlanTag::from_control_information(0xC005);
    let with_tag = frame::Frame::parse(bytes, Some(tag)).map(|frame| frame.payload.len());
    let without = frame::Frame::parse(bytes, None).map(|frame| frame.payload.len());
    with_tag.max(without)
}

/// Reads control messages of all kinds that links use.
pub fn control_data(bytes: &[u8]) {
    for (level, kind) in [(263, 8), (1, 40), (0, 8), (41, 50)] {
        let _ = control::find::<4>(bytes, level, kind);
        let _ = control::find::<20>(bytes, level, kind);
    }
    let _ = control::software_time(bytes);
    let _ = control::hardware_time(bytes);
    let _ = LaunchReport::read(bytes);
}
