//! Whole Ethernet frames of a network interface: a sender of frames as they are, and a listener for captures and relays.
//!
//! Both use packet sockets, which need CAP_NET_RAW. They belong to the network namespace of the thread that opens them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::address::VlanTag;
use crate::control;
use crate::error::LinkError;
use crate::frame::{ETHERTYPE, TAG_PROTOCOL};
use crate::interface::Interface;
use crate::received::ReceiveTime;
use crate::unsafe_code::batches::{Parts, ReceiveBatch, SendHeaders};
use crate::unsafe_code::sockets::{self, Instruction, set_option};

/// All EtherTypes (`ETH_P_ALL`).
const ALL_PROTOCOLS: u16 = libc::ETH_P_ALL as u16;

/// Longest frame in bytes, with a VLAN tag and without a check sequence.
const LONGEST_FRAME: usize = 1518;

/// Longest frame of a loopback interface in bytes: an Ethernet header, and the longest IP packet.
const LONGEST_PACKET: usize = 14 + 65_535;

/// Name of the loopback interface.
const LOOPBACK: &str = "lo";

/// Size of the kernel's buffers that are asked for, in bytes. Without CAP_NET_ADMIN they are smaller.
const BUFFER: i32 = 16 << 20;

/// Number of frames of one system call.
const BATCH: usize = 64;

// Instructions of a filter.
const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const LOAD_HALF: u16 = 0x28; // BPF_LD | BPF_H | BPF_ABS
const IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

/// Parts of a heard frame: its length, tag and time are in control messages.
const PARTS: Parts = Parts {
    name: false,
    control: true,
};

/// Sender of whole Ethernet frames at one interface. The queueing discipline of the interface sees them.
pub struct FrameSender {
    socket: OwnedFd,
    headers: SendHeaders,
}

impl FrameSender {
    /// Opens a sender. `priority` is that of the socket (SO_PRIORITY): queueing disciplines choose the class by it.
    ///
    /// # Errors
    /// There is no such interface, or rights are missing.
    pub fn open(interface: &str, priority: u8) -> Result<Self, LinkError> {
        let (socket, interface) = packet_socket(interface)?;
        let fd = socket.as_fd();
        let set = |option, value| set_option(fd, libc::SOL_SOCKET, option, value);
        set(libc::SO_PRIORITY, priority.into())
            .map_err(|errno| LinkError::open("set SO_PRIORITY", errno))?;
        // A full buffer would limit the queue of the interface.
        let _ = set(libc::SO_SNDBUFFORCE, BUFFER);
        sockets::bind_packet_socket(fd, interface.index, 0)
            .map_err(|errno| LinkError::open("bind to the interface", errno))?;
        Ok(Self {
            socket,
            headers: SendHeaders::new(BATCH),
        })
    }

    /// Hands a frame to the kernel `count` times, without waiting. Returns the number of frames that the kernel took; the others were
    /// refused, because the queue or the buffer is full.
    ///
    /// # Errors
    /// [`LinkError::System`]: the interface is down or gone.
    pub fn send(&mut self, frame: &[u8], count: usize) -> Result<usize, LinkError> {
        let (mut left, mut taken) = (count, 0);
        while left > 0 {
            let batch = left.min(BATCH);
            let messages = std::iter::repeat_n((frame, None), batch);
            match self.headers.send::<false>(self.socket.as_fd(), messages) {
                // The first frame that is refused ends the batch.
                Ok(sent) => {
                    taken += sent;
                    left -= sent.max(1);
                }
                Err(Errno::NOBUFS | Errno::AGAIN) => left -= 1,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(LinkError::System(errno)),
            }
        }
        Ok(taken)
    }
}

impl std::fmt::Debug for FrameSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameSender").finish_non_exhaustive()
    }
}

/// Listener that hears all frames which an interface sends and receives.
pub struct FrameListener {
    socket: OwnedFd,
    batch: ReceiveBatch,
    lost: u64,
}

