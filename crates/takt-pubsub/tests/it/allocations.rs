//! Publishing from cells and receiving into cells allocates nothing, in any encoding of the fields.

use takt_ua::enumerations::{DataSetFieldContentMask, MessageSecurityMode, PubSubState};
use takt_ua::{DateTime, StatusCode, Variant};

use crate::support::{Buffer, Setup};

const CYCLES: u32 = 10_000;

#[test]
fn the_cyclic_publisher_and_subscriber_allocate_nothing() {
    takt_malloc::alone(|| {
        use DataSetFieldContentMask as Mask;
        let values = [Variant::UInt32(0), Variant::from(vec![0.0_f64; 100])];
        use MessageSecurityMode as Mode;
        for (mode, mask, fields) in [
            (Mode::None, 0, 2),
            (Mode::SignAndEncrypt, 0, 2),
            (Mode::Sign, Mask::RawData, 1),
            (Mode::None, Mask::RawData, 1),
            (
                Mode::None,
                Mask::StatusCode | Mask::SourceTimestamp | Mask::ServerTimestamp,
                2,
            ),
        ] {
            let mut setup = Setup::new(&values[..fields]);
            setup.writer().data_set_field_content_mask = mask;
            setup.protect(mode);
            let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
            let ring = crate::support::keys(1, std::time::Instant::now());
            group.set_keys(&ring);
            subscriber.set_keys("Keys", &ring);
            let (source, target) = (setup.cell(0), setup.target(0));
            let mut output = Buffer::default();
            let mut cycle = |step: u32| {
                source
                    .set_scalar(step, StatusCode::Good, DateTime::now())
                    .unwrap();
                let now = crate::support::now();
                let published = group
                    .publish(now, PubSubState::Operational, &mut output)
                    .unwrap();
                assert_eq!(published.fixed, 1);
                let message = output.message();
                let reception = subscriber.receive(now, PubSubState::Operational, message, &mut ());
                assert_eq!(reception.unwrap().accepted, 1);
                assert_eq!(target.read_scalar::<u32>().unwrap().0, Some(step));
            };
            // The layout is learned from the first message.
            cycle(0);
            let ((), allocations) = takt_malloc::count(|| (1..=CYCLES).for_each(&mut cycle));
            assert_eq!(allocations, 0, "mask {mask}");
        }
    });
}
