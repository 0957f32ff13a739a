//! The boards: totals to the milliwatt, labels that lie, sensors that are half broken or go away.

use super::*;
use crate::telemetry::made_up::{EACCES, ENODATA};
use crate::telemetry::source::{Domain, Kind};

#[test]
fn the_total_of_every_jetson_is_right_to_the_milliwatt() {
    let boards = [
        (include_str!("../fixtures/agx-orin-12v.txt"), 8711),
        (include_str!("../fixtures/orin-nano.txt"), 4823),
        (include_str!("../fixtures/xavier-nx.txt"), 4053),
        (include_str!("../fixtures/nano.txt"), 2875),
        (include_str!("../fixtures/tx2.txt"), 3056),
        (include_str!("../fixtures/agx-xavier.txt"), 3346),
        (include_str!("../fixtures/agx-thor.txt"), 34500),
    ];
    for (manifest, expected) in boards {
        let mut probed = found(&Tree::of(manifest));
        assert_eq!(milliwatts(&mut probed), expected, "{}", manifest.lines().next().unwrap());
        assert_eq!(headline(&mut probed).unwrap().0.domain, Domain::ModuleTotal);
    }
}

#[test]
fn rails_are_kept_apart_and_a_branch_of_another_rail_is_no_part_of_the_total() {
    let mut probed = found(&Tree::of(include_str!("../fixtures/agx-orin-12v.txt")));
    let rails: Vec<(String, i64)> = readings(&mut probed)
        .into_iter()
        .map(|(channel, value)| match value {
            Ok(Value::Power(uw)) => (channel.name, (uw + 500) / 1000),
            other => panic!("{}: {other:?}", channel.name),
        })
        .collect();
    let expected = [
        ("total", 8711),
        ("VDD_GPU_SOC", 3362),
        ("VDD_CPU_CV", 480),
        ("VIN_SYS_5V0", 4869),
        ("VDDQ_VDD2_1V8AO", 397),
    ];
    assert_eq!(rails, expected.map(|(name, mw)| (name.to_owned(), mw)));
}

#[test]
fn pwr_06_rails_are_found_under_every_name_of_the_driver_and_none_is_a_reason() {
    let trees = [include_str!("../fixtures/nano.txt"), include_str!("../fixtures/orin-nano.txt")];
    for tree in trees {
        assert!(found(&Tree::of(tree)).headline.is_some());
    }
    let none = found(&Tree::of("# synthetic: nothing"));
    assert!(none.headline.is_none() && none.sources.is_empty());
    let jetson = none.absent.iter().find(|absent| absent.id == "jetson").unwrap();
    assert_eq!(jetson.reason, Missing::NoSensor);
    assert!(jetson.looked_at.contains("ina3221") && jetson.looked_at.contains("hwmon"));
}

#[test]
fn a_total_that_lacks_a_rail_is_no_total() {
    let tree = Tree::of(include_str!("../fixtures/agx-orin-19v-broken.txt"));
    let mut probed = found(&tree);
    let all = readings(&mut probed);
    assert_eq!(all[0].1, Err(Missing::NotSupported), "the total");
    assert_eq!(all[1].1, Ok(Value::Power(18792 * 140)));
    assert_eq!(all[2].1, Ok(Value::Power(18784 * 20)));
    assert_eq!(all[3].1, Err(Missing::NotSupported));
    // The rail comes back: so does the total.
    tree.set("sys/class/hwmon/hwmon0/in3_input", "4968");
    tree.set("sys/class/hwmon/hwmon0/curr3_input", "980");
    assert_eq!(readings(&mut probed)[0].1, Ok(Value::Power(18792 * 140 + 18784 * 20 + 4968 * 980)));
}

#[test]
fn a_sensor_that_vanishes_is_an_error_and_never_zero() {
    let tree = Tree::of(include_str!("../fixtures/orin-nano.txt"));
    let mut probed = found(&tree);
    tree.remove("sys/bus/i2c/drivers/ina3221");
    assert!(readings(&mut probed).iter().all(|(_, value)| *value == Err(Missing::NotSupported)));
}

