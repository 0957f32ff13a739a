//! Devices that fill up, turn read-only or fail, and small files that are replaced whole.

use std::io;
use std::sync::{Arc, Mutex};

use super::*;

/// Hands through until a call fails: appends from number `from` on, or fsyncs.
#[derive(Debug)]
struct Failing {
    inner: Box<dyn Sink>,
    appends_left: usize,
    syncs_left: usize,
    errno: i32,
    /// Half of the failing frame reaches the file.
    torn: bool,
    calls: Arc<Mutex<Vec<&'static str>>>,
}

impl Failing {
    fn new(inner: Box<dyn Sink>, errno: i32) -> Self {
        let calls = Arc::default();
        Failing { inner, appends_left: usize::MAX, syncs_left: usize::MAX, errno, torn: false, calls }
    }
}

impl Sink for Failing {
    fn append(&mut self, frame: &[u8]) -> io::Result<()> {
        self.calls.lock().unwrap().push("append");
        if self.appends_left == 0 {
            if self.torn {
                self.inner.append(&frame[..frame.len() / 2])?;
            }
            return Err(io::Error::from_raw_os_error(self.errno));
        }
        self.appends_left -= 1;
        self.inner.append(frame)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.calls.lock().unwrap().push("sync");
        if self.syncs_left == 0 {
            return Err(io::Error::from_raw_os_error(self.errno));
        }
        self.syncs_left -= 1;
        self.inner.sync()
    }

    fn cut(&mut self, length_bytes: u64) -> io::Result<()> {
        self.calls.lock().unwrap().push("cut");
        self.inner.cut(length_bytes)
    }
}

const EIO: i32 = 5;
#[cfg(target_os = "linux")]
const ENOSPC: i32 = 28;
#[cfg(target_os = "linux")]
const EROFS: i32 = 30;

#[cfg(target_os = "linux")]
#[test]
fn log_06_a_full_device_stops_the_log_at_once_and_keeps_what_is_written() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        println!("skipped: this machine has no /dev/full");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::create(dir.path(), &header(), Fsync::EveryGroup).unwrap();
    for seq in 1..=5 {
        log.append(&note(seq)).unwrap();
    }
    let file = std::fs::OpenOptions::new().append(true).open(full).unwrap();
    let mut log = log.with_sink(|_| Box::new(file));
    let error = log.append(&note(6)).unwrap_err();
    let text = error.to_string();
    assert!(matches!(&error, LogError::Io { source, .. } if source.raw_os_error() == Some(ENOSPC)), "{text}");
    for part in
        [dir.path().join(LOG_FILE).to_str().unwrap(), "append entry 6", "no space or no inodes", "run again"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let again = log.append(&note(6)).unwrap_err();
    assert!(matches!(again, LogError::Closed { .. }) && again.to_string().contains("no space"), "{again}");
    assert!(log.end_group().is_err() && log.close().is_err(), "a closed log never says that all is well");
    assert_eq!(verify::<Note>(dir.path()).unwrap().good_frames, 6);
}

/// Needs a folder on a very small file system, which only an administrator can make:
/// `mount -t tmpfs -o size=64k tmpfs DIR` and `EDGE_EVAL_TEST_SMALL_DIR=DIR`.
#[cfg(target_os = "linux")]
#[test]
fn log_06_a_run_that_filled_a_small_file_system_resumes_once_there_is_room() {
    let Some(small) = std::env::var_os("EDGE_EVAL_TEST_SMALL_DIR") else {
        println!("skipped: EDGE_EVAL_TEST_SMALL_DIR names no small file system");
        return;
    };
    let small = Path::new(&small);
    assert!(free_bytes(small).unwrap() < 1 << 20);
    let ballast = small.join("ballast");
    std::fs::write(&ballast, [1; 8192]).unwrap();
    let dir = tempfile::tempdir_in(small).unwrap();
    let mut log = Log::create(dir.path(), &header(), Fsync::EveryEntry).unwrap();
    let mut written = 0;
    let error = loop {
        match log.append(&note(written + 1)) {
            Ok(seq) => written = seq,
            Err(error) => break error.to_string(),
        }
        assert!(written < 100_000, "it never fills up");
    };
    assert!(error.contains("no space or no inodes"), "{error}");
    drop(log);
    assert!(verify::<Note>(dir.path()).unwrap().is_whole());
    std::fs::remove_file(ballast).unwrap();
    let (mut log, recovery) = resume(dir.path());
    assert_eq!((recovery.found.good_frames, recovery.cut), (written + 1, None));
    assert_eq!(log.append(&note(written + 1)).unwrap(), written + 1);
}

#[cfg(target_os = "linux")]
#[test]
fn log_06_half_a_frame_on_a_full_device_is_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::create(dir.path(), &header(), Fsync::EveryGroup).unwrap();
    let mut log =
        log.with_sink(|file| Box::new(Failing { appends_left: 3, torn: true, ..Failing::new(file, ENOSPC) }));
    for seq in 1..=3 {
        log.append(&note(seq)).unwrap();
    }
    assert!(log.append(&note(4)).is_err());
    drop(log);
    let summary = verify::<Note>(dir.path()).unwrap();
    assert!(summary.is_whole() && summary.good_frames == 4, "{summary}");
    let (mut log, recovery) = resume(dir.path());
    assert_eq!(recovery.cut, None);
    assert_eq!(log.append(&note(4)).unwrap(), 4);
}

