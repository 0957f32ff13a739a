//! Machines as their kernels describe them, written into a folder.

use std::path::Path;

use super::cores::list;
use super::{Cores, Told};

/// A machine in the making.
struct Machine(tempfile::TempDir);

impl Machine {
    /// `online` as the kernel lists it; this process may use all of them.
    fn new(online: &str) -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        machine.write("sys/devices/system/cpu/online", online);
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
    }

    /// Gives processors a file each.
    fn each(self, cpus: std::ops::RangeInclusive<u32>, file: &str, text: impl Fn(u32) -> String) -> Machine {
        cpus.for_each(|cpu| self.write(&format!("sys/devices/system/cpu/cpu{cpu}/{file}"), &text(cpu)));
        self
    }

    /// Cores without hyper-threads.
    fn alone(self, cpus: std::ops::RangeInclusive<u32>) -> Machine {
        self.each(cpus, "topology/core_cpus_list", |cpu| cpu.to_string())
    }

    fn capacity(self, cpus: std::ops::RangeInclusive<u32>, capacity: u32) -> Machine {
        self.each(cpus, "cpu_capacity", |_| capacity.to_string())
    }

    fn clock(self, cpus: std::ops::RangeInclusive<u32>, khz: u32) -> Machine {
        self.each(cpus, "cpufreq/cpuinfo_max_freq", |_| khz.to_string())
    }

    fn allowed(self, cpus: &str) -> Machine {
        self.write(
            "proc/self/status",
            &format!("Name:\tedge-eval\nCpus_allowed:\tff\nCpus_allowed_list:\t{cpus}"),
        );
        self
    }

    fn cores(&self) -> Cores {
        Cores::read(self.0.path()).unwrap()
    }

    /// Logical, physical, fastest, and what told.
    fn counts(&self) -> (u32, u32, u32, Told) {
        let cores = self.cores();
        (cores.logical, cores.physical, cores.fastest, cores.told)
    }
}

/// Four Cortex-A72 of one capacity.
#[test]
fn a_pi_4_gets_its_four_cores() {
    let machine = Machine::new("0-3").alone(0..=3).capacity(0..=3, 1024).clock(0..=3, 1_800_000);
    assert_eq!(machine.counts(), (4, 4, 4, Told::Capacity));
}

/// Four Cortex-A76, under a kernel that gives no capacity.
#[test]
fn a_pi_5_gets_its_four_cores() {
    let machine = Machine::new("0-3").alone(0..=3).clock(0..=3, 2_400_000);
    assert_eq!(machine.counts(), (4, 4, 4, Told::Clock));
}

/// Six Cortex-A78AE, of which a power mode switches two off.
#[test]
fn an_orin_gets_the_cores_that_its_power_mode_leaves_on() {
    let machine = Machine::new("0-5").alone(0..=5).capacity(0..=5, 1024).clock(0..=5, 1_510_400);
    assert_eq!(machine.counts(), (6, 6, 6, Told::Capacity));
    machine.write("sys/devices/system/cpu/online", "0-3");
    assert_eq!(machine.counts(), (4, 4, 4, Told::Capacity));
}

/// RK3588: four Cortex-A55 first, then two pairs of Cortex-A76 whose bins differ a little.
#[test]
fn a_big_little_chip_gets_its_big_cores() {
    let machine =
        Machine::new("0-7").alone(0..=7).capacity(0..=3, 414).capacity(4..=5, 1024).capacity(6..=7, 1009);
    assert_eq!(machine.counts(), (8, 8, 4, Told::Capacity));
    // An older kernel has no capacities, but clocks.
    let machine = Machine::new("0-7")
        .alone(0..=7)
        .clock(0..=3, 1_800_000)
        .clock(4..=5, 2_400_000)
        .clock(6..=7, 2_352_000);
    assert_eq!(machine.counts(), (8, 8, 4, Told::Clock));
}

/// Four performance cores with two threads each, eight efficiency cores.
#[test]
fn a_laptop_with_two_kinds_of_cores_gets_the_fast_ones_once_each() {
    let machine = Machine::new("0-15")
        .each(0..=7, "topology/core_cpus_list", |cpu| format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1))
        .alone(8..=15)
        .clock(0..=7, 4_700_000)
        .clock(8..=15, 3_400_000);
    assert_eq!(machine.counts(), (16, 12, 4, Told::Clock));
    // Favoured cores of the same kind clock a little higher.
    let machine = machine.clock(2..=5, 5_000_000);
    assert_eq!(machine.counts(), (16, 12, 4, Told::Clock));
}

/// Hyper-threads as older kernels list them: the second threads have the higher numbers.
#[test]
fn hyper_threads_count_once_whatever_their_numbers() {
    let machine = Machine::new("0-7")
        .each(0..=7, "topology/thread_siblings_list", |cpu| format!("{},{}", cpu % 4, cpu % 4 + 4));
    assert_eq!(machine.counts(), (8, 4, 4, Told::Nothing));
    // Where only second threads are allowed they count as their cores.
    assert_eq!(machine.allowed("6-7").counts(), (2, 2, 2, Told::Nothing));
}

#[test]
fn a_container_gets_what_its_mask_and_its_quota_leave() {
    let big_little = || Machine::new("0-7").alone(0..=7).capacity(0..=3, 414).capacity(4..=7, 1024);
    assert_eq!(big_little().allowed("0-3").counts(), (4, 4, 4, Told::Capacity), "slow cores alone");
    assert_eq!(big_little().allowed("2-5").counts(), (4, 4, 2, Told::Capacity));
    assert_eq!(big_little().allowed("7").counts(), (1, 1, 1, Told::Capacity));
    let limited = big_little();
    limited.write("sys/fs/cgroup/cpu.max", "250000 100000");
    assert_eq!((limited.cores().fastest, limited.cores().quota), (2, Some(2)));
    limited.write("sys/fs/cgroup/cpu.max", "50000 100000");
    assert_eq!(limited.cores().fastest, 1, "half a processor is still one thread");
    limited.write("sys/fs/cgroup/cpu.max", "max 100000");
    assert_eq!((limited.cores().fastest, limited.cores().quota), (4, None));
}

#[test]
fn a_rating_that_some_cores_lack_is_not_used() {
    let machine = Machine::new("0-3").alone(0..=3).capacity(0..=1, 1024).clock(0..=3, 2_000_000);
    assert_eq!(machine.counts(), (4, 4, 4, Told::Clock));
}

#[test]
fn a_system_that_tells_nothing_or_nonsense_is_none() {
    assert_eq!(Cores::read(Path::new("/nowhere")), None);
    assert_eq!(Cores::read(Machine::new("four").0.path()), None);
    assert_eq!(Cores::read(Machine::new("0-3").allowed("4-7").0.path()), None);
    assert_eq!(list("0-2,5").map(|all| all.into_iter().collect::<Vec<_>>()), Some(vec![0, 1, 2, 5]));
    assert_eq!(list("3-1"), None);
    assert_eq!(list("0-4000000000"), None);
}

#[test]
fn this_machine_has_a_core() {
    let cores = super::here();
    assert!(cores.fastest >= 1 && cores.fastest <= cores.physical && cores.physical <= cores.logical);
    assert_eq!(super::chosen(0), cores.fastest);
    assert_eq!(super::chosen(7), 7);
}
