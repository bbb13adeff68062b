//! Arguments of the command line.

use clap::{Parser, Subcommand};

/// Benchmarks of Takt, each beside the floor of this machine. `takt bench` passes on to this program.
#[derive(Debug, Parser)]
#[command(
    name = "takt-bench",
    bin_name = "takt bench",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: BenchCommand,
    /// Print more messages on the error output; twice for all details.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Latency of requests over shared memory and TCP, of Takt and open62541, beside the floors.
    #[command(
        after_help = "Examples:\n  takt bench transport\n  takt bench transport --only \"opc.tcp 4 diff\"\n  takt bench transport --samples 20000 --json"
    )]
    Transport(takt_bench::transport::Options),
    /// Latency of GetValue() and SetValue() as in Tables 1 and 2 of the paper, beside TCP, open62541 and the floors.
    #[command(
        after_help = "Examples:\n  takt bench shm\n  takt bench shm --idle 255 --json\n  takt bench shm --placement diff \
                      --sizes 4..1MiB --plot latency.png\n  takt bench shm --rate 1kHz --iterations 10000"
    )]
    Shm(takt_bench::shm::Options),
    /// Comparison of the SR-Server architecture with classical OPC UA: connections, bytes, memory, time to discover.
    #[command(
        after_help = "Examples:\n  takt bench directory\n  takt bench directory --providers 1,10,100,500 --json\n  takt bench \
                      directory --providers 50 --consumers 4"
    )]
    Directory(takt_bench::directory::Options),
    /// Round trip of PubSub messages without a cycle, beside a bare echo of the same bytes.
    #[command(
        after_help = "Examples:\n  takt bench pubsub\n  takt bench pubsub --interface veth0 --peer veth1"
    )]
    #[command(name = "pubsub")]
    PubSub(takt_bench::pubsub::Options),
    /// Reads over opc.tcp with and without security, of one and of 1000 nodes, beside open62541 and the floor.
    #[command(
        after_help = "Examples:\n  takt bench reads\n  takt bench reads --security Basic256Sha256 --reads 100000"
    )]
    Reads(takt_bench::reads::Options),
    /// Many sessions with Subscriptions at one server: lost notifications, delays, processor time and memory.
    #[command(
        after_help = "Examples:\n  takt bench sessions\n  takt bench sessions --security none\n  takt bench sessions --sessions \
                      100 --items 50 --seconds 5 --json"
    )]
    Sessions(takt_bench::sessions::Options),
    /// Latency of a client, memory and descriptors of a server, without and with an attack by another client.
    #[command(
        after_help = "Examples:\n  takt bench attack\n  takt bench attack --only translate,browse --seconds 3\n  takt bench attack \
                      --json\n  takt bench attack --list"
    )]
    Attack(takt_bench::attack::Options),
    /// Round trips of OPC UA, MQTT, DDS, ROS and other middleware, in real processes and one run.
    #[command(
        after_help = "Examples:\n  takt bench middleware --quick\n  takt bench middleware --only tcp,udp --sizes 2,1024 --samples 1000\n  \
                      takt bench middleware --quick --load idle,cpu,network --resting --resting-samples 20\n  takt bench middleware \
                      --scheduler fifo:50\n  takt bench middleware --resume\n  \
                      takt bench middleware --link veth,rate=1gbit,delay=2ms,loss=1%\n  \
                      takt bench middleware --server-host user@host"
    )]
    Middleware(takt_middleware::MiddlewareOptions),
    /// Foreign peers of the comparison of middleware: their state and installation.
    #[command(
        after_help = "Examples:\n  takt bench peers list\n  takt bench peers install --required\n  takt bench peers install nats --yes"
    )]
    #[command(subcommand)]
    Peers(takt_middleware::PeersCommand),
    /// Bytes that each message of OPC UA, MQTT, DDS, ROS and other middleware takes in TCP and UDP, counted in captures.
    #[command(
        after_help = "Examples:\n  takt bench overhead\n  takt bench overhead --only takt,mqtt\n  takt bench overhead --markdown"
    )]
    Overhead(takt_middleware::overhead::OverheadOptions),
    /// Memory, start and round trip of hundreds of servers on this host, through which messages go one after the other.
    #[command(
        after_help = "Examples:\n  takt bench nodes\n  takt bench nodes --only takt --streams 4 --hops 10\n  takt bench nodes --only dds --discovery next"
    )]
    Nodes(takt_middleware::nodes::NodesOptions),
    /// Node of `takt bench nodes`.
    #[command(hide = true)]
    Node(takt_middleware::nodes::NodeSetting),
    /// Capture of an interface until the standard input ends.
    #[command(hide = true)]
    Capture {
        /// Interface.
        interface: String,
        /// File in the format pcapng.
        file: std::path::PathBuf,
    },
    /// One side of the network load of the comparison of middleware.
    #[command(hide = true)]
    #[command(subcommand)]
    Traffic(takt_middleware::TrafficSide),
    /// Relay between two interfaces until the standard input ends.
    #[command(hide = true)]
    Relay(takt_middleware::environment::RelaySetting),
    /// Use of resources by a process group, as JSON.
    #[command(hide = true)]
    Usage {
        /// Process id of its leader.
        group: u32,
    },
    /// One side of a peer of the comparison of middleware, which speaks its line protocol.
    #[command(hide = true)]
    Peer {
        /// Middleware.
        peer: takt_middleware::own::OwnPeer,
        /// Side.
        #[command(subcommand)]
        side: takt_middleware::own::PeerSide,
    },
    /// Carry out an assignment of another benchmark, which starts this process.
    #[command(hide = true)]
    Process {
        /// Kind of the assignment.
        name: String,
        /// The assignment, a JSON text.
        assignment: String,
    },
}
