//! Frames: what comes back, what is refused, and how a reader finds its place again.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};

use proptest::prelude::*;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::splitter::Splitter;
use super::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Message {
    Hello,
    Text(String),
    Work { id: u32, bytes: Vec<u8>, scores: Vec<f64> },
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        Just(Message::Hello),
        "\\PC{0,40}".prop_map(Message::Text),
        (any::<u32>(), prop::collection::vec(any::<u8>(), 0..600), prop::collection::vec(-1e9..1e9, 0..5))
            .prop_map(|(id, bytes, scores)| Message::Work { id, bytes, scores }),
    ]
}

/// A stream that gives one byte per call, and an interruption before every third.
struct Dribble<'a>(&'a [u8], u32);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.0.read(&mut buffer[..1])
    }
}

/// Seals any payload, as an encoder of another vocabulary or of bad intentions would.
fn seal(payload: &[u8]) -> Vec<u8> {
    let mut body = payload.to_vec();
    body.extend(crc32fast::hash(payload).to_le_bytes());
    stuff(&body)
}

#[test]
fn a_frame_is_laid_out_as_documented() {
    // Made outside of this code: CRC-32 of 05 02 ac 02 is f9a26989.
    let frame = [0, 0x09, 0x05, 0x02, 0xac, 0x02, 0x89, 0x69, 0xa2, 0xf9, 0];
    assert_eq!(encode(&(5u64, 2u8, 300u32)).unwrap(), frame);
    assert_eq!(decode::<(u64, u8, u32)>(&frame).unwrap(), (5, 2, 300));
    assert_eq!(decode::<(u64, u8, u32)>(&frame[1..10]).unwrap(), (5, 2, 300), "delimiters may be missing");
}