#[test]
fn rails_with_labels_that_no_board_has_have_no_total() {
    let tree = Tree::of(include_str!("../fixtures/orin-nano.txt"));
    let chip = "sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon1";
    // A carrier's own names, one of which holds `_in` as other tools look for.
    tree.set(&format!("{chip}/in1_label"), "CARRIER_5V_INPUT");
    let mut probed = found(&tree);
    assert_eq!(probed.headline, None);
    let notes = probed.sources[0].info().notes.join(" ");
    assert!(notes.contains("no rule") && notes.contains("CARRIER_5V_INPUT"), "{notes}");
    assert_eq!(readings(&mut probed)[0].1, Ok(Value::Power(5024 * 960)), "the rails are there");
    // Without any label.
    for channel in 1..=3 {
        tree.remove(&format!("{chip}/in{channel}_label"));
    }
    let mut probed = found(&tree);
    assert_eq!((probed.headline, readings(&mut probed)[0].0.name.as_str()), (None, "in1"));
}

#[test]
fn pwr_07_units_are_those_of_each_file_and_negotiated_supplies_are_no_rails() {
    let tree = Tree::of(
        "# unit-test: an ina219 on a battery (nut 2960) and one on a supply\n\
         sys/class/hwmon/hwmon0/name = ina219\n\
         sys/class/hwmon/hwmon0/in0_input = -4\n\
         sys/class/hwmon/hwmon0/in1_input = 4228\n\
         sys/class/hwmon/hwmon0/curr1_input = -40\n\
         sys/class/hwmon/hwmon1/name = ina226\n\
         sys/class/hwmon/hwmon1/power1_input = 5200000\n\
         sys/class/hwmon/hwmon2/name = ina220\n\
         sys/class/hwmon/hwmon2/in1_input = 5000\n\
         sys/class/hwmon/hwmon2/curr1_input = 1040\n\
         sys/class/power_supply/ucsi-source-psy-1/type = Battery\n\
         sys/class/power_supply/ucsi-source-psy-1/status = Discharging\n\
         sys/class/power_supply/ucsi-source-psy-1/power_now = 60000000\n",
    );
    let mut probed = found(&tree);
    let all: Vec<_> =
        readings(&mut probed).into_iter().map(|(channel, value)| (channel.kind, value)).collect();
    assert_eq!(
        all,
        [
            (Kind::Product, Ok(Value::Power(-169_120))),
            (Kind::Measured, Ok(Value::Power(5_200_000))),
            (Kind::Product, Ok(Value::Power(5_200_000))),
        ]
    );
    assert_eq!(probed.headline, None, "nobody said where these meters sit");
    assert_eq!(reason(&probed, "battery"), Missing::NoSensor);
}

#[test]
fn a_named_meter_is_the_one_to_quote_with_the_domain_that_the_user_gives() {
    let tree = Tree::of(include_str!("../fixtures/orin-nano.txt"));
    tree.set("sys/class/hwmon/hwmon8/name", "ina226");
    tree.set("sys/class/hwmon/hwmon8/power1_input", "9100000");
    let named = crate::telemetry::sources::hwmon::Named {
        name: "ina226".to_owned(),
        label: None,
        domain: Domain::DcInputBoard,
    };
    let wanted = Wanted { choice: Choice::Hwmon(named.clone()), ..Wanted::default() };
    let mut probed = probe(&tree, &clock(), &wanted);
    assert_eq!(milliwatts(&mut probed), 9100);
    assert_eq!(headline(&mut probed).unwrap().0.domain, Domain::DcInputBoard);
    let lost = Wanted {
        choice: Choice::Hwmon(crate::telemetry::sources::hwmon::Named { name: "ina999".into(), ..named }),
        ..Wanted::default()
    };
    let probed = probe(&tree, &clock(), &lost);
    assert_eq!((probed.headline, reason(&probed, "hwmon")), (None, Missing::NoSensor));
}

