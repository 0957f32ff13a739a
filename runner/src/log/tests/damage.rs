//! Damage in the middle: skipped and counted, never a wrong record.

use super::*;

#[test]
fn a_flipped_bit_at_every_seventh_byte_costs_the_record_that_it_hit_and_no_other() {
    let (bytes, ends) = log_bytes(300);
    let (first, last) = (ends[0], ends[298]);
    let mut flips = 0;
    for place in (first..last).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (place % 8);
        let (seqs, damages) = read(&flipped);
        // A delimiter stands at each end of a frame. Flipping one of the pair between two frames leaves the other.
        let owner = ends.iter().filter(|&&end| end <= place).count() as u64;
        let expected: Vec<u64> = (0..300).filter(|&seq| seq != owner).collect();
        assert_eq!(seqs, expected, "byte {place}");
        assert!(!damages.is_empty(), "byte {place}");
        flips += 1;
    }
    assert!(flips > 800, "{flips}");
}

#[test]
fn a_damaged_middle_is_counted_and_the_log_goes_on_behind_it() {
    let (mut bytes, ends) = log_bytes(40);
    bytes[ends[9] + 5] ^= 0x10; // entry 10
    bytes[ends[19] + 3..ends[22] - 2].fill(0); // entries 20 to 22
    let dir = folder_with(&bytes);
    let (mut log, recovery) = resume(dir.path());
    let found = recovery.found;
    assert_eq!((found.good_frames, found.missing_frames, found.damaged_stretches), (36, 4, 2));
    assert_eq!(found.gaps, [10..=10, 20..=22]);
    assert_eq!((found.torn_tail_bytes, recovery.cut), (0, None));
    assert!(found.damaged[0].start > ends[8] as u64 && found.damaged[0].end <= ends[10] as u64);
    assert!(found.damaged[1].start >= ends[19] as u64 && found.damaged[1].end <= ends[22] as u64);
    assert_eq!(log.append(&note(40)).unwrap(), 40, "numbers are not used twice");
    drop(log);
    assert_eq!(read(&std::fs::read(dir.path().join(LOG_FILE)).unwrap()).0.len(), 37);
}

#[test]
fn log_04_a_zeroed_block_on_frame_borders_is_reported_too() {
    let (mut bytes, ends) = log_bytes(40);
    bytes[ends[9]..ends[19]].fill(0);
    let (seqs, damages) = read(&bytes);
    assert_eq!(seqs, (0..10).chain(20..40).collect::<Vec<_>>());
    assert_eq!(damages, [Damage { bytes: ends[9] as u64..ends[19] as u64, kind: DamageKind::Zeros }]);
}

#[test]
fn log_03_records_behind_garbage_without_a_border_are_read() {
    let (bytes, ends) = log_bytes(6);
    let mut glued = bytes[..ends[2]].to_vec();
    glued.extend(b"{\"i\":1}{\"i\":2}");
    glued.extend(&bytes[ends[2]..ends[3] - 4]); // a torn frame that somebody appended behind
    glued.extend(&bytes[ends[3]..]);
    let (seqs, damages) = read(&glued);
    assert_eq!(seqs, [0, 1, 2, 4, 5]);
    assert_eq!(damages.len(), 2);
}

#[test]
fn log_03_two_logs_in_one_file_give_the_records_of_the_first() {
    let (bytes, ends) = log_bytes(6);
    let mut both = bytes[..ends[4]].to_vec();
    both.extend(&bytes);
    let (seqs, damages) = read(&both);
    // Entry 5 of the second log is a number that the first has not: it stands in order and is the true entry 5.
    assert_eq!(seqs, [0, 1, 2, 3, 4, 5]);
    let repeats =
        damages.iter().filter(|damage| matches!(damage.kind, DamageKind::OutOfOrder { .. })).count();
    assert_eq!((repeats, damages.len()), (5, 6), "and the second format line");
}