#[test]
fn a_frame_ends_in_its_delimiter_whatever_the_length_of_its_last_block() {
    for length in 1..1100 {
        let frame = stuff(&vec![7; length]);
        // A code byte before each block of up to 254 bytes, and a zero at either end.
        assert_eq!(frame.len(), length + length.div_ceil(254) + 2, "{length}");
        assert_eq!((frame[0], frame[frame.len() - 1]), (0, 0), "{length}");
        assert!(!frame[1..frame.len() - 1].contains(&0), "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_message_comes_back(messages in prop::collection::vec(message(), 0..8)) {
        let mut stream = Vec::new();
        for message in &messages {
            let frame = encode(message).unwrap();
            prop_assert_eq!(&decode::<Message>(&frame).unwrap(), message);
            prop_assert!(!frame[1..frame.len() - 1].contains(&0));
            stream.extend(frame);
        }
        let mut reader = FrameReader::new(Dribble(&stream, 0));
        let mut read = Vec::new();
        while let Some(message) = reader.read::<Message>().unwrap() {
            read.push(message);
        }
        prop_assert_eq!(read, messages);
    }

    #[test]
    fn noise_is_never_a_frame_and_never_a_panic(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(decode::<Message>(&noise).is_err());
        let mut reader = FrameReader::new(&noise[..]);
        for _ in 0..noise.len() {
            prop_assert!(!matches!(reader.read::<Message>(), Ok(Some(_))));
        }
        prop_assert!(matches!(reader.read::<Message>(), Ok(None)));
    }

    #[test]
    fn any_payload_under_a_right_checksum_is_an_answer_or_an_error(payload in prop::collection::vec(any::<u8>(), 1..200)) {
        match decode::<Message>(&seal(&payload)) {
            Ok(_) | Err(FrameError::Undecodable(_)) => {}
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn one_flipped_bit_is_always_found(message in message(), place in any::<prop::sample::Index>(), bit in 0..8u8) {
        let mut frame = encode(&message).unwrap();
        let inner = frame.len() - 2;
        frame[1 + place.index(inner)] ^= 1 << bit;
        prop_assert!(decode::<Message>(&frame).is_err());
    }
}

#[test]
fn a_reader_finds_its_place_behind_garbage_and_reports_it() {
    let mut stream = b"ggml: loading 3 of 7\n".to_vec(); // no delimiter of its own
    stream.extend(encode(&Message::Hello).unwrap());
    stream.extend(b"warning\0");
    stream.extend(&encode(&Message::Text("torn in the middle".to_owned())).unwrap()[..9]);
    stream.extend(encode(&Message::Text("whole".to_owned())).unwrap());
    let mut reader = FrameReader::new(&stream[..]);
    let damage = |result: Result<Option<Message>, StreamError>| match result {
        Err(StreamError::Damaged { bytes, excerpt, .. }) => (bytes, excerpt),
        other => panic!("{other:?}"),
    };
    let (bytes, excerpt) = damage(reader.read());
    assert_eq!((bytes, excerpt.as_str()), (0..21, r"ggml: loading 3 of 7\n"));
    assert_eq!(reader.read::<Message>().unwrap(), Some(Message::Hello));
    let (_, excerpt) = damage(reader.read());
    assert_eq!(excerpt, "warning");
    damage(reader.read());
    assert_eq!(reader.read::<Message>().unwrap(), Some(Message::Text("whole".to_owned())));
    assert_eq!(reader.read::<Message>().unwrap(), None);
}

#[test]
fn a_stream_that_ends_inside_a_frame_says_so_at_every_cut() {
    let frame = encode(&Message::Text("cut me".to_owned())).unwrap();
    for cut in 2..frame.len() {
        let mut reader = FrameReader::new(&frame[..cut]);
        match reader.read::<Message>() {
            Err(StreamError::Damaged { reason: FrameError::Unfinished { bytes }, .. }) => {
                assert_eq!(bytes, cut as u64 - 1);
            }
            other => panic!("cut at {cut}: {other:?}"),
        }
        assert!(matches!(reader.read::<Message>(), Ok(None)));
    }
}

#[test]
fn a_frame_over_the_limit_is_skipped_without_being_held() {
    let mut splitter = Splitter::limited(100);
    let mut stream = vec![7u8; 5000];
    stream.push(0);
    stream.extend([1, 2, 3, 0]);
    let mut chunks = Vec::new();
    let mut rest = &stream[..];
    while !rest.is_empty() {
        let (used, whole) = splitter.take(&rest[..rest.len().min(64)]);
        rest = &rest[used..];
        assert!(splitter.held_bytes() <= 256, "{} bytes are held", splitter.held_bytes());
        if whole {
            let chunk = splitter.chunk();
            chunks.push((chunk.range, chunk.body.map(|body| body.to_vec())));
        }
    }
    let too_long = FrameError::TooLong { bytes: 5000, limit_bytes: 100 };
    assert_eq!(chunks, [(0..5000, Err(too_long)), (5001..5004, Ok(vec![1, 2, 3]))]);
}

#[test]
fn values_without_content_and_values_over_the_limit_are_not_sent() {
    assert!(matches!(encode(&()), Err(FrameError::Unencodable(_))));
    let long = String::from_utf8(vec![b'a'; MAX_PAYLOAD_BYTES]).unwrap();
    assert!(
        matches!(encode(&long), Err(FrameError::TooLong { .. })),
        "its length field puts it over the limit"
    );
}

#[test]
fn two_frames_are_not_one() {
    let mut two = encode(&Message::Hello).unwrap();
    two.extend(encode(&Message::Text("and more".to_owned())).unwrap());
    assert_eq!(decode::<Message>(&two), Err(FrameError::Stuffing));
}

#[test]
fn left_over_bytes_are_not_a_value() {
    let sealed = seal(&[0, 1]); // Hello, and one byte more
    assert!(matches!(decode::<Message>(&sealed), Err(FrameError::Undecodable(_))));
    // A frame of nothing has a right checksum, for that of nothing is 0.
    assert!(matches!(decode::<Message>(&[1, 1, 1, 1, 1]), Err(FrameError::TooShort { .. })));
}

/// The room that the decoder offers to a sequence in advance.
#[derive(Debug)]
struct Offered;

impl<'de> Deserialize<'de> for Offered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ask;
        impl<'de> Visitor<'de> for Ask {
            type Value = Offered;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a sequence")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Offered, A::Error> {
                let offered = seq.size_hint().unwrap_or(0);
                assert!(offered <= 64, "room for {offered} values of a frame that is shorter than that");
                while seq.next_element::<u64>()?.is_some() {}
                Ok(Offered)
            }
        }
        deserializer.deserialize_seq(Ask)
    }
}

