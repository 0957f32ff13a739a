//! The format: the golden log decodes for ever, unknown formats are refused by name.

use super::*;

fn golden() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/log-format-1.log");
    std::fs::read(path).unwrap()
}

fn item(id: &str, reply: Vec<u8>, logprobs: Vec<f32>, wall_us: i64) -> Note {
    Note::Item { id: id.to_owned(), reply, logprobs, wall_us }
}

fn golden_notes() -> Vec<(u64, Note)> {
    vec![
        (0, Note::Header { build: "golden 1".to_owned(), seed: u64::MAX }),
        (1, item("g017-w03", "A 🐢B".into(), vec![-0.5, -0.0], 1_772_366_400_000_000)),
        (2, item("nonfinite", b"\x41\xf0\x9f".to_vec(), vec![], -1)),
        (3, item("long", (1..=255).cycle().take(1020).collect(), vec![], 0)),
        (4, item("zeros", vec![0; 600], vec![], -3_000_000)),
        (5, Note::GroupEnd(300)),
        (9, Note::GroupEnd(0)),
    ]
}

/// The golden log was made by a program in another language that knows this code only by its documented format.
#[test]
fn the_golden_log_of_format_1_decodes() {
    let bytes = golden();
    let mut reader = Reader::<Note, _>::over(&bytes[..], Path::new("golden")).unwrap();
    assert_eq!(reader.format(), 1);
    let mut read: Vec<(u64, Note)> =
        reader.by_ref().map(Result::unwrap).map(|record| (record.seq, record.entry)).collect();
    // Not-a-number is unequal to itself: these are compared by their bits.
    let Note::Item { logprobs, .. } = &mut read[2].1 else { panic!("{:?}", read[2]) };
    let bits: Vec<u32> = std::mem::take(logprobs).iter().map(|value| value.to_bits()).collect();
    assert_eq!(bits, [0x7fc0_0abc, 0x7f80_0000, 0xff80_0000]);
    let Note::Item { logprobs, .. } = &read[1].1 else { panic!("{:?}", read[1]) };
    assert_eq!(logprobs[1].to_bits(), 0x8000_0000, "minus zero stays minus zero");
    assert_eq!(read, golden_notes());
    let summary = Summary::of(&mut Reader::<Note, _>::over(&bytes[..], Path::new("golden")).unwrap());
    assert_eq!((summary.gaps, summary.missing_frames), (vec![6..=8], 3));
    assert_eq!((summary.end_of_good_bytes, summary.torn_tail_bytes), (bytes.len() as u64, 0));
}

#[test]
fn this_build_still_writes_format_1_byte_for_byte() {
    let mut notes = golden_notes();
    let Note::Item { logprobs, .. } = &mut notes[2].1 else { panic!() };
    *logprobs = [0x7fc0_0abc, 0x7f80_0000, 0xff80_0000].map(f32::from_bits).to_vec();
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::create(dir.path(), &notes[0].1, Fsync::EveryGroup).unwrap();
    for (seq, note) in &notes[1..6] {
        assert_eq!(log.append(note).unwrap(), *seq);
    }
    let length = log.length_bytes();
    log.close().unwrap();
    let written = std::fs::read(dir.path().join(LOG_FILE)).unwrap();
    assert_eq!(written.len() as u64, length);
    assert!(written == golden()[..written.len()], "the bytes differ");
}

#[test]
fn txt_01_and_txt_08_broken_characters_and_numbers_that_are_none_come_back_bit_by_bit() {
    let dir = tempfile::tempdir().unwrap();
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        f32::from_bits(0xffc1_2345),
        f32::MIN_POSITIVE / 2.0,
    ];
    let mut log = Log::create(dir.path(), &header(), Fsync::Never).unwrap();
    log.append(&item("q", b"A\xf0\x9f".to_vec(), odd.to_vec(), 0)).unwrap();
    drop(log);
    let record = Reader::<Note>::open(dir.path()).unwrap().nth(1).unwrap().unwrap();
    let Note::Item { reply, logprobs, .. } = record.entry else { panic!() };
    assert_eq!(reply, b"A\xf0\x9f");
    assert_eq!(logprobs.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), odd.map(f32::to_bits));
}

#[test]
fn a_newer_format_is_refused_by_name_and_number_and_left_alone() {
    for (line, number) in [("edge-eval log 2\n", 2u32), ("edge-eval log 4294967295\n", u32::MAX)] {
        let mut bytes = line.as_bytes().to_vec();
        bytes.extend([1, 2, 3, 0]);
        let dir = folder_with(&bytes);
        for error in [
            Log::<Note>::open_append(dir.path(), Fsync::Never).unwrap_err(),
            Log::create(dir.path(), &header(), Fsync::Never).unwrap_err(),
            verify::<Note>(dir.path()).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(
                matches!(error, LogError::NewerFormat { found, known: FORMAT, .. } if found == number),
                "{text}"
            );
            assert!(text.contains(&format!("edge-eval log {number}")) && text.contains("1 to 1"), "{text}");
        }
        assert_eq!(std::fs::read(dir.path().join(LOG_FILE)).unwrap(), bytes);
    }
}

#[test]
fn other_files_are_not_logs_and_are_left_alone() {
    let others: [&[u8]; 8] = [
        b"{\"id\":1}\n",
        b"edge-eval log 0\n",
        b"edge-eval log one\n",
        b"edge-eval log +1\n",
        b"edge-eval log \n",
        b"edge-eval log 1 \n",
        b"edge-eval log 99999999999999999999\n",
        &[0xff; 4096],
    ];
    for bytes in others {
        let dir = folder_with(bytes);
        for error in [
            Log::<Note>::open_append(dir.path(), Fsync::Never).unwrap_err(),
            Log::create(dir.path(), &header(), Fsync::Never).unwrap_err(),
        ] {
            assert!(matches!(error, LogError::NotALog { .. }), "{error}");
        }
        assert_eq!(std::fs::read(dir.path().join(LOG_FILE)).unwrap(), bytes);
    }
}

#[test]
fn a_missing_log_and_a_folder_in_its_place_are_errors_with_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let error = Log::<Note>::open_append(dir.path(), Fsync::Never).unwrap_err().to_string();
    assert!(error.contains("log: cannot open the log") && error.contains("check the path"), "{error}");
    assert!(!dir.path().join(LOCK_FILE).exists());
    std::fs::create_dir_all(dir.path().join(LOG_FILE).join(LOG_FILE)).unwrap();
    assert!(verify::<Note>(dir.path()).is_err());
    assert!(Log::create(dir.path(), &header(), Fsync::Never).is_err());
}
