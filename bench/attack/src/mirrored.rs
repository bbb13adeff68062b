//! Attack on a server that mirrors the attacker: the attacker is a server.

use std::cell::RefCell;
use std::time::Duration;

use takt_rt::readiness::Events;
use takt_tcp::{TcpServer, TcpServerConfig};

use crate::channel::Lost;
use crate::hostile_server::{ENDLESS, FULL, HostileServer, Served};
use crate::target::Attacker;

/// Nodes of one Session at full strength, with names of 2 kB: just below the memory that a mirror keeps by default.
const NODES: usize = 25_000;

/// Longest wait of the server for its clients.
const TURN: Duration = Duration::from_millis(10);

/// Reserves a port of this host for the attacker. Returns it, and the arguments with which `takt registry` mirrors the attacker.
#[must_use]
pub fn mirror_arguments() -> (u16, Vec<String>) {
    let port = takt_ports::reserve();
    let mirror = |name: &str, path: &str| format!("{name}=opc.tcp://127.0.0.1:{port}{path}");
    let [endless, full] = [mirror("Endless", ENDLESS), mirror("Full", FULL)];
    let arguments = ["--mirror", &endless, "--mirror", &full];
    (port, arguments.map(str::to_owned).to_vec())
}

/// Serves mirrors until the attack ends. All connections end again and again, and the server begins anew.
pub(crate) fn serve(attacker: &mut Attacker<'_>, is_under_way: impl FnOnce()) -> Result<(), Lost> {
    let Some(port) = attacker.target.mirrored else {
        return Err(Lost::Victim("mirrors no server of the attacker"));
    };
    let url = format!("opc.tcp://127.0.0.1:{port}");
    let parsed: takt_tcp::EndpointUrl = url
        .parse()
        .map_err(|_| Lost::Victim("has a wrong port of the attacker"))?;
    let nodes = u32::try_from(attacker.count(NODES)).unwrap_or(u32::MAX);
    let served = RefCell::new(Served::default());
    let mut is_under_way = Some(is_under_way);
    let mut events = Events::with_capacity(64);
    while attacker.goes_on() {
        served.borrow_mut().is_over = false;
        let hostile = HostileServer {
            url: url.clone(),
            nodes,
            served: &served,
        };
        let server = TcpServer::bind(&parsed, TcpServerConfig::default(), hostile);
        let mut server = match server {
            Ok(server) => server,
            Err(error) => {
                attacker.refused(error);
                continue;
            }
        };
        while attacker.goes_on() && !served.borrow().is_over {
            server.turn(&mut events, Some(TURN))?;
            if served.borrow().is_full_mirrored
                && let Some(begun) = is_under_way.take()
            {
                begun();
            }
        }
    }
    let served = served.into_inner();
    attacker.tally.connections += served.connections;
    attacker.tally.messages += served.messages;
    Ok(())
}
