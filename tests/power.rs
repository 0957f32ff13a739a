//! Power, latency and the state of the machine, measured beside a run.

use std::collections::BTreeMap;

use runner::telemetry::missing::Missing;

use crate::support::{Bench, run, told};

const CONFIG: &str = "interfaces = [\"direct\", \"free-cot\"]\nlimit = 6\n\
    [[model]]\npath = \"fake:delay-us=20000\"\n[[task]]\nname = \"lights\"\n\
    [telemetry]\nidle-s = 0\ntimeline-s = 0.1\n";

/// The rows of a CSV text by column.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headings: Vec<String> = reader.headers().expect("a heading").iter().map(str::to_owned).collect();
    let row = |row: csv::Result<csv::StringRecord>| {
        headings.iter().cloned().zip(row.expect("a row").iter().map(str::to_owned)).collect()
    };
    reader.records().map(row).collect()
}

fn costs(bench: &Bench, more: &[&str]) -> Vec<BTreeMap<String, String>> {
    let dir = bench.path("out");
    let arguments = [&["report", &dir, "--costs", "--csv", "-"], more].concat();
    let (code, out, err) = told(&run(&arguments));
    assert_eq!(code, Some(0), "{err}");
    rows(&out)
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {:?}", row[column]))
}

#[test]
fn a_machine_without_sensors_says_in_every_power_column_why_it_is_empty() {
    let bench = Bench::new(CONFIG);
    let empty = bench.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let (code, out, err) = told(&bench.run("out", &["--root", &empty]));
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("power is not measured: no sensor"), "{err}");
    // Nothing to tell: one line instead of a table, which comes on request. Two interfaces, five columns each.
    assert!(!out.contains("J/item"), "{out}");
    let (_, out, _) = told(&run(&["report", &bench.path("out"), "--costs"]));
    // And the phase of the made-up engine, three columns.
    assert_eq!(out.matches("no-sensor").count(), 13, "{out}");
    assert_eq!(out.matches("not-sampled").count(), 6, "{out}");
    for row in costs(&bench, &[]) {
        assert_eq!((row["missing"].as_str(), row["gross_j"].as_str()), ("no-sensor", ""));
        assert_eq!((row["j_per_correct"].as_str(), row["end_to_end_p50_ms"].as_str()), ("", ""));
    }
    let log = bench.log("out");
    assert_eq!(log.measured.began[0].missing, Some(Missing::NoSensor));
    assert_eq!(log.measured.began[0].absent.len(), 7, "every source is named with its reason");
    assert_eq!(log.measured.ended.len(), 1);
    // Off: nothing but durations, and no table.
    let (_, out, _) = told(&bench.run("off", &["--power", "off"]));
    assert!(!out.contains("J/item"), "{out}");
    assert!(bench.log("off").measured.began.is_empty());
}

#[test]
fn the_energy_of_a_steady_meter_is_its_power_times_the_time() {
    let slow = CONFIG.replace("delay-us=20000", "delay-us=80000");
    let bench = Bench::new(&format!("{slow}meter-every-ms = 20\n"));
    let meter = "while :; do echo '{\"w\": 5}'; sleep 0.02; done";
    let more = ["--power", "meter", "--meter", meter, "--meter-domain", "dc-input-board", "--rate", "50"];
    let (code, out, err) = told(&bench.run("out", &more));
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("power: meter meter, dc-input-board, measured"), "{err}");
    assert!(!out.contains("no-sensor"));
    let rows = costs(&bench, &[]);
    assert_eq!(rows.len(), 2);
    let mut shared = 0.0;
    for row in &rows {
        assert_eq!(
            (row["source"].as_str(), row["domain"].as_str(), row["missing"].as_str()),
            ("meter", "dc-input-board", ""),
            "{row:?}"
        );
        let (gross, time) = (number(row, "gross_j"), number(row, "time_s"));
        assert!((gross / time - 5.0).abs() < 0.05, "{gross} J in {time} s");
        assert!((number(row, "mean_w") - 5.0).abs() < 0.05);
        assert!((number(row, "j_per_item") - gross / 6.0).abs() < 1e-6);
        assert_eq!(row["net_j"], "", "idle power was not measured");
        assert!(row["marks"].contains("shared"), "{row:?}");
        shared += time;
    }
    // The two interfaces share the time of the group: neither has it whole.
    let log = bench.log("out");
    let (_, window) =
        log.measured.windows.iter().find(|(_, window)| window.group.is_some()).expect("a group");
    let span = window.end.since_us(window.begin) as f64 / 1e6;
    assert!((shared - span).abs() < 1e-6, "{shared} {span}");
    // The made-up engine knows prompts alone; all of their time is one span.
    let phases = told(&run(&["report", &bench.path("out"), "--phases", "-"])).1;
    let phases = self::rows(&phases);
    assert_eq!(phases.len(), 1, "{phases:?}");
    let phase = &phases[0];
    assert_eq!((phase["phase"].as_str(), phase["asked"].as_str()), ("prefill", "together"));
    assert_eq!((phase["missing"].as_str(), phase["source"].as_str()), ("", "meter"), "{phase:?}");
    assert!((number(phase, "mean_w") - 5.0).abs() < 0.05, "{phase:?}");
    assert!((number(phase, "gross_j") / number(phase, "time_s") - 5.0).abs() < 0.3, "{phase:?}");
    let timeline = told(&run(&["report", &bench.path("out"), "--timeline", "-"])).1;
    let timeline = self::rows(&timeline);
    assert!(!timeline.is_empty());
    // Where the system tells, the worker's memory stands in the samples.
    if cfg!(target_os = "linux") {
        let private = |row: &BTreeMap<String, String>| row["worker_private_mib"].parse::<u64>().is_ok();
        assert!(timeline.iter().any(private), "{timeline:?}");
    }
    assert!(timeline.iter().all(|row| ["5", ""].contains(&row["meter:meter W"].as_str())), "{timeline:?}");
}