/// Frame that an interface has sent or received.
#[derive(Debug)]
pub struct HeardFrame<'a> {
    /// Bytes of the frame, from the destination address on. A tag that the kernel or the card took out is not in them.
    pub bytes: &'a [u8],
    /// Length of the frame in bytes, without a tag that was taken out. It is greater than that of `bytes` if the end was left out.
    pub length: usize,
    /// 802.1Q tag that the kernel or the card took out.
    pub tag: Option<VlanTag>,
    /// Time at which the kernel handed the frame to the driver or got it from there. Of a frame that a device marks when it is sent
    /// ([`FrameListener::open_marked`]), the time that the device gives.
    pub time: Option<ReceiveTime>,
}

impl FrameListener {
    /// Opens a listener. Of frames with another EtherType than that of UADP it keeps `others` bytes.
    ///
    /// # Errors
    /// There is no such interface, or rights are missing.
    pub fn open(interface: &str, others: u16) -> Result<Self, LinkError> {
        Self::open_with(interface, LONGEST_FRAME, |fd| {
            sockets::attach_filter(fd, &shortening(others))
                .map_err(|errno| LinkError::open("set the filter", errno))
        })
    }

    /// Opens such a listener which hears of the frames that the interface sends only those with a mark (`SO_MARK`). A device can hold
    /// frames for launch times and gates; one that hands them to listeners once more when it sends them marks them.
    ///
    /// # Errors
    /// There is no such interface, or rights are missing.
    pub fn open_marked(interface: &str, others: u16, mark: u32) -> Result<Self, LinkError> {
        Self::open_with(interface, LONGEST_FRAME, |fd| {
            let filter = [&only_marked(mark)[..], &shortening(others)].concat();
            sockets::attach_filter(fd, &filter)
                .map_err(|errno| LinkError::open("set the filter", errno))
        })
    }

    /// Opens a listener that keeps whole frames, also those of a loopback interface, which are longer than those of Ethernet. A
    /// loopback interface receives all that it sends: each frame is heard once.
    ///
    /// # Errors
    /// There is no such interface, or rights are missing.
    pub fn open_whole(interface: &str) -> Result<Self, LinkError> {
        Self::open_with(interface, LONGEST_PACKET, |fd| match interface {
            LOOPBACK => ignore_sent(fd),
            _ => Ok(()),
        })
    }

    /// Opens a listener that keeps whole frames which the interface receives, and hears none that it sends.
    ///
    /// # Errors
    /// There is no such interface, or rights are missing.
    pub fn open_received(interface: &str) -> Result<Self, LinkError> {
        Self::open_with(interface, LONGEST_FRAME, ignore_sent)
    }

    /// Opens a listener that keeps whole frames with the EtherType of UADP which the interface receives, tagged or not, and hears
    /// no others.
    ///
    /// # Errors
    /// There is no such interface, or rights are missing.
    pub fn open_received_uadp(interface: &str) -> Result<Self, LinkError> {
        Self::open_with(interface, LONGEST_FRAME, |fd| {
            // A filter that keeps 0 bytes of a frame drops it.
            sockets::attach_filter(fd, &shortening(0))
                .map_err(|errno| LinkError::open("set the filter", errno))?;
            ignore_sent(fd)
        })
    }

    fn open_with(
        interface: &str,
        longest: usize,
        prepare: impl FnOnce(BorrowedFd<'_>) -> Result<(), LinkError>,
    ) -> Result<Self, LinkError> {
        let (socket, interface) = packet_socket(interface)?;
        let fd = socket.as_fd();
        let failed = |operation| move |errno: Errno| LinkError::open(operation, errno);
        prepare(fd)?;
        set_option(fd, libc::SOL_PACKET, libc::PACKET_AUXDATA, 1)
            .map_err(failed("ask for VLAN tags"))?;
        set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
            .map_err(failed("set SO_TIMESTAMPNS"))?;
        // Without CAP_NET_ADMIN the usual size remains; `lost` tells whether it is enough.
        let _ = set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER);
        // Frames come from here on, so each of them has passed the filter, and has its tag and time.
        sockets::bind_packet_socket(fd, interface.index, ALL_PROTOCOLS)
            .map_err(failed("bind to the interface"))?;
        Ok(Self {
            socket,
            batch: ReceiveBatch::new(BATCH, longest, PARTS),
            lost: 0,
        })
    }

