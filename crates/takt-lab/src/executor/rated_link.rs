//! Links with a rate, in the lab's own kernel (`uml/takt_link`).

use takt_tsn::ShellCommand;

use super::link_device::{LinkDevice, LinkSite};
use super::node::LabNode;
use crate::error::LabError;
use crate::network::{DevicePlan, with_colons};

/// Kind of the device, as `ip link` names it.
const KIND: &str = "takt_link";

/// Frames of each queue that wait in the driver besides the one that is sent. The simulator has the same number.
const RING: u32 = 1;

/// Pair of ports that send one frame at a time, for the time of its bytes on the wire at the rate of the link. Only the lab's own kernel
/// has them.
#[derive(Debug, Clone, Copy, Default)]
pub struct RatedLink;

impl LinkDevice for RatedLink {
    fn name(&self) -> &'static str {
        KIND
    }

    fn has_rate(&self) -> bool {
        true
    }

    fn has_offloads(&self) -> bool {
        true
    }

    fn create(&self, site: &LinkSite<'_>) -> Result<(), LabError> {
        let ends = [site.first, site.second];
        for ((node, device), (delays, seed)) in ends.into_iter().zip(
            site.forwarding_delays
                .into_iter()
                .zip(site.forwarding_seeds),
        ) {
            node.commands(vec![device_command(device)])?;
            configure(node, device, configuration(site, delays, seed))?;
        }
        Ok(())
    }
}

fn device_command(device: &DevicePlan) -> ShellCommand {
    let (name, queues) = (&device.name, device.queues);
    let address = with_colons(device.address);
    ShellCommand::ip(format!(
        "link add {name} address {address} numtxqueues {queues} numrxqueues 1 type {KIND}"
    ))
}

/// Returns the configuration of one end. Numbers of links begin with 1. Captures get frames when they are sent (`taps`).
fn configuration(site: &LinkSite<'_>, (least, most): (u64, u64), seed: u64) -> String {
    let number = site.link.link.0 + 1;
    let rate = site.link.rate.0;
    let propagation = site.link.propagation_picos.div_ceil(1000);
    format!(
        "link={number} rate={rate} propagation={propagation} forwarding={least}-{most} ring={RING} seed={seed} taps=1\n"
    )
}

fn configure(node: &LabNode, device: &DevicePlan, configuration: String) -> Result<(), LabError> {
    let file = format!("/sys/class/net/{}/{KIND}/configuration", device.name);
    let written = node.run(move || std::fs::write(file, configuration))?;
    written.map_err(|error| node.step("configure a link", error))
}
