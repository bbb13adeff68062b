//! `opc.eth://`: UADP NetworkMessages in Ethernet frames (OPC 10000-14, 7.3.3).
//!
//! The 802.1Q tag is written and read here, so that no VLAN device is needed. The kernel removes the tag from received frames, and
//! does not tell it to sockets for one EtherType. Therefore a receiver with a VLAN asks for all frames, with a filter that the kernel
//! runs, and reads the tag from the control messages.
//!
//! A receiver of a group without a VLAN needs no tags. A socket for the EtherType of UADP is enough for it, which takes less time for
//! each of its frames, and none for other frames of the interface. The kernel marks a frame of another VLAN as one for another host,
//! and the filter leaves it out.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::address::{MacAddress, VlanTag};
use crate::control;
use crate::error::LinkError;
use crate::frame::{ETHERTYPE, Frame, Header, MAX_HEADER, MAX_PAYLOAD, TAG_PROTOCOL};
use crate::interface::Interface;
use crate::limits;
use crate::link::{Receiver, Sender};
use crate::options::LinkOptions;
use crate::received::{Received, Source};
use crate::socket::{self, Incoming, Opened, Outgoing, set_receive_options, set_send_options};
use crate::unsafe_code::batches::{Datagram, Parts};
use crate::unsafe_code::sockets::{self, Instruction, set_option};

/// Mark of frames for another host (`PACKET_OTHERHOST`).
const OTHER_HOST: u32 = 3;

/// All EtherTypes (`ETH_P_ALL`).
const ALL_PROTOCOLS: u16 = libc::ETH_P_ALL as u16;

struct Ethernet {
    host: MacAddress,
    vlan: Option<VlanTag>,
    interface: String,
    options: LinkOptions,
}

pub(crate) fn open_sender(
    host: MacAddress,
    vlan: Option<VlanTag>,
    options: &LinkOptions,
) -> Result<Box<dyn Sender>, LinkError> {
    let ethernet = Ethernet::new(host, vlan, options)?;
    let (interface, size) = ethernet.limits()?;
    let header = Header::new(host, interface.mac.unwrap_or(MacAddress([0; 6])), vlan);
    socket::open_sender(ethernet, options, size, header.as_bytes())
}

pub(crate) fn open_receiver(
    host: MacAddress,
    vlan: Option<VlanTag>,
    options: &LinkOptions,
) -> Result<Box<dyn Receiver>, LinkError> {
    let ethernet = Ethernet::new(host, vlan, options)?;
    let (_, size) = ethernet.limits()?;
    socket::open_receiver(ethernet, options, size, MAX_HEADER)
}

impl Ethernet {
    fn new(
        host: MacAddress,
        vlan: Option<VlanTag>,
        options: &LinkOptions,
    ) -> Result<Self, LinkError> {
        let interface = options
            .interface
            .clone()
            .ok_or(LinkError::InterfaceRequired)?;
        Ok(Self {
            host,
            vlan,
            interface,
            options: options.clone(),
        })
    }

    fn socket() -> Result<OwnedFd, LinkError> {
        let flags = SocketFlags::CLOEXEC;
        // Without a protocol, nothing is received before the filter is set.
        rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)
            .map_err(|errno| LinkError::open("make a packet socket", errno))
    }

    /// Returns the interface, and the length of the longest message that it takes.
    fn limits(&self) -> Result<(Interface, usize), LinkError> {
        let interface = Interface::find(&self.interface)?;
        let mtu = interface.mtu(Self::socket()?.as_fd());
        let mtu = mtu.map_err(|errno| LinkError::open("ask for the interface's MTU", errno))?;
        let size = limits::max_message_size(&self.options, mtu.min(MAX_PAYLOAD))?;
        Ok((interface, size))
    }

    /// Returns true if a receiver needs the tags of frames.
    ///
    /// Without a VLAN, a frame with a VID is for another network. The kernel marks it as a frame for another host; but it marks
    /// unicast frames for an address that is not the interface's in the same way.
    fn needs_tags(&self) -> bool {
        self.vlan.is_some() || !self.host.is_group()
    }

    fn bind(&self, socket: OwnedFd, protocol: u16) -> Result<Opened, LinkError> {
        let interface = Interface::find(&self.interface)?;
        sockets::bind_packet_socket(socket.as_fd(), interface.index, protocol)
            .map_err(|errno| LinkError::open("bind to the interface", errno))?;
        Ok(Opened {
            socket,
            interface: Some(interface),
        })
    }
}

impl Outgoing for Ethernet {
    fn open(&self) -> Result<Opened, LinkError> {
        let socket = Self::socket()?;
        set_send_options(&socket, &self.options)?;
        if let (Some(vlan), None) = (self.vlan, self.options.priority) {
            // Priorities above 6 need CAP_NET_ADMIN; without it the frame still has its tag.
            let _ = set_option(
                socket.as_fd(),
                libc::SOL_SOCKET,
                libc::SO_PRIORITY,
                vlan.priority.into(),
            );
        }
        self.bind(socket, 0)
    }
}

