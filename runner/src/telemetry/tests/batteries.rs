//! Laptop batteries: direction, units, garbage, mains.

use super::*;

const SUPPLY: &str = "sys/class/power_supply/BAT0";

/// A pack with these files.
fn pack(status: &str, files: &[(&str, &str)]) -> Tree {
    let tree = Tree::default();
    tree.set(&format!("{SUPPLY}/type"), "Battery");
    tree.set(&format!("{SUPPLY}/status"), status);
    for (file, value) in files {
        match value.strip_prefix("! ") {
            Some(_) => tree.fail(&format!("{SUPPLY}/{file}"), 19),
            None => tree.set(&format!("{SUPPLY}/{file}"), value),
        }
    }
    tree
}

#[test]
fn power_is_right_to_the_milliwatt_whatever_the_pack_reports() {
    // Captured: Legion 5 (AMD); Framework 13; a Dell; an Apple laptop, whose signs are turned.
    let packs: [(&[(&str, &str)], i64); 4] = [
        (&[("voltage_now", "16137000"), ("power_now", "10618000")], 10_618),
        (&[("voltage_now", "17296000"), ("current_now", "402000"), ("charge_now", "3670000")], 6_953),
        (&[("voltage_now", "12600000"), ("current_now", "756000")], 9_526),
        (&[("voltage_now", "12233000"), ("current_now", "-386000"), ("power_now", "-4721000")], 4_721),
    ];
    for (files, expected) in packs {
        assert_eq!(milliwatts(&mut found(&pack("Discharging", files))), expected, "{files:?}");
    }
}

#[test]
fn of_two_packs_those_that_discharge_are_added_and_a_mouse_is_none() {
    let tree = Tree::of(include_str!("../fixtures/thinkpad-two-packs.txt"));
    let mut probed = found(&tree);
    assert_eq!(milliwatts(&mut probed), 27_758);
    tree.set("sys/class/power_supply/BAT1/status", "Discharging");
    tree.set("sys/class/power_supply/BAT1/power_now", "4000000");
    assert_eq!(milliwatts(&mut probed), 31_758);
}

#[test]
fn on_mains_a_battery_tells_nothing() {
    // Captured: Framework on its charger. The current is the charge.
    let charging = pack("Charging", &[("current_now", "159000"), ("voltage_now", "17814000")]);
    let probed = found(&charging);
    assert_eq!(
        (probed.headline, reason(&probed, "battery"), probed.reason()),
        (None, Missing::OnMains, Missing::OnMains)
    );
    let idle = pack("Not charging", &[("power_now", "0")]);
    assert_eq!(reason(&found(&idle), "battery"), Missing::OnMains);
    // The charger comes while it runs.
    let tree = Tree::of(include_str!("../fixtures/thinkpad-two-packs.txt"));
    let mut probed = found(&tree);
    tree.set("sys/class/power_supply/AC/online", "1");
    assert_eq!(headline(&mut probed).unwrap().1, Err(Missing::OnMains));
}

#[test]
fn what_no_laptop_draws_is_refused() {
    for files in [
        [("power_now", "65535000"), ("voltage_now", "11000000")],
        [("current_now", "65535000"), ("voltage_now", "1000000")],
        [("power_now", "400000000"), ("voltage_now", "11000000")],
        // Captured from an old controller: 0.0106 W.
        [("current_now", "898"), ("voltage_now", "11829000")],
    ] {
        let probed = found(&pack("Discharging", &files));
        assert_eq!((probed.headline, reason(&probed, "battery")), (None, Missing::Implausible), "{files:?}");
    }
}

#[test]
fn without_a_rate_the_charge_that_is_gone_is_counted() {
    // Captured: HP EliteBook 735 G6; the charge is synthetic.
    let tree = pack(
        "Discharging",
        &[("voltage_now", "11140000"), ("current_now", "! ENODEV"), ("charge_now", "3000000")],
    );
    let mut probed = found(&tree);
    let (channel, value) = headline(&mut probed).unwrap();
    assert_eq!((channel.kind, channel.shortest_us), (crate::telemetry::source::Kind::Counter, 600_000_000));
    assert_eq!(value, Ok(Value::Energy(0)));
    // 10 mAh at 11.14 V are 111.4 mWh or 401.04 J.
    tree.set(&format!("{SUPPLY}/charge_now"), "2990000");
    assert_eq!(headline(&mut probed).unwrap().1, Ok(Value::Energy(401_040_000)));
    // A voltage that wavers upwards gives nothing back.
    tree.set(&format!("{SUPPLY}/voltage_now"), "11200000");
    assert_eq!(headline(&mut probed).unwrap().1, Ok(Value::Energy(401_040_000)));
}