#[test]
fn lengths_beyond_the_frame_are_refused_and_given_no_room() {
    let refused = |error: FrameError| assert!(matches!(error, FrameError::Undecodable(_)), "{error}");
    for claim in [64u64, 1 << 20, 1 << 32, 1 << 62, u64::MAX] {
        let mut payload = postcard::to_stdvec(&claim).unwrap();
        payload.extend([1; 40]);
        let frame = seal(&payload);
        refused(decode::<Offered>(&frame).unwrap_err());
        refused(decode::<String>(&frame).unwrap_err());
        refused(decode::<Vec<u8>>(&frame).unwrap_err());
        refused(decode::<Vec<u64>>(&frame).unwrap_err());
        refused(decode::<Vec<[u64; 4]>>(&frame).unwrap_err());
        refused(decode::<Vec<Vec<Vec<String>>>>(&frame).unwrap_err());
        refused(decode::<BTreeMap<u64, String>>(&frame).unwrap_err());
        refused(decode::<HashMap<u64, String>>(&frame).unwrap_err());
        // The bomb inside an otherwise right value.
        let mut nested = vec![2, 7]; // Work, id 7, then the length of its bytes
        nested.extend(postcard::to_stdvec(&claim).unwrap());
        refused(decode::<Message>(&seal(&nested)).unwrap_err());
    }
}

/// The other end of the pipes, which the worker itself does without.
#[cfg(feature = "tokio")]
mod asynchronous {
    use super::*;

    #[test]
    fn the_asynchronous_side_reads_what_the_blocking_side_wrote() {
        let mut writer = FrameWriter::new(Vec::new());
        writer.write(&Message::Text("one".to_owned())).unwrap();
        let mut stream = writer.into_inner();
        stream.extend(b"libc: noise\0");
        stream.extend(encode(&Message::Hello).unwrap());
        stream.extend(&encode(&Message::Hello).unwrap()[..4]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            // A pipe of 3 bytes: every frame arrives in pieces.
            let (mut near, far) = tokio::io::duplex(3);
            let send = async move {
                tokio::io::AsyncWriteExt::write_all(&mut near, &stream).await.unwrap();
            };
            let receive = async move {
                let mut reader = AsyncFrameReader::new(far);
                assert_eq!(reader.read().await.unwrap(), Some(Message::Text("one".to_owned())));
                match reader.read::<Message>().await {
                    Err(StreamError::Damaged { excerpt, .. }) => assert_eq!(excerpt, "libc: noise"),
                    other => panic!("{other:?}"),
                }
                assert_eq!(reader.read().await.unwrap(), Some(Message::Hello));
                let torn = reader.read::<Message>().await;
                assert!(matches!(
                    torn,
                    Err(StreamError::Damaged { reason: FrameError::Unfinished { bytes: 3 }, .. })
                ));
                assert_eq!(reader.read::<Message>().await.unwrap(), None);
            };
            both(send, receive).await;
        });
    }

    #[test]
    fn a_cancelled_read_loses_nothing() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut near, far) = tokio::io::duplex(1024);
            let mut reader = AsyncFrameReader::new(far);
            let frame = encode(&Message::Text("in two parts".to_owned())).unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut near, &frame[..7]).await.unwrap();
            {
                let mut read = std::pin::pin!(reader.read::<Message>());
                let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(read.as_mut().poll(cx))).await;
                assert!(polled.is_pending());
            }
            tokio::io::AsyncWriteExt::write_all(&mut near, &frame[7..]).await.unwrap();
            assert_eq!(reader.read().await.unwrap(), Some(Message::Text("in two parts".to_owned())));
            let hello = encode(&Message::Hello).unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut near, &hello).await.unwrap();
            assert_eq!(reader.read().await.unwrap(), Some(Message::Hello));
        });
    }

    /// Runs two futures in turn until both are done.
    async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
        let (mut one, mut other) = (std::pin::pin!(one), std::pin::pin!(other));
        let (mut one_done, mut other_done) = (false, false);
        std::future::poll_fn(|cx| {
            one_done = one_done || one.as_mut().poll(cx).is_ready();
            other_done = other_done || other.as_mut().poll(cx).is_ready();
            if one_done && other_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}
