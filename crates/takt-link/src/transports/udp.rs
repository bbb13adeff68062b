//! `opc.udp://`: UADP NetworkMessages in UDP datagrams, unicast, multicast or broadcast (OPC 10000-14, 7.3.2).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::error::{DownReason, LinkError};
use crate::interface::{Interface, socket_address};
use crate::limits;
use crate::link::{Receiver, Sender};
use crate::options::LinkOptions;
use crate::received::{Received, Source};
use crate::socket::{self, Incoming, Opened, Outgoing, set_receive_options, set_send_options};
use crate::unsafe_code::batches::{Datagram, Parts};
use crate::unsafe_code::sockets::set_option;

/// Length of the longest message, in bytes: 65 535 less the headers (OPC 10000-14, 7.3.2.1).
const LONGEST_IPV4: usize = 65_535 - 20 - 8;
const LONGEST_IPV6: usize = 65_535 - 40 - 8;
/// Host name of receivers on all interfaces (OPC 10000-14, 7.3.2.3).
const LOCALHOST: &str = "localhost";

/// Address and options of a socket.
struct Udp {
    address: SocketAddr,
    /// True if it receives on all interfaces, of both families.
    listens_everywhere: bool,
    options: LinkOptions,
}

pub(crate) fn open_sender(
    host: &str,
    port: u16,
    options: &LinkOptions,
) -> Result<Box<dyn Sender>, LinkError> {
    let udp = Udp::new(host, port, options, false)?;
    let size = udp.max_message_size()?;
    socket::open_sender(udp, options, size, &[])
}

pub(crate) fn open_receiver(
    host: &str,
    port: u16,
    options: &LinkOptions,
) -> Result<Box<dyn Receiver>, LinkError> {
    let udp = Udp::new(host, port, options, true)?;
    let size = udp.max_message_size()?;
    socket::open_receiver(udp, options, size, 0)
}

fn resolve(host: &str, port: u16) -> Result<SocketAddr, LinkError> {
    let failed = |cause| LinkError::Resolve {
        host: host.to_owned(),
        cause,
    };
    let found: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(failed)?.collect();
    // A name with addresses of both families is resolved to IPv4, which controllers have.
    let ipv4 = found.iter().find(|address| address.is_ipv4());
    let address = ipv4.or_else(|| found.first()).copied();
    address.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))
}

/// Returns the error of a step of opening, which may only mean that the link is down.
fn step(operation: &'static str) -> impl Fn(Errno) -> LinkError {
    move |errno| match DownReason::of(errno) {
        // In these steps the address is one of this host. An address that no interface has is a mistake of the caller.
        Some(reason) if errno != Errno::ADDRNOTAVAIL => LinkError::Down(reason),
        _ => LinkError::open(operation, errno),
    }
}

