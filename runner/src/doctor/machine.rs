//! Whether the build fits the processor.

use super::Check;

/// A processor feature: its name in the library's report, its name for people, whether this processor has it.
type Feature = (&'static str, &'static str, bool);

/// Compares what the library was built with (`AVX2 = 1 | ...`) with what the processor has.
pub(super) fn cpu(system: &str) -> Check {
    compare(system, &features())
}

fn compare(system: &str, features: &[Feature]) -> Check {
    const NAME: &str = "cpu";
    if features.is_empty() {
        return Check::skip(
            NAME,
            format!("no features are known for this architecture; llama.cpp says: {system}"),
        );
    }
    let uses = |name: &str| {
        system.split(['|', ':']).any(|entry| {
            entry.split_once('=').is_some_and(|(key, value)| key.trim() == name && value.trim() == "1")
        })
    };
    let names = |wanted: &dyn Fn(&Feature) -> bool| {
        let all: Vec<&str> = features.iter().filter(|one| wanted(one)).map(|one| one.1).collect();
        all.join(" ")
    };
    let lacking = names(&|&(name, _, has)| uses(name) && !has);
    let unused = names(&|&(name, _, has)| !uses(name) && has);
    let used = names(&|&(name, _, _)| uses(name));
    if !lacking.is_empty() {
        return Check::fail(
            NAME,
            format!(
                "this build uses {lacking}, which the processor lacks: it will die of an illegal instruction"
            ),
            "use a build for an older processor",
        );
    }
    let used = if used.is_empty() { "no optional feature".to_owned() } else { used };
    match unused.is_empty() {
        true => Check::ok(NAME, format!("this build uses {used}, all that matters here")),
        false => Check::warn(
            NAME,
            format!("this build uses {used}; the processor also has {unused}"),
            "results are right, but a build for this processor is faster",
        ),
    }
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<Feature> {
    use std::arch::is_x86_feature_detected as has;
    vec![
        ("AVX", "avx", has!("avx")),
        ("AVX2", "avx2", has!("avx2")),
        ("FMA", "fma", has!("fma")),
        ("F16C", "f16c", has!("f16c")),
        ("AVX512", "avx512f", has!("avx512f")),
    ]
}

#[cfg(target_arch = "aarch64")]
fn features() -> Vec<Feature> {
    use std::arch::is_aarch64_feature_detected as has;
    vec![
        ("NEON", "neon", has!("neon")),
        ("DOTPROD", "dotprod", has!("dotprod")),
        ("FP16_VA", "fp16", has!("fp16")),
        ("MATMUL_INT8", "i8mm", has!("i8mm")),
        ("SVE", "sve", has!("sve")),
    ]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<Feature> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn sys_03_a_missing_feature_is_named_before_it_kills() {
        let report = "CPU : SSE3 = 1 | AVX = 1 | AVX2 = 1 | FMA = 0 | REPACK = 1 |";
        let features = |avx2, fma| vec![("AVX", "avx", true), ("AVX2", "avx2", avx2), ("FMA", "fma", fma)];
        let check = compare(report, &features(false, false));
        assert_eq!(check.level, Level::Fail);
        assert!(check.finding.contains("uses avx2, which the processor lacks"), "{}", check.finding);
        let check = compare(report, &features(true, true));
        assert_eq!(check.level, Level::Warn);
        assert!(check.finding.ends_with("the processor also has fma"), "{}", check.finding);
        assert_eq!(compare(report, &features(true, false)).level, Level::Ok);
        assert_eq!(compare(report, &[]).level, Level::Skip);
    }
}
