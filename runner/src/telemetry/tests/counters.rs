//! RAPL: what is added and what is not, wraps zone by zone, rights.

use super::*;
use crate::telemetry::made_up::EACCES;
use crate::telemetry::source::Domain;

const LAPTOP: &str = include_str!("../fixtures/rapl-laptop.txt");

/// Total energy after two readings a second apart, with what happens between them.
fn between(tree: &Tree, change: impl FnOnce(&Tree)) -> Vec<(String, Result<Value, Missing>)> {
    let mut probed = only(tree, "rapl");
    let source = &mut probed.sources[0];
    source.read(&|| 0, &mut |_, _, _| ());
    change(tree);
    let names: Vec<String> = source.info().channels.iter().map(|channel| channel.name.clone()).collect();
    let mut values = vec![Err(Missing::NoSensor); names.len()];
    source.read(&|| 1_000_000, &mut |channel, _, value| values[channel] = value);
    names.into_iter().zip(values).collect()
}

#[test]
fn pwr_04_packages_alone_are_the_total() {
    let tree = Tree::of(LAPTOP);
    let zone = |zone: &str| format!("sys/class/powercap/intel-rapl:{zone}/energy_uj");
    let values = between(&tree, |tree| {
        tree.set(&zone("0"), "26968529117"); // 5 J
        tree.set(&zone("0:0"), "7983278886"); // 3 J inside it
        tree.set(&zone("0:2"), "2470474853"); // 1 J beside it
        tree.set(&zone("1"), "51242567890"); // 8 J, the maker's own sum
    });
    let expected = [
        ("packages", 5_000_000),
        ("package-0", 5_000_000),
        ("psys", 8_000_000),
        ("core-0", 3_000_000),
        ("uncore-0", 0),
        ("dram-0", 1_000_000),
    ];
    assert_eq!(values, expected.map(|(name, uj)| (name.to_owned(), Ok(Value::Energy(uj)))));
    let probed = found(&tree);
    let channels = &probed.sources[0].info().channels;
    assert_eq!(probed.headline, Some(0));
    let domains: Vec<Domain> = channels.iter().map(|channel| channel.domain).collect();
    use Domain::{CpuPackage, Dram, Platform, Rail};
    assert_eq!(domains, [CpuPackage, Rail, Platform, Rail, Rail, Dram]);
}

#[test]
fn pwr_02_each_zone_wraps_at_a_range_of_its_own() {
    let tree = Tree::of(
        "# captured: two packages of an AMD 5700X and an Intel client; the counters are synthetic\n\
         sys/class/powercap/intel-rapl:0/name = package-0\n\
         sys/class/powercap/intel-rapl:0/energy_uj = 65532000000\n\
         sys/class/powercap/intel-rapl:0/max_energy_range_uj = 65532610987\n\
         sys/class/powercap/intel-rapl:1/name = package-1\n\
         sys/class/powercap/intel-rapl:1/energy_uj = 262143000000\n\
         sys/class/powercap/intel-rapl:1/max_energy_range_uj = 262143328850\n",
    );
    let values = between(&tree, |tree| {
        tree.set("sys/class/powercap/intel-rapl:0/energy_uj", "389013");
        tree.set("sys/class/powercap/intel-rapl:1/energy_uj", "700000");
    });
    assert_eq!(values[1].1, Ok(Value::Energy(1_000_000)));
    assert_eq!(values[2].1, Ok(Value::Energy(1_028_850)));
    assert_eq!(values[0].1, Ok(Value::Energy(2_028_850)));
}

#[test]
fn pwr_02_a_wrap_without_a_range_drops_its_interval() {
    let tree = Tree::of(LAPTOP);
    tree.fail("sys/class/powercap/intel-rapl:0/max_energy_range_uj", EACCES);
    let values = between(&tree, |tree| tree.set("sys/class/powercap/intel-rapl:0/energy_uj", "5"));
    assert_eq!(values[0].1, Ok(Value::Restart(0)), "nothing negative, nothing made up");
}

#[test]
fn a_counter_that_cannot_be_read_for_a_moment_is_an_error_and_no_wrap() {
    let tree = Tree::of(LAPTOP);
    let path = "sys/class/powercap/intel-rapl:0/energy_uj";
    let values = between(&tree, |tree| tree.fail(path, 5));
    assert_eq!((values[0].1, values[1].1), (Err(Missing::ReadError), Err(Missing::ReadError)));
    assert_eq!(values[2].1, Ok(Value::Energy(0)), "the others go on");
}

#[test]
fn pwr_01_counters_for_root_only_are_a_reason_with_path_and_remedy() {
    let tree = Tree::of(LAPTOP);
    for zone in ["0", "0:0", "0:1", "0:2", "1"] {
        tree.fail(&format!("sys/class/powercap/intel-rapl:{zone}/energy_uj"), EACCES);
    }
    let probed = found(&tree);
    let absent = probed.absent.iter().find(|absent| absent.id == "rapl").unwrap();
    assert_eq!(
        (absent.reason, probed.headline, probed.reason()),
        (Missing::Permission, None, Missing::Permission)
    );
    assert_eq!(absent.looked_at, "/sys/class/powercap/intel-rapl:0/energy_uj");
    assert!(absent.remedy.as_ref().unwrap().contains("udev"));
}

#[test]
fn pwr_01_a_package_that_cannot_be_read_takes_the_total_with_it() {
    let tree = Tree::of(LAPTOP);
    tree.fail("sys/class/powercap/intel-rapl:0/energy_uj", EACCES);
    assert_eq!(reason(&found(&tree), "rapl"), Missing::Permission);
}
