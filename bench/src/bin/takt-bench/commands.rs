//! Benchmarks, and the processes that they start.

use miette::IntoDiagnostic;
use takt_bench::{BenchError, attack, directory, pubsub, reads, sessions, shm, transport};
use takt_middleware::{MiddlewareError, PeerUsage, environment, nodes, overhead};
use takt_rt::interrupt::Interrupt;

use crate::arguments::BenchCommand;

/// Runs a command.
pub fn run(command: &BenchCommand) -> miette::Result<()> {
    let interrupt = || Interrupt::install().into_diagnostic();
    let (name, result) = match command {
        BenchCommand::Transport(options) => {
            let result = transport::run(options, &interrupt()?.flag(), takt_terminal::line);
            ("transport", result)
        }
        BenchCommand::Shm(options) => {
            let result = shm::run(options, &interrupt()?.flag(), takt_terminal::line);
            ("shm", result)
        }
        BenchCommand::Directory(options) => {
            let result = directory::run(options, &interrupt()?.flag(), takt_terminal::line);
            ("directory", result)
        }
        BenchCommand::PubSub(options) => {
            let result = pubsub::run(options, &interrupt()?.flag(), takt_terminal::line);
            ("pubsub", result)
        }
        BenchCommand::Reads(options) => {
            let result = reads::run(options, &interrupt()?.flag(), takt_terminal::line);
            ("reads", result)
        }
        BenchCommand::Sessions(options) => {
            let result = sessions::run(options, &interrupt()?.flag(), takt_terminal::line);
            ("sessions", result)
        }
        BenchCommand::Attack(options) => {
            let result = attack::run(options, &interrupt()?.flag(), takt_terminal::line);
            ("attack", result)
        }
        BenchCommand::Middleware(options) => {
            let result = takt_middleware::run(options, &interrupt()?.flag(), takt_terminal::line);
            return compared("middleware", result);
        }
        BenchCommand::Peers(command) => {
            let result = takt_middleware::peers(command, &interrupt()?.flag(), takt_terminal::line);
            return compared("peers", result);
        }
        BenchCommand::Overhead(options) => {
            let result = overhead::run(options, &interrupt()?.flag(), takt_terminal::line);
            return compared("overhead", result);
        }
        BenchCommand::Nodes(options) => {
            let result = nodes::run(options, &interrupt()?.flag(), takt_terminal::line);
            return compared("nodes", result);
        }
        BenchCommand::Node(setting) => {
            if let Err(error) = nodes::node(setting) {
                takt_terminal::complain(&error);
                std::process::exit(error.exit_status());
            }
            return Ok(());
        }
        BenchCommand::Capture { interface, file } => {
            if let Err(error) = overhead::capture(interface, file) {
                takt_terminal::complain(&error);
                std::process::exit(error.exit_status());
            }
            return Ok(());
        }
        BenchCommand::Traffic(side) => {
            if let Err(error) = takt_middleware::traffic(side) {
                takt_terminal::complain(&error);
                std::process::exit(error.exit_status());
            }
            return Ok(());
        }
        BenchCommand::Relay(setting) => {
            if let Err(error) = environment::relay(setting) {
                takt_terminal::complain(&error);
                std::process::exit(error.exit_status());
            }
            return Ok(());
        }
        BenchCommand::Usage { group } => {
            takt_terminal::line(
                serde_json::to_string(&PeerUsage::of_group(*group)).into_diagnostic()?,
            );
            return Ok(());
        }
        BenchCommand::Peer { peer, side } => {
            if let Err(error) = peer.run(side) {
                takt_terminal::complain(&error);
                std::process::exit(error.exit_status());
            }
            return Ok(());
        }
        // The process ends with its input, and by signals as usual.
        BenchCommand::Process { name, assignment } => {
            ("process", takt_bench::carry_out(name, assignment))
        }
    };
    explained(name, result)
}

/// Adds advice to an error of the comparison of middleware. After an interrupt it ends the process.
fn compared(name: &str, result: Result<(), MiddlewareError>) -> miette::Result<()> {
    result.map_err(|error| {
        let help = match &error {
            MiddlewareError::Interrupted => std::process::exit(130),
            MiddlewareError::OtherOptions { .. } => {
                "Use the same options, another --output, or no --resume, which begins anew.".to_owned()
            }
            MiddlewareError::Environment(_) => {
                "docs/middleware.md, section Places, tells what a link and another host need.".to_owned()
            }
            MiddlewareError::Unconfirmed => "`--yes` installs without a question.".to_owned(),
            MiddlewareError::Required(_) => {
                "`takt bench peers install --required` installs them; the report names the reason of each.".to_owned()
            }
            MiddlewareError::NoMatch(_) => {
                "`takt bench peers list` shows the names of the peers.".to_owned()
            }
            MiddlewareError::Table { .. } => "docs/add-a-peer.md describes the table of peers.".to_owned(),
            MiddlewareError::Install { .. } => {
                "The output of a build is in target/middleware/NAME.log.".to_owned()
            }
            MiddlewareError::File { .. } => {
                "The file or its folder is missing, belongs to another user, or its disk is full.".to_owned()
            }
            _ => format!("`takt bench {name} --help` lists the options."),
        };
        takt_terminal::with_help(error, help)
    })
}

/// Adds advice to an error of the command `takt bench NAME`. After an interrupt it ends the process.
fn explained(name: &str, result: Result<(), BenchError>) -> miette::Result<()> {
    match result {
        // This is the exit status that a shell reports after SIGINT.
        Err(BenchError::Interrupted) => std::process::exit(130),
        result => result.map_err(|error| {
            takt_terminal::with_help(
                error,
                format!("`takt bench {name} --help` lists the options."),
            )
        }),
    }
}
