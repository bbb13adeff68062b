//! Frames that are given to the kernel early, with the time at which to send them, and the disciplines that hold them until then.

use takt_scenario::{Application, Duration, Flow, Part, Queue};

use super::error::ScenarioBoundsError;
use super::quantities::{class_at, seconds, seconds_by, sender, way_back};
use super::sound::Mapping;

impl Mapping<'_> {
    /// Checks that frames with a txtime leave the Publisher's and the loopback's node at that time, and in that order. Only then
    /// do their threads not matter.
    pub(super) fn check_txtimes(
        &self,
        flow: &Flow,
        application: &Application,
    ) -> Result<(), ScenarioBoundsError> {
        let Some(lead) = application.txtime else {
            return Ok(());
        };
        self.check_txtime(flow, application, lead)?;
        match way_back(self.scenario, flow.source) {
            Some(back) => self.check_txtime(back, application, lead),
            None => Ok(()),
        }
    }

    fn check_txtime(
        &self,
        flow: &Flow,
        application: &Application,
        lead: Duration,
    ) -> Result<(), ScenarioBoundsError> {
        let Some(first) = flow.ports.first() else {
            return Ok(());
        };
        let class = class_at(self.scenario, flow, *first);
        let refused = |what: String| {
            Err(ScenarioBoundsError::NotModelled {
                place: self.scenario.port_name(*first),
                what,
                part: Part::Class {
                    port: *first,
                    class,
                },
            })
        };
        let discipline = &self.scenario.ports[first.0].discipline;
        if discipline.scheduler.txtime_assist().is_some() {
            return refused(
                "frames with their own txtimes below txtime_assist, whose times for them are unknown"
                    .to_owned(),
            );
        }
        // The frame is given to the kernel when it is protected.
        let protect = application.security.protect;
        if lead < protect {
            return refused(format!(
                "frames that are dropped: they are protected for {protect}, which begins {lead} before their txtime"
            ));
        }
        let lead = Duration(lead.0 - protect.0);
        let queue = discipline.queue_of(flow.pcp);
        let Some(etf) = queue.and_then(Queue::launch) else {
            return refused(format!(
                "frames that are given to it {lead} before their txtime: no etf holds them until then"
            ));
        };
        if etf.deadline_mode {
            return refused(
                "etf in deadline_mode, which sends in the order of deadlines".to_owned(),
            );
        }
        let delta = etf.delta;
        if lead < delta {
            return refused(format!(
                "frames that are dropped: they are given to etf {lead} before their time, but delta is {delta}"
            ));
        }
        let node = &self.scenario.nodes[sender(flow, application).0];
        let late = node.wake_up_latency.most();
        let until_released = seconds_by(lead, node.clock) - seconds_by(delta, node.clock);
        if !etf.offload && until_released < seconds(late) {
            return refused(format!(
                "frames that are sent late and in another order: they are given to etf {lead} before their time, {late} later at most, \
                 but delta is {delta}, and without offload they leave then"
            ));
        }
        Ok(())
    }
}