#[test]
fn items_asked_alone_give_latency_and_are_not_asked_again() {
    let bench = Bench::new(CONFIG);
    let (code, _, err) = told(&bench.run("out", &["--latency", "2", "--power", "none"]));
    assert_eq!(code, Some(0), "{err}");
    let log = bench.log("out");
    let warm_up = log.measured.timed.iter().filter(|(_, alone)| alone.warm_up).count();
    assert_eq!((log.measured.timed.len(), warm_up), (5, 1));
    for row in costs(&bench, &[]) {
        assert_eq!((row["alone_n"].as_str(), row["missing"].as_str()), ("2", "off"));
        // Each job of this engine takes 20 ms.
        assert!(number(&row, "end_to_end_p50_ms") >= 20.0);
        assert_eq!(
            (row["end_to_end_p90_ms"].as_str(), row["end_to_end_p99_ms"].as_str()),
            ("", ""),
            "of two items"
        );
    }
    let (code, _, err) = told(&bench.run("out", &["--latency", "2", "--power", "none"]));
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(bench.log("out").measured.timed.len(), 5);
}

#[test]
fn answers_do_not_depend_on_what_is_measured() {
    let bench = Bench::new(CONFIG);
    let meter = "while :; do echo 5; sleep 0.02; done";
    bench.run("a", &["--power", "meter", "--meter", meter, "--latency", "1"]);
    bench.run("b", &["--power", "off"]);
    assert_eq!(crate::support::answers(&bench.log("a")), crate::support::answers(&bench.log("b")));
    // Nor is a run with other measuring another run.
    let (code, _, err) = told(&bench.run("a", &["--power", "off"]));
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn a_meter_s_own_file_is_joined_afterwards() {
    let bench = Bench::new(CONFIG);
    bench.run("out", &["--power", "none"]);
    let log = bench.log("out");
    let began = &log.measured.began[0];
    let mut text = "time,w\n".to_owned();
    for tick in -100..400i64 {
        // By a clock that is 3 s ahead, ten times a second.
        let at = began.at.wall_us as f64 / 1e6 + 3.0 + tick as f64 / 10.0;
        text.push_str(&format!("{at:.3},8\n"));
    }
    let file = bench.path("meter.csv");
    std::fs::write(&file, text).unwrap();
    let rows = costs(&bench, &["--meter-csv", &file, "--meter-clock-ms", "3000"]);
    for row in &rows {
        // A run of less than two seconds is too short for ten samples a second, and says so.
        match row["missing"].as_str() {
            "" => assert!((number(row, "mean_w") - 8.0).abs() < 0.01, "{row:?}"),
            missing => assert_eq!(missing, "too-short", "{row:?}"),
        }
        assert_eq!(row["source"], "csv");
    }
    // Nothing tells how such a file and a run that never changes belong together.
    let dir = bench.path("out");
    let (code, _, err) = told(&run(&["report", &dir, "--meter-csv", &file]));
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("give the offset of the clocks"), "{err}");
}

#[test]
fn doctor_power_tells_what_is_found_and_why_the_rest_is_not() {
    let bench = Bench::new(CONFIG);
    let root = bench.path("root");
    let zone = format!("{root}/sys/class/powercap/intel-rapl:0");
    let hwmon = format!("{root}/sys/class/hwmon/hwmon0");
    let thermal = format!("{root}/sys/class/thermal/thermal_zone0");
    for (folder, files) in [
        (&zone, vec![("name", "package-0"), ("energy_uj", "1000"), ("max_energy_range_uj", "262143328850")]),
        (&hwmon, vec![("name", "ina226"), ("power1_input", "5200000")]),
        (&thermal, vec![("type", "cpu-thermal"), ("temp", "51900")]),
    ] {
        std::fs::create_dir_all(folder).unwrap();
        for (file, value) in files {
            std::fs::write(format!("{folder}/{file}"), format!("{value}\n")).unwrap();
        }
    }
    let arguments = ["doctor", "power", "--root", &root, "--seconds", "1", "--no-load"];
    let (code, out, err) = told(&run(&arguments));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("found    rapl") && out.contains("found    hwmon"), "{out}");
    assert!(
        out.contains("packages           cpu-package       counter") && out.contains("<- quoted"),
        "{out}"
    );
    // The counter of this made-up machine stands still.
    assert!(out.contains("its value does not change"), "{out}");
    assert!(out.contains("5.200 W (too short to be quoted)"), "{out}");
    assert!(out.contains("missing  jetson  no sensor") && out.contains("missing  meter"), "{out}");
    assert!(out.contains("heat     cpu-thermal 51.9 C") && out.contains("% of one core"), "{out}");
    let (code, out, _) = told(&run(&[&arguments[..], &["--json"]].concat()));
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(code, Some(0));
    assert_eq!(json["sources"].as_array().expect("sources").len(), 2);
    assert!(json["sampler"]["core_share"].as_f64().expect("a share") < 0.5);
}

#[test]
fn watch_shows_readings_and_ends_when_told() {
    let bench = Bench::new(CONFIG);
    let empty = bench.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let (code, out, err) = told(&run(&["watch", "--root", &empty, "--seconds", "1", "--every", "0.3"]));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.lines().count() >= 2 && out.lines().all(|line| line.contains("power: no sensor")), "{out}");
    let (code, _, err) = told(&run(&["watch", "--power", "off"]));
    assert_eq!(code, Some(2), "{err}");
}