impl Incoming for Ethernet {
    fn open(&self) -> Result<Opened, LinkError> {
        let socket = Self::socket()?;
        let fd = socket.as_fd();
        let failed = |operation| move |errno: Errno| LinkError::open(operation, errno);
        set_receive_options(&socket, &self.options)?;
        let set = |option| set_option(fd, libc::SOL_PACKET, option, 1);
        let protocol = match self.needs_tags() {
            true => {
                sockets::attach_filter(fd, &filter(self.host)).map_err(failed("set the filter"))?;
                set(libc::PACKET_AUXDATA).map_err(failed("ask for VLAN tags"))?;
                // A socket for all EtherTypes also hears the frames that this host sends.
                set(libc::PACKET_IGNORE_OUTGOING).map_err(failed("ignore outgoing frames"))?;
                ALL_PROTOCOLS
            }
            false => {
                sockets::attach_filter(fd, &untagged_filter(self.host))
                    .map_err(failed("set the filter"))?;
                ETHERTYPE
            }
        };
        let opened = self.bind(socket, protocol)?;
        if self.host.is_group()
            && let Some(interface) = &opened.interface
        {
            sockets::join_packet_group(opened.socket.as_fd(), interface.index, self.host)
                .map_err(failed("join the multicast group"))?;
        }
        Ok(opened)
    }

    fn parts(&self) -> Parts {
        Parts {
            name: false,
            control: self.needs_tags(),
        }
    }

    fn unpack<'a>(&self, datagram: Datagram<'a>) -> Option<Received<'a>> {
        let frame = Frame::parse(datagram.bytes, stripped_tag(datagram.control))?;
        // A VID of 0 means no VLAN.
        let vlan_id = |vlan: Option<VlanTag>| vlan.map_or(0, |vlan| vlan.id);
        if frame.destination != self.host || vlan_id(frame.vlan) != vlan_id(self.vlan) {
            return None;
        }
        Some(Received {
            bytes: frame.payload,
            source: Source::Ethernet {
                address: frame.source,
                vlan: frame.vlan,
            },
            topic: None,
            time: None,
        })
    }
}

/// Returns the tag that the kernel removed from a frame, from a `struct tpacket_auxdata`.
fn stripped_tag(control: &[u8]) -> Option<VlanTag> {
    let data: [u8; 20] = control::find(control, libc::SOL_PACKET, libc::PACKET_AUXDATA)?;
    let status = u32::from_ne_bytes([data[0], data[1], data[2], data[3]]);
    let number = u16::from_ne_bytes([data[16], data[17]]);
    (status & libc::TP_STATUS_VLAN_VALID != 0).then(|| VlanTag::from_control_information(number))
}

const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const LOAD_HALF: u16 = 0x28; // BPF_LD | BPF_H | BPF_ABS
const LOAD_BYTE: u16 = 0x30; // BPF_LD | BPF_B | BPF_ABS
const IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

/// Returns a filter for frames to `host` that are not marked as frames for another host, for a socket of one EtherType.
fn untagged_filter(host: MacAddress) -> [Instruction; 8] {
    // Ancillary data is at negative places.
    const KIND: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32;
    let [a, b, c, d, e, f] = host.0;
    [
        (LOAD_BYTE, 0, 0, KIND),
        (IF_EQUAL, 5, 0, OTHER_HOST),
        (LOAD_WORD, 0, 0, 0),
        (IF_EQUAL, 0, 3, u32::from_be_bytes([a, b, c, d])),
        (LOAD_HALF, 0, 0, 4),
        (IF_EQUAL, 0, 1, u32::from_be_bytes([0, 0, e, f])),
        (RETURN, 0, 0, u32::MAX),
        (RETURN, 0, 0, 0),
    ]
}

/// Returns a filter for frames to `host` with the EtherType of UADP, tagged or not.
fn filter(host: MacAddress) -> [Instruction; 9] {
    let [a, b, c, d, e, f] = host.0;
    [
        (LOAD_WORD, 0, 0, 0),
        (IF_EQUAL, 0, 6, u32::from_be_bytes([a, b, c, d])),
        (LOAD_HALF, 0, 0, 4),
        (IF_EQUAL, 0, 4, u32::from_be_bytes([0, 0, e, f])),
        (LOAD_HALF, 0, 0, 12),
        (IF_EQUAL, 1, 0, ETHERTYPE.into()),
        (IF_EQUAL, 0, 1, TAG_PROTOCOL.into()),
        // The EtherType behind the tag is checked later.
        (RETURN, 0, 0, u32::MAX),
        (RETURN, 0, 0, 0),
    ]
}