#[test]
fn a_log_without_its_first_entry_can_be_read_and_says_so() {
    let (mut bytes, ends) = log_bytes(6);
    bytes[ends[0] - 3] ^= 1;
    assert_eq!(read(&bytes).0, [1, 2, 3, 4, 5]);
    let dir = folder_with(&bytes);
    // Whether a run can go on without its first entry is for the run to say: it may have a copy further on.
    let (log, recovery) = Log::<Note>::open_append(dir.path(), Fsync::Never).unwrap();
    assert!(!recovery.found.has_first);
    assert_eq!(log.next_seq(), 6);
    drop(log);
    let error = Log::create(dir.path(), &header(), Fsync::Never).unwrap_err();
    assert!(matches!(error, LogError::Exists { .. }), "a damaged run is not thrown away: {error}");
}

#[test]
fn an_intact_entry_of_another_vocabulary_is_never_cut() {
    let (mut bytes, _) = log_bytes(3);
    let foreign = bytes.len() as u64 + 1;
    bytes.extend(crate::frame::encode(&(3u64, 77u8, "a variant of a later build")).unwrap());
    let summary = Summary::of(&mut Reader::<Note, _>::over(&bytes[..], Path::new("memory")).unwrap());
    assert_eq!((summary.good_frames, summary.foreign_frames, summary.torn_tail_bytes), (3, 1, 0));
    let dir = folder_with(&bytes);
    match Log::<Note>::open_append(dir.path(), Fsync::Never) {
        Err(LogError::Foreign { offset, .. }) => assert_eq!(offset, foreign),
        other => panic!("{other:?}"),
    }
    assert_eq!(std::fs::read(dir.path().join(LOG_FILE)).unwrap(), bytes);
}

#[test]
fn the_highest_number_is_refused_so_that_counting_cannot_overflow() {
    let (mut bytes, _) = log_bytes(2);
    bytes.extend(crate::frame::encode(&(u64::MAX, note(1))).unwrap());
    let summary = Summary::of(&mut Reader::<Note, _>::over(&bytes[..], Path::new("memory")).unwrap());
    assert_eq!((summary.good_frames, summary.last_seq, summary.missing_frames), (2, Some(1), 0));
}

#[test]
fn a_length_bomb_under_a_right_checksum_is_one_foreign_entry() {
    let (mut bytes, _) = log_bytes(2);
    // Item, an id of 2^60 bytes.
    bytes.extend(crate::frame::encode(&(2u64, 1u8, 1u64 << 60)).unwrap());
    let summary = Summary::of(&mut Reader::<Note, _>::over(&bytes[..], Path::new("memory")).unwrap());
    assert_eq!((summary.good_frames, summary.foreign_frames), (2, 1));
}

#[test]
fn noise_behind_the_format_line_is_no_record() {
    // A small generator of its own, so that the noise is the same everywhere.
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut noise = b"edge-eval log 1\n".to_vec();
    for _ in 0..200_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.push(state as u8);
    }
    let (seqs, damages) = read(&noise);
    assert!(seqs.is_empty());
    assert!(damages.len() > 100);
    let total: u64 = damages.iter().map(|damage| damage.bytes.end - damage.bytes.start).sum();
    assert!(total > 190_000, "{total}");
}

#[test]
fn a_device_that_cannot_be_read_ends_the_reading_and_is_named() {
    struct Failing(usize, Vec<u8>);
    impl std::io::Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0 >= self.1.len() {
                return Err(std::io::Error::from_raw_os_error(5));
            }
            let bytes = buffer.len().min(self.1.len() - self.0).min(100);
            buffer[..bytes].copy_from_slice(&self.1[self.0..self.0 + bytes]);
            self.0 += bytes;
            Ok(bytes)
        }
    }
    let (bytes, _) = log_bytes(30);
    let mut reader = Reader::<Note, _>::over(Failing(0, bytes), Path::new("memory")).unwrap();
    let summary = Summary::of(&mut reader);
    assert_eq!(summary.good_frames, 30);
    assert!(summary.unreadable.is_some() && !summary.is_whole());
    assert!(reader.next().is_none());
}
