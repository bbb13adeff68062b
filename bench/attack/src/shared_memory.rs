//! Clients over shared memory: too many, silent, too large, and stopped.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use takt_rt::child::{ChildProcess, Ending};
use takt_shm::Runtime;
use takt_ua::structures::{ReadRequest, ReadValueId};
use takt_ua::{NodeId, ids};

use crate::attack_assignment::AttackAssignment;
use crate::channel::{Channel, Lost, PATIENCE, Session, Way};
use crate::kind::Attack;
use crate::request;
use crate::target::Attacker;

/// Returns the address of the server's Unix socket.
fn address(attacker: &Attacker<'_>) -> Result<SocketAddrUnix, Lost> {
    let runtime = Runtime::open(attacker.target.runtime_directory.as_deref())?;
    let name = format!("{}.sock", attacker.endpoints.name);
    let address = SocketAddrUnix::new(runtime.path().join(name));
    Ok(address.map_err(std::io::Error::from)?)
}

/// Connects to the Unix socket and sends nothing.
fn connect(attacker: &mut Attacker<'_>, address: &SocketAddrUnix) -> Result<OwnedFd, Lost> {
    let io = std::io::Error::from;
    let socket = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .map_err(io)?;
    rustix::net::connect(&socket, address).map_err(io)?;
    attacker.tally.connections += 1;
    Ok(socket)
}

/// Connects and closes as fast as possible.
pub(crate) fn flood(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let address = address(attacker)?;
    while attacker.goes_on() {
        match connect(attacker, &address) {
            Ok(socket) => drop(socket),
            Err(lost) => attacker.refused(lost),
        }
    }
    Ok(())
}

/// Opens connections without a channel, and one more for each connection that the server closes.
pub(crate) fn half_open(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let address = address(attacker)?;
    let mut held: Vec<OwnedFd> = Vec::new();
    let count = attacker.count(900);
    while attacker.goes_on() {
        if held.len() < count {
            match connect(attacker, &address) {
                Ok(socket) => held.push(socket),
                Err(lost) => attacker.refused(lost),
            }
        } else {
            attacker.wait(Duration::from_millis(10));
        }
        if held.len().is_multiple_of(64) || held.len() >= count {
            held.retain(|socket| !is_hung_up(socket));
        }
    }
    Ok(())
}

fn is_hung_up(socket: &impl AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut descriptors = [PollFd::new(socket, PollFlags::RDHUP)];
    let ready = poll(&mut descriptors, Some(&Timespec::default()));
    ready.is_ok_and(|count| count > 0)
}

/// Opens as many clients with channels as the server takes, and tries to open more.
pub(crate) fn clients(attacker: &mut Attacker<'_>) {
    let mut held = Vec::new();
    while attacker.goes_on() {
        if held.len() >= attacker.count(300) {
            attacker.hold();
            return;
        }
        match Channel::open(attacker, Way::SharedMemory) {
            Ok(channel) => held.push(channel),
            Err(lost) => attacker.refused(lost),
        }
    }
}

/// Sends requests of 60 MiB over 100 connections, one after the other. Copies that the server makes or keeps are in its own
/// memory.
pub(crate) fn large(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let bytes = 60 << 20;
    let mut held = Vec::new();
    while attacker.goes_on() {
        if held.len() >= attacker.count(100) {
            attacker.hold();
            break;
        }
        // Zeros are the NodeId of no request. The server has to inspect the request before it refuses it.
        let mut channel = match Channel::open(attacker, Way::SharedMemory) {
            Ok(channel) => channel,
            Err(lost) => {
                attacker.refused(lost);
                continue;
            }
        };
        let zeros = vec![0; bytes];
        match channel.send(attacker, &zeros, PATIENCE) {
            Ok(true) => match channel.receive(attacker, PATIENCE) {
                Ok(_) => {}
                Err(lost) => attacker.refused(lost),
            },
            Ok(false) => attacker.refused("no room"),
            Err(lost) => attacker.refused(lost),
        }
        held.push(channel);
    }
    Ok(())
}

/// Stops clients in processes of their own (SIGSTOP) while their requests are answered.
pub(crate) fn stopped(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let program = std::env::current_exe()?;
    let assignment = AttackAssignment {
        attack: Attack::ShmInFlight,
        target: attacker.target.clone(),
        divisor: 1,
    };
    let mut children = Vec::new();
    for _ in 0..attacker.count(16) {
        let mut command = assignment
            .command(&program)
            .map_err(std::io::Error::other)?;
        // A stopped process does not end by itself.
        let child = ChildProcess::start("a stopped client", &mut command, Ending::Input)?;
        let mut child = child.with_grace(Duration::ZERO);
        // The first line tells that the requests are sent.
        child.line(PATIENCE, attacker.stop)?;
        child.suspend();
        attacker.tally.connections += 1;
        attacker.tally.messages += 4;
        children.push(child);
    }
    attacker.hold();
    Ok(())
}

/// Sends requests and does not take their answers. Calls `sent` once the requests are on their way.
pub(crate) fn in_flight(attacker: &mut Attacker<'_>, sent: impl FnOnce()) -> Result<(), Lost> {
    let mut session = Session::open(attacker, Way::SharedMemory)?;
    let value = ReadValueId {
        node_id: NodeId::numeric(0, ids::SERVER_SERVER_STATUS),
        attribute_id: 13,
        ..ReadValueId::default()
    };
    let request = ReadRequest {
        request_header: session.header(),
        nodes_to_read: vec![value; attacker.count(10_000)],
        ..ReadRequest::default()
    };
    let message = request::message(&request);
    for _ in 0..4 {
        session.channel.send(attacker, &message, PATIENCE)?;
    }
    sent();
    attacker.hold();
    Ok(())
}