#[cfg(target_os = "linux")]
#[test]
fn log_07_a_file_system_that_turns_read_only_has_its_own_words() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::create(dir.path(), &header(), Fsync::EveryGroup).unwrap();
    let mut log = log.with_sink(|file| Box::new(Failing { appends_left: 49, ..Failing::new(file, EROFS) }));
    for seq in 1..=49 {
        log.append(&note(seq)).unwrap();
    }
    let error = log.append(&note(50)).unwrap_err().to_string();
    assert!(
        error.contains("append entry 50") && error.contains("read-only") && error.contains("mount"),
        "{error}"
    );
    assert!(!error.contains("space"), "{error}");
    drop(log);
    assert_eq!(verify::<Note>(dir.path()).unwrap().good_frames, 50);
}

#[cfg(unix)]
#[test]
fn log_07_a_failed_fsync_closes_the_log_and_is_not_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::create(dir.path(), &header(), Fsync::EveryGroup).unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let mut log =
        log.with_sink(|file| Box::new(Failing { syncs_left: 0, calls: seen, ..Failing::new(file, EIO) }));
    log.append(&note(1)).unwrap();
    let error = log.end_group().unwrap_err().to_string();
    assert!(error.contains("force the entries up to 1") && error.contains("storage device fails"), "{error}");
    assert!(log.end_group().is_err() && log.append(&note(2)).is_err());
    assert_eq!(*calls.lock().unwrap(), ["append", "sync"]);
}

#[test]
fn log_04_entries_are_forced_to_the_device_as_the_policy_says() {
    let count = |fsync, groups: &[u64]| {
        let dir = tempfile::tempdir().unwrap();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&calls);
        let log = Log::create(dir.path(), &header(), fsync).unwrap();
        let mut log = log.with_sink(|file| Box::new(Failing { calls: seen, ..Failing::new(file, EIO) }));
        let mut seq = 1;
        for &entries in groups {
            for _ in 0..entries {
                log.append(&note(seq)).unwrap();
                seq += 1;
            }
            log.end_group().unwrap();
        }
        log.close().unwrap();
        let calls = calls.lock().unwrap();
        let of = |kind| calls.iter().filter(|&&call| call == kind).count();
        (of("append"), of("sync"))
    };
    // One call per frame, whatever the policy; a group without entries costs no fsync.
    assert_eq!(count(Fsync::EveryGroup, &[3, 2, 0, 1]), (6, 3));
    assert_eq!(count(Fsync::EveryEntry, &[3, 2, 0, 1]), (6, 6));
    assert_eq!(count(Fsync::Never, &[3, 2, 0, 1]), (6, 0));
}

#[test]
fn log_06_free_space_is_known_before_a_start() {
    let dir = tempfile::tempdir().unwrap();
    if cfg!(unix) {
        assert!(free_bytes(dir.path()).unwrap() > 0);
    }
    let error = free_bytes(&dir.path().join("absent")).unwrap_err().to_string();
    assert!(error.contains("absent") && error.contains("free space"), "{error}");
}

#[test]
fn an_entry_that_does_not_fit_a_frame_is_refused_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::create(dir.path(), &header(), Fsync::Never).unwrap();
    let giant = Note::Item {
        id: "giant".to_owned(),
        reply: vec![0; crate::frame::MAX_PAYLOAD_BYTES],
        logprobs: vec![],
        wall_us: 0,
    };
    let error = log.append(&giant).unwrap_err();
    assert!(matches!(error, LogError::Entry { seq: 1, .. }), "{error}");
    assert_eq!(log.append(&note(1)).unwrap(), 1);
    drop(log);
    assert!(verify::<Note>(dir.path()).unwrap().is_whole());
}

fn number(bytes: &[u8]) -> Result<u32, String> {
    std::str::from_utf8(bytes).ok().and_then(|text| text.trim().parse().ok()).ok_or("not a number".to_owned())
}

#[test]
fn log_04_a_manifest_that_a_power_cut_emptied_is_read_from_its_previous_copy() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("manifest");
    assert!(read_manifest(&path, number).is_err());
    write_manifest(&path, b"1\n").unwrap();
    assert_eq!(read_manifest(&path, number).unwrap(), (1, Copied::Current));
    write_manifest(&path, b"2\n").unwrap();
    assert_eq!(read_manifest(&path, number).unwrap(), (2, Copied::Current));
    for broken in [&b""[..], &[0; 512], b"x"] {
        std::fs::write(&path, broken).unwrap();
        let (value, copied) = read_manifest(&path, number).unwrap();
        assert_eq!(value, 1);
        assert!(matches!(copied, Copied::Previous { reason } if !reason.is_empty()));
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read_manifest(&path, number).unwrap().0, 1, "a cut between the two renamings");
}

#[test]
fn log_04_an_emptied_manifest_does_not_push_the_good_copy_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("manifest");
    write_manifest(&path, b"1").unwrap();
    write_manifest(&path, b"2").unwrap();
    std::fs::write(&path, b"").unwrap();
    write_manifest(&path, b"3").unwrap();
    std::fs::write(&path, b"").unwrap();
    assert_eq!(read_manifest(&path, number).unwrap().0, 1);
    let names: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
