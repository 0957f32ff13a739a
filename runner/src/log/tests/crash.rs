//! Torn tails: what a crash or a power cut leaves at the end of a log.

use super::*;

/// Cuts a log at a byte, resumes it, appends one entry, and reads everything back.
fn cut_resume_append(bytes: &[u8], ends: &[usize], cut: usize, dir: &Path) {
    let whole = ends.iter().filter(|&&end| end <= cut).count() as u64;
    let log = dir.join(LOG_FILE);
    std::fs::write(&log, &bytes[..cut]).unwrap();
    let (mut writer, recovery) = resume(dir);
    let kept = ends[whole as usize - 1];
    assert_eq!(recovery.found.good_frames, whole, "cut at {cut}");
    assert_eq!(recovery.found.torn_tail_bytes as usize, cut - kept, "cut at {cut}");
    match recovery.cut {
        Some(side) => {
            assert_eq!(std::fs::read(&side.kept_in).unwrap(), bytes[kept..cut], "cut at {cut}");
            std::fs::remove_file(side.kept_in).unwrap();
        }
        None => assert_eq!(cut, kept),
    }
    assert_eq!(writer.append(&note(whole)).unwrap(), whole);
    drop(writer);
    let after = std::fs::read(&log).unwrap();
    assert_eq!(after, bytes[..ends[whole as usize]], "the log continues as if it had never been cut");
}

#[test]
fn log_01_a_log_cut_at_any_byte_of_its_last_4_kib_goes_on() {
    let (bytes, ends) = log_bytes(320);
    let last = ends[318]; // one entry more is needed to compare with what is appended
    assert!(last > 4096);
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (bytes, ends) = (&bytes, &ends);
            scope.spawn(move || {
                let dir = tempfile::tempdir().unwrap();
                for cut in (last - 4096..=last).skip(part).step_by(4) {
                    cut_resume_append(bytes, ends, cut, dir.path());
                }
            });
        }
    });
}

#[test]
fn log_01_three_records_cut_inside_the_third_give_two_and_take_a_fourth() {
    let (bytes, ends) = log_bytes(3);
    for cut in ends[1]..=ends[2] {
        let dir = folder_with(&bytes[..cut]);
        let (mut writer, recovery) = resume(dir.path());
        let good = if cut == ends[2] { 3 } else { 2 };
        assert_eq!(recovery.found.good_frames, good);
        for seq in good..4 {
            assert_eq!(writer.append(&note(seq)).unwrap(), seq);
        }
        drop(writer);
        let (seqs, damages) = read(&std::fs::read(dir.path().join(LOG_FILE)).unwrap());
        assert_eq!((seqs, damages), (vec![0, 1, 2, 3], vec![]));
    }
}

#[test]
fn log_01_a_torn_record_with_blank_lines_behind_it_is_cut_and_each_cut_keeps_its_own_file() {
    let (bytes, ends) = log_bytes(5);
    let mut torn = bytes[..ends[3] + 6].to_vec();
    torn.extend(b"\n\n");
    let dir = folder_with(&torn);
    for number in 1..=3 {
        let (writer, recovery) = resume(dir.path());
        let cut = recovery.cut.unwrap();
        assert_eq!(cut.bytes, 8);
        assert_eq!(cut.kept_in, dir.path().join(format!("log.torn-{number}")));
        drop(writer);
        std::fs::write(dir.path().join(LOG_FILE), &torn).unwrap();
    }
    assert_eq!(std::fs::read(dir.path().join("log.torn-2")).unwrap(), &torn[ends[3]..]);
}

#[test]
fn log_04_zeros_behind_the_last_record_are_a_torn_tail() {
    let (mut bytes, ends) = log_bytes(2);
    bytes.extend([0; 4096]);
    let (seqs, damages) = read(&bytes);
    assert_eq!(seqs, [0, 1]);
    assert_eq!(damages, [Damage { bytes: ends[1] as u64..bytes.len() as u64, kind: DamageKind::Zeros }]);
    let dir = folder_with(&bytes);
    let (mut writer, recovery) = resume(dir.path());
    assert_eq!(recovery.found.torn_tail_bytes, 4096);
    assert_eq!(recovery.cut.unwrap().bytes, 4096);
    writer.append(&note(2)).unwrap();
    writer.close().unwrap();
    assert!(verify::<Note>(dir.path()).unwrap().is_whole());
}

#[test]
fn log_04_a_record_whose_end_turned_to_zeros_is_a_torn_tail() {
    let (bytes, ends) = log_bytes(30);
    for kept in 1..20 {
        let mut zeroed = bytes[..ends[28] + kept].to_vec();
        zeroed.extend([0; 512]);
        let (seqs, _) = read(&zeroed);
        assert_eq!(seqs, (0..29).collect::<Vec<_>>());
        let dir = folder_with(&zeroed);
        let (_, recovery) = resume(dir.path());
        assert_eq!(recovery.found.torn_tail_bytes as usize, kept + 512);
    }
}

#[test]
fn log_04_an_empty_or_zeroed_log_is_named_and_gives_way_to_a_new_one() {
    let (bytes, ends) = log_bytes(1);
    let mut empty_block = bytes[..20].to_vec();
    empty_block.extend([0; 512]);
    let worthless: [&[u8]; 7] = [
        b"",
        &[0; 4096],
        b"edge-eval l",
        b"edge-eval log 1",
        &bytes[..16],
        &bytes[..ends[0] - 1],
        &empty_block,
    ];
    for found in worthless {
        let dir = folder_with(found);
        match Log::<Note>::open_append(dir.path(), Fsync::EveryGroup) {
            Err(error @ LogError::Headerless { .. }) => {
                assert!(error.to_string().contains("no entry is recorded"))
            }
            other => panic!("{:?}: {other:?}", found.escape_ascii().to_string()),
        }
        let mut log = Log::create(dir.path(), &header(), Fsync::EveryGroup).unwrap();
        log.append(&note(1)).unwrap();
        log.close().unwrap();
        assert_eq!(std::fs::read(dir.path().join("log.torn-1")).unwrap(), found);
        let summary = verify::<Note>(dir.path()).unwrap();
        assert!(summary.is_whole() && summary.good_frames == 2, "{summary}");
    }
}

#[test]
fn a_log_in_use_is_not_begun_again() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::create(dir.path(), &header(), Fsync::EveryEntry).unwrap();
    log.close().unwrap();
    let error = Log::create(dir.path(), &header(), Fsync::EveryEntry).unwrap_err();
    assert!(matches!(error, LogError::Exists { .. }), "{error}");
    assert_eq!(verify::<Note>(dir.path()).unwrap().good_frames, 1);
}

#[test]
fn clk_02_entries_are_ordered_by_number_though_the_clock_went_back() {
    let at = |wall_us| Note::Item { id: "q".to_owned(), reply: vec![], logprobs: vec![], wall_us };
    let noon = 1_772_366_400_000_000;
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::create(dir.path(), &header(), Fsync::Never).unwrap();
    for second in 0..5 {
        log.append(&at(noon + second * 1_000_000)).unwrap();
    }
    drop(log);
    let (mut log, _) = resume(dir.path());
    assert_eq!(log.append(&at(noon - 1_200_000_000)).unwrap(), 6);
    drop(log);
    let records: Vec<_> = Reader::<Note>::open(dir.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(records.iter().map(|record| record.seq).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(records[6].entry, at(noon - 1_200_000_000));
}
