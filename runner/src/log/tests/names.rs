//! Names that other systems accept, and run ids that never collide.

use std::collections::BTreeSet;

use super::*;
use crate::clock::Moment;

#[test]
fn sys_13_names_hold_only_what_every_file_system_takes() {
    assert_eq!(sanitise("org/My:Model|v1?.gguf"), "org-My-Model-v1-.gguf");
    assert_eq!(sanitise("Qwen2.5-0.5B_q4.gguf"), "Qwen2.5-0.5B_q4.gguf");
    assert_eq!(sanitise("a--b"), "a--b");
    assert_eq!(sanitise("../../etc/passwd"), "etc-passwd");
    assert_eq!(sanitise("trailing. "), "trailing");
    assert_eq!(sanitise("題目"), "_");
    assert_eq!(sanitise(""), "_");
    assert_eq!(sanitise("..."), "_");
}

#[test]
fn sys_13_reserved_names_are_avoided_in_any_case_and_with_any_extension() {
    for name in ["con", "CON", "prn", "Aux.txt", "nul.tar.gz", "com1", "LPT9.log", "com0"] {
        let safe = sanitise(name);
        assert_eq!(safe, format!("_{name}"));
    }
    for name in ["console", "com", "com10", "lptx", "nul-1", "auxiliary"] {
        assert_eq!(sanitise(name), name);
    }
}

#[test]
fn sys_13_long_names_are_cut_and_stay_apart() {
    let one = sanitise(&format!("{}-q4.gguf", "model-".repeat(40)));
    let other = sanitise(&format!("{}-q8.gguf", "model-".repeat(40)));
    assert_eq!((one.len(), other.len()), (64, 64));
    assert_ne!(one, other);
}

#[test]
fn sys_13_names_of_one_folder_differ_even_where_case_is_ignored() {
    let mut names = NameSet::default();
    assert_eq!(names.claim("Model"), "Model");
    assert_eq!(names.claim("model"), "model-2");
    assert_eq!(names.claim("MODEL"), "MODEL-3");
    assert_eq!(names.claim("a:b"), "a-b");
    assert_eq!(names.claim("a|b"), "a-b-2");
    assert_eq!(names.claim("a-b-2"), "a-b-2-2");
    let long = "x".repeat(64);
    assert_eq!(names.claim(&long), long);
    assert_eq!(names.claim(&long), format!("{}-2", "x".repeat(62)));
}

#[test]
fn clk_02_run_ids_are_not_time_alone() {
    // 2026-03-01 12:00:00 UTC is 1772366400 (date -u -d @1772366400).
    let noon = Moment { mono_us: 0, wall_us: 1_772_366_400_000_000 };
    let ids: BTreeSet<String> = (0..100).map(|_| run_id(noon, "org/My:Model?.gguf")).collect();
    assert_eq!(ids.len(), 100, "one clock reading, a hundred ids");
    for id in &ids {
        assert!(id.starts_with("20260301t120000z-org-my-model-.gguf-"), "{id}");
        assert_eq!(sanitise(id), *id);
        assert_eq!(id.to_ascii_lowercase(), *id);
    }
    let long = run_id(noon, &"Model".repeat(50));
    assert_eq!(long.len(), 64);
}

#[test]
fn clk_02_run_ids_stand_any_clock() {
    let id = |wall_us| run_id(Moment { mono_us: 1, wall_us }, "m");
    // Seconds from `date -u -d DATE +%s`.
    assert!(id(0).starts_with("19700101t000000z-m-"));
    assert!(id(951_827_696_000_000).starts_with("20000229t123456z-m-"));
    assert!(id(-1).starts_with("19691231t235959z-m-"));
    for broken in [i64::MIN, i64::MAX] {
        let id = id(broken);
        assert_eq!(sanitise(&id), id);
        assert_eq!(id.len(), "20000229t123456z-m-".len() + 12, "{id}");
    }
}