#[test]
fn a_graphics_chip_tells_its_power_under_either_name_and_is_no_total() {
    for file in ["power1_average", "power1_input"] {
        let tree = Tree::of(&format!(
            "# unit-test: Kepler\nsys/class/hwmon/hwmon3/name = amdgpu\n\
             sys/class/hwmon/hwmon3/{file} = 118000000\nsys/class/hwmon/hwmon3/power1_label = PPT\n"
        ));
        let mut probed = found(&tree);
        let all = readings(&mut probed);
        assert_eq!((all.len(), &all[0].1), (1, &Ok(Value::Power(118_000_000))));
        assert_eq!((all[0].0.domain, all[0].0.name.as_str()), (Domain::GpuBoard, "amdgpu PPT"));
        assert!(all[0].0.note.ends_with(file), "which file it was is told");
        assert_eq!(probed.headline, None);
    }
}

#[test]
fn a_pi_5_tells_what_its_rails_cover_and_a_pi_4_that_it_has_none() {
    let tree = Tree::of(include_str!("../fixtures/pi5.txt"));
    tree.answer(Ok(include_str!("../fixtures/pi5-pmic-busy.txt")));
    let mut probed = found(&tree);
    assert_eq!(milliwatts(&mut probed), 10_800);
    let all = readings(&mut probed);
    assert_eq!(all[0].0.domain, Domain::SocPartial);
    let (estimate, value) = &all[1];
    assert_eq!(estimate.kind, Kind::Estimate);
    let Ok(Value::Power(uw)) = value else { panic!("{value:?}") };
    assert_eq!((uw + 500) / 1000, 12_877);
    assert_eq!(all.len(), 14);
    // A reply that loses a rail in mid-run is no reading: the sum would be less than it was.
    let cut = include_str!("../fixtures/pi5-pmic-busy.txt").replace("VDD_CORE_A current(7)=10.87674000A", "");
    tree.answer(Ok(&cut));
    let mut sums = Vec::new();
    probed.sources[0].read(&|| 0, &mut |channel, _, value| sums.extend((channel < 2).then_some(value)));
    assert_eq!(sums, [Err(Missing::ReadError), Err(Missing::ReadError)]);

    let tree =
        Tree::of("# captured: a model name\nproc/device-tree/model = Raspberry Pi 4 Model B Rev 1.4\\0\n");
    tree.answer(Ok("error=1 error_msg=\"Command not registered\""));
    let probed = found(&tree);
    assert_eq!(reason(&probed, "pi-pmic"), Missing::NotSupported);
    assert!(
        probed.absent.iter().any(|absent| absent.looked_at.contains("Raspberry Pi 4 Model B Rev 1.4 has no"))
    );
}

#[test]
fn a_forbidden_mailbox_names_the_group() {
    let tree = Tree::of(include_str!("../fixtures/pi5.txt"));
    tree.answer(Err(EACCES));
    let probed = found(&tree);
    let absent = probed.absent.iter().find(|absent| absent.id == "pi-pmic").unwrap();
    assert_eq!((absent.reason, probed.reason()), (Missing::Permission, Missing::Permission));
    assert!(absent.remedy.as_ref().unwrap().contains("usermod -aG video"));
}

#[test]
fn pwr_05_a_sensor_whose_every_value_is_unsupported_is_no_sensor() {
    let tree = Tree::of(include_str!("../fixtures/orin-nano.txt"));
    for channel in 1..=3 {
        for file in ["in", "curr"] {
            tree.fail(
                &format!("sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon1/{file}{channel}_input"),
                ENODATA,
            );
        }
    }
    let probed = found(&tree);
    assert_eq!((probed.headline, reason(&probed, "jetson")), (None, Missing::NotSupported));
}

#[test]
fn a_jetson_s_graphics_program_is_never_asked() {
    let probed = found(&Tree::of(include_str!("../fixtures/orin-nano.txt")));
    assert_eq!(reason(&probed, "nvidia-smi"), Missing::NotSupported);
}
