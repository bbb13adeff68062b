//! Bytes that come word by word, from atomics for instance, into every kind of encoder.

use std::mem::MaybeUninit;

use takt_ua::binary::Encoder;

#[test]
fn words_arrive_whole_or_not_at_all() {
    let words: Vec<u64> = (0..200).map(|i| i * 0x0101_0101_0101_0101).collect();
    let load = |word: &u64| word.to_le_bytes();
    for count in [0, 1, 7, 8, 9, 64, 65, 200] {
        let words = &words[..count];
        let expected: Vec<u8> = [7].into_iter().chain(words.iter().flat_map(load)).collect();
        for missing in [0, 1] {
            let room = expected.len() - missing;
            let (mut fixed, mut vec) = (vec![0; room], Vec::new());
            let (mut small, mut spill) = ([MaybeUninit::uninit(); 100], Vec::new());
            for mut encoder in [
                Encoder::fixed(&mut fixed),
                Encoder::growing(&mut vec, room),
                Encoder::spilling(&mut small, &mut spill, room),
            ] {
                let written = encoder.u8(7).and_then(|()| encoder.words(words, load));
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