    /// Waits at most `timeout` for frames, and passes a batch of them to `each`. Returns their number.
    ///
    /// # Errors
    /// [`LinkError::System`]: the interface is down or gone.
    pub fn listen(
        &mut self,
        timeout: Duration,
        each: &mut dyn FnMut(HeardFrame<'_>),
    ) -> Result<usize, LinkError> {
        let time = Timespec::try_from(timeout).ok();
        let mut descriptors = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut descriptors, time.as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Ok(0),
            Ok(_) => {}
            Err(errno) => return Err(LinkError::System(errno)),
        }
        let count = match self.batch.receive(self.socket.as_fd()) {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(0),
            Err(errno) => return Err(LinkError::System(errno)),
        };
        for datagram in self.batch.messages(count) {
            let (length, tag) = auxiliary(datagram.control);
            each(HeardFrame {
                length: length.map_or(datagram.bytes.len(), |it| it.max(datagram.bytes.len())),
                bytes: datagram.bytes,
                tag,
                time: control::software_time(datagram.control),
            });
        }
        Ok(count)
    }

    /// Returns the number of frames for which the kernel had no room since the listener was opened.
    pub fn lost(&mut self) -> u64 {
        // The kernel counts from 0 again after each reading.
        self.lost += u64::from(sockets::packet_drops(self.socket.as_fd()).unwrap_or(0));
        self.lost
    }
}

impl std::fmt::Debug for FrameListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameListener").finish_non_exhaustive()
    }
}

/// Makes a packet socket that receives nothing yet, and finds the interface.
fn packet_socket(interface: &str) -> Result<(OwnedFd, Interface), LinkError> {
    let interface = Interface::find(interface)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)
        .map_err(|errno| LinkError::open("make a packet socket", errno))?;
    Ok((socket, interface))
}

fn ignore_sent(fd: BorrowedFd<'_>) -> Result<(), LinkError> {
    set_option(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)
        .map_err(|errno| LinkError::open("ignore sent frames", errno))
}

/// Returns the length of a frame and the tag that was taken out of it, from a `struct tpacket_auxdata`.
fn auxiliary(control: &[u8]) -> (Option<usize>, Option<VlanTag>) {
    let Some(data) = control::find::<20>(control, libc::SOL_PACKET, libc::PACKET_AUXDATA) else {
        return (None, None);
    };
    let status = u32::from_ne_bytes([data[0], data[1], data[2], data[3]]);
    let length = u32::from_ne_bytes([data[4], data[5], data[6], data[7]]);
    let tag = u16::from_ne_bytes([data[16], data[17]]);
    let has_tag = status & libc::TP_STATUS_VLAN_VALID != 0;
    (
        usize::try_from(length).ok(),
        has_tag.then(|| VlanTag::from_control_information(tag)),
    )
}

/// Returns the beginning of a filter: it drops sent frames without a mark. Other frames go on with the next instruction.
fn only_marked(mark: u32) -> [Instruction; 5] {
    // The kernel has data beside the frame behind this offset (linux/filter.h, SKF_AD_OFF).
    const BESIDE: i32 = -0x1000;
    const PACKET_TYPE: u32 = (BESIDE + 4).cast_unsigned();
    const MARK: u32 = (BESIDE + 20).cast_unsigned();
    [
        (LOAD_WORD, 0, 0, PACKET_TYPE),
        (IF_EQUAL, 0, 3, libc::PACKET_OUTGOING.into()),
        (LOAD_WORD, 0, 0, MARK),
        (IF_EQUAL, 1, 0, mark),
        (RETURN, 0, 0, 0),
    ]
}

