//! What this processor can do, as CPUID or the kernel's hardware capabilities tell.

/// Whether the processor has a feature, and the system lets programs use it. Unknown names are never there.
#[cfg(target_arch = "x86_64")]
pub fn has(feature: &str) -> bool {
    use std::arch::is_x86_feature_detected as has;
    match feature {
        "sse4.2" => has!("sse4.2"),
        "popcnt" => has!("popcnt"),
        "avx" => has!("avx"),
        "avx2" => has!("avx2"),
        "fma" => has!("fma"),
        "f16c" => has!("f16c"),
        "bmi2" => has!("bmi2"),
        "avx512f" => has!("avx512f"),
        "avx512cd" => has!("avx512cd"),
        "avx512vl" => has!("avx512vl"),
        "avx512dq" => has!("avx512dq"),
        "avx512bw" => has!("avx512bw"),
        "avx512vnni" => has!("avx512vnni"),
        _ => false,
    }
}

/// Whether the processor has a feature, and the system lets programs use it. Unknown names are never there.
#[cfg(target_arch = "aarch64")]
pub fn has(feature: &str) -> bool {
    use std::arch::is_aarch64_feature_detected as has;
    match feature {
        "lse" => has!("lse"),
        "rdm" => has!("rdm"),
        "crc" => has!("crc"),
        "dotprod" => has!("dotprod"),
        "fp16" => has!("fp16"),
        "i8mm" => has!("i8mm"),
        _ => false,
    }
}

/// Nothing is known of other architectures.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn has(_: &str) -> bool {
    false
}