impl Udp {
    fn new(
        host: &str,
        port: u16,
        options: &LinkOptions,
        is_receiver: bool,
    ) -> Result<Self, LinkError> {
        let listens_everywhere = is_receiver && host.eq_ignore_ascii_case(LOCALHOST);
        let address = if listens_everywhere {
            SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port)
        } else {
            resolve(host, port)?
        };
        if let Some(dscp) = options.dscp.filter(|&dscp| dscp > 63) {
            return Err(LinkError::option("dscp", dscp, "0 to 63"));
        }
        Ok(Self {
            address,
            listens_everywhere,
            options: options.clone(),
        })
    }

    fn max_message_size(&self) -> Result<usize, LinkError> {
        // A socket of both families also takes those of IPv4, whose header is the shorter one.
        let longest = if self.address.is_ipv4() || self.listens_everywhere {
            LONGEST_IPV4
        } else {
            LONGEST_IPV6
        };
        limits::max_message_size(&self.options, longest)
    }

    fn interface(&self) -> Result<Option<Interface>, LinkError> {
        self.options
            .interface
            .as_deref()
            .map(Interface::find)
            .transpose()
    }

    fn socket(&self, address: SocketAddr) -> Result<OwnedFd, Errno> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::CLOEXEC;
        rustix::net::socket_with(family, SocketType::DGRAM, flags, None)
    }

    /// Returns the destination; on the interface, if its address exists on every one.
    fn destination(&self, interface: Option<&Interface>) -> SocketAddr {
        match interface {
            Some(interface) => interface.socket_address(self.address.ip(), self.address.port()),
            // It may have a zone of its own.
            None => self.address,
        }
    }

    /// Sets TTL, DSCP, and the interface of multicast messages.
    fn set_outgoing(
        &self,
        socket: &OwnedFd,
        interface: Option<&Interface>,
    ) -> Result<(), LinkError> {
        let options = &self.options;
        let index = interface.map(|interface| interface.index);
        let is_multicast = self.address.ip().is_multicast();
        let set = |operation, result: Result<(), Errno>| result.map_err(step(operation));
        match self.address.ip() {
            IpAddr::V4(_) => {
                if let Some(dscp) = options.dscp {
                    // DSCP is the upper six bits of this byte; the lower two are for congestion.
                    set("set DSCP", sockopt::set_ip_tos(socket, dscp << 2))?;
                }
                if is_multicast {
                    let is_wanted = options.multicast_loopback;
                    set(
                        "set multicast loopback",
                        sockopt::set_ip_multicast_loop(socket, is_wanted),
                    )?;
                    if let Some(index) = index {
                        let any = Ipv4Addr::UNSPECIFIED;
                        set(
                            "choose the interface",
                            sockopt::set_ip_multicast_if_with_ifindex(socket, &any, &any, index),
                        )?;
                    }
                    if let Some(ttl) = options.ttl {
                        set("set TTL", sockopt::set_ip_multicast_ttl(socket, ttl.into()))?;
                    }
                } else if let Some(ttl) = options.ttl {
                    set("set TTL", sockopt::set_ip_ttl(socket, ttl.into()))?;
                }
            }
            IpAddr::V6(_) => {
                if let Some(dscp) = options.dscp {
                    let class = u32::from(dscp) << 2;
                    set("set DSCP", sockopt::set_ipv6_tclass(socket, class))?;
                }
                if is_multicast {
                    let is_wanted = options.multicast_loopback;
                    set(
                        "set multicast loopback",
                        sockopt::set_ipv6_multicast_loop(socket, is_wanted),
                    )?;
                    if let Some(index) = index {
                        set(
                            "choose the interface",
                            sockopt::set_ipv6_multicast_if(socket, index),
                        )?;
                    }
                    if let Some(ttl) = options.ttl {
                        set(
                            "set the hop limit",
                            sockopt::set_ipv6_multicast_hops(socket, ttl.into()),
                        )?;
                    }
                } else if let Some(ttl) = options.ttl {
                    set(
                        "set the hop limit",
                        sockopt::set_ipv6_unicast_hops(socket, Some(ttl)),
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl Outgoing for Udp {
    fn open(&self) -> Result<Opened, LinkError> {
        let interface = self.interface()?;
        let address = self.address;
        let socket = self
            .socket(address)
            .map_err(|errno| LinkError::open("make a UDP socket", errno))?;
        // The kernel knows by the route whether the address is one of broadcasts; it refuses them by default.
        sockopt::set_socket_broadcast(&socket, true)
            .map_err(|errno| LinkError::open("allow broadcasts", errno))?;
        self.set_outgoing(&socket, interface.as_ref())?;
        // These follow DSCP, which changes the priority.
        set_send_options(&socket, &self.options)?;
        if self.options.launch_times.is_some() {
            // Otherwise the kernel does not tell a UDP socket that the queueing discipline refused a message.
            let (level, option) = match address {
                SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_RECVERR),
                SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVERR),
            };
            set_option(socket.as_fd(), level, option, 1)
                .map_err(|errno| LinkError::open("ask for refused messages", errno))?;
        }
        if let Some(interface) = &interface
            && !address.ip().is_multicast()
        {
            // An interface may have no address as long as it is down.
            let own = interface.address_like(address.ip());
            let own = own.ok_or(LinkError::Down(DownReason::Unreachable))?;
            rustix::net::bind(&socket, &interface.socket_address(own, 0))
                .map_err(step("bind to the interface's address"))?;
        }
        let destination = self.destination(interface.as_ref());
        rustix::net::connect(&socket, &destination).map_err(|errno| {
            DownReason::of(errno).map_or_else(
                || LinkError::open("choose a route to the destination", errno),
                LinkError::Down,
            )
        })?;
        Ok(Opened { socket, interface })
    }
}

impl Incoming for Udp {
    fn open(&self) -> Result<Opened, LinkError> {
        let interface = self.interface()?;
        let mut address = self.address;
        let socket = match self.socket(address) {
            // A kernel without IPv6 still listens to IPv4.
            Err(Errno::AFNOSUPPORT) if self.listens_everywhere => {
                address.set_ip(Ipv4Addr::UNSPECIFIED.into());
                self.socket(address)
            }
            other => other,
        };
        let socket = socket.map_err(|errno| LinkError::open("make a UDP socket", errno))?;
        if self.listens_everywhere {
            if let Some(interface) = &interface {
                // The socket then receives at the address of this interface.
                let own = interface
                    .ipv4()
                    .ok_or(LinkError::Down(DownReason::Unreachable))?;
                return self.listen(
                    self.socket((own, 0).into()),
                    own.into(),
                    Some(interface.clone()),
                );
            }
            if address.is_ipv6() {
                sockopt::set_ipv6_v6only(&socket, false)
                    .map_err(|errno| LinkError::open("listen to IPv4 too", errno))?;
            }
        }
        self.listen(Ok(socket), address.ip(), interface)
    }

    fn parts(&self) -> Parts {
        Parts {
            name: true,
            control: false,
        }
    }

    fn unpack<'a>(&self, datagram: Datagram<'a>) -> Option<Received<'a>> {
        Some(Received {
            bytes: datagram.bytes,
            source: Source::Udp(socket_address(datagram.name)?),
            topic: None,
            time: None,
        })
    }
}

impl Udp {
    fn listen(
        &self,
        socket: Result<OwnedFd, Errno>,
        address: IpAddr,
        interface: Option<Interface>,
    ) -> Result<Opened, LinkError> {
        let socket = socket.map_err(|errno| LinkError::open("make a UDP socket", errno))?;
        let index = interface.as_ref().map_or(0, |interface| interface.index);
        set_receive_options(&socket, &self.options)?;
        if address.is_multicast() {
            // Other programs on this host may receive too.
            sockopt::set_socket_reuseaddr(&socket, true)
                .map_err(|errno| LinkError::open("share the port", errno))?;
        }
        let mut bound = SocketAddr::new(address, self.address.port());
        if let SocketAddr::V6(bound) = &mut bound {
            // A link-local address, such as ff02::1, can be bound only together with its interface.
            bound.set_scope_id(index);
        }
        rustix::net::bind(&socket, &bound).map_err(step("bind to the address"))?;
        match address {
            IpAddr::V4(group) if group.is_multicast() => {
                sockopt::set_ip_add_membership_with_ifindex(
                    &socket,
                    &group,
                    &Ipv4Addr::UNSPECIFIED,
                    index,
                )
                .map_err(step("join the multicast group"))?;
                // Receive only from the interface that has joined the group.
                set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_MULTICAST_ALL, 0)
                    .map_err(|errno| LinkError::open("leave other programs' groups", errno))?;
            }
            IpAddr::V6(group) if group.is_multicast() => {
                sockopt::set_ipv6_add_membership(&socket, &group, index)
                    .map_err(step("join the multicast group"))?;
            }
            _ => {}
        }
        Ok(Opened { socket, interface })
    }
}