/// Returns a filter that keeps whole frames with the EtherType of UADP, tagged or not, and `others` bytes of all other frames.
fn shortening(others: u16) -> [Instruction; 7] {
    [
        // Jumps count from the next instruction.
        (LOAD_HALF, 0, 0, 12),
        (IF_EQUAL, 4, 0, ETHERTYPE.into()),
        (IF_EQUAL, 0, 2, TAG_PROTOCOL.into()),
        (LOAD_HALF, 0, 0, 16),
        (IF_EQUAL, 1, 0, ETHERTYPE.into()),
        (RETURN, 0, 0, others.into()),
        (RETURN, 0, 0, u32::MAX),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::control::tests::item;

    /// Runs a filter as the kernel does: the number of bytes that are kept.
    fn kept(program: &[Instruction], frame: &[u8]) -> u32 {
        kept_with(program, frame, 0, 0)
    }

    /// Runs a filter for a frame with a packet type and a mark.
    fn kept_with(program: &[Instruction], frame: &[u8], packet_type: u8, mark: u32) -> u32 {
        let (mut place, mut value) = (0, 0_u32);
        loop {
            let (code, if_true, if_false, operand) = program[place];
            place += 1;
            match code {
                0x20 if operand == 0xFFFF_F004 => value = packet_type.into(),
                0x20 if operand == 0xFFFF_F014 => value = mark,
                0x28 => {
                    let at = operand as usize;
                    let Some(bytes) = frame.get(at..at + 2) else {
                        return 0;
                    };
                    value = u16::from_be_bytes([bytes[0], bytes[1]]).into();
                }
                0x15 if value == operand => place += usize::from(if_true),
                0x15 => place += usize::from(if_false),
                0x06 => return operand,
                other => unreachable!("{other}"),
            }
        }
    }

    #[test]
    fn frames_of_uadp_are_kept_whole() {
        let frame = |types: &[u8]| [&[0; 12][..], types, &[0; 100]].concat();
        let program = shortening(64);
        for types in [&[0xB6, 0x2C][..], &[0x81, 0, 0x60, 5, 0xB6, 0x2C]] {
            assert_eq!(kept(&program, &frame(types)), u32::MAX);
        }
        for types in [&[0x08, 0][..], &[0x81, 0, 0x60, 5, 8, 0], &[0x88, 0xB5]] {
            assert_eq!(kept(&program, &frame(types)), 64);
        }
    }

    #[test]
    fn sent_frames_are_heard_with_the_mark_only() {
        let frame = [&[0; 12][..], &[0xB6, 0x2C], &[0; 100]].concat();
        let program = [&only_marked(7)[..], &shortening(64)].concat();
        let kept = |packet_type, mark| kept_with(&program, &frame, packet_type, mark);
        let (received, sent) = (libc::PACKET_HOST, libc::PACKET_OUTGOING);
        assert_eq!(kept(sent, 7), u32::MAX);
        assert_eq!(kept(sent, 0), 0);
        assert_eq!([kept(received, 0), kept(received, 7)], [u32::MAX; 2]);
    }

    #[test]
    fn length_and_tag_come_from_the_auxiliary_data() {
        let data = |status: u32| {
            let mut data = status.to_ne_bytes().to_vec();
            data.extend(1518_u32.to_ne_bytes());
            data.extend([0; 8]);
            data.extend((6_u16 << 13 | 5).to_ne_bytes());
            data.extend([0; 2]);
            item(libc::SOL_PACKET, libc::PACKET_AUXDATA, &data)
        };
        let tag = VlanTag { id: 5, priority: 6 };
        let valid = libc::TP_STATUS_VLAN_VALID;
        assert_eq!(auxiliary(&data(valid)), (Some(1518), Some(tag)));
        assert_eq!(auxiliary(&data(0)), (Some(1518), None));
        assert_eq!(auxiliary(&[]), (None, None));
    }
}
