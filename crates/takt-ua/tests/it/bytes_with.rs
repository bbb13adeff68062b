//! Bytes that a closure stores, into every kind of encoder.

use std::mem::MaybeUninit;

use takt_ua::binary::Encoder;

#[test]
fn bytes_arrive_whole_or_not_at_all() {
    let bytes: Vec<u8> = (0..=255).collect();
    for count in [0, 1, 8, 99, 100, 101, 256] {
        let bytes = &bytes[..count];
        let expected = [&[7], bytes].concat();
        for missing in [0, 1] {
            let room = expected.len() - missing;
            let (mut fixed, mut vec) = (vec![0; room], Vec::new());
            let (mut small, mut spill) = ([MaybeUninit::uninit(); 100], Vec::new());
            for mut encoder in [
                Encoder::fixed(&mut fixed),
                Encoder::growing(&mut vec, room),
                Encoder::spilling(&mut small, &mut spill, room),
            ] {
                let written = encoder.u8(7).and_then(|()| {
                    // SAFETY: all of the bytes, and no more, are copied.
                    unsafe {
                        encoder.bytes_with(count, |target| {
                            target.copy_from_nonoverlapping(bytes.as_ptr(), count);
                        })
                    }
                });
                if missing == 0 {
                    assert_eq!(
                        (written, encoder.written()),
                        (Ok(()), &*expected),
                        "{count}"
                    );
                } else if count > 0 {
                    assert!(written.is_err(), "{count}");
                    assert_eq!(encoder.written(), [7], "{count}");
                }
            }
        }
    }
}
