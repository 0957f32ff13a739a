//! The throttle word of a Raspberry Pi's firmware.
//!
//! Its upper half tells what has happened since boot, not since the run began: only bits that are new count for a run,
//! and nothing here ever resets them.

use super::root::Attribute;

/// Where the kernel shows the word.
pub const PI_PATHS: [&str; 2] = [
    "sys/devices/platform/soc/soc:firmware/get_throttled",
    "sys/devices/platform/soc:firmware/get_throttled",
];

/// What the bits mean; the same 16 bits higher for "since boot".
const BITS: [&str; 4] = ["under-voltage", "frequency capped", "throttled", "soft temperature limit"];

/// Reads the word from its file.
pub fn read(file: &mut dyn Attribute) -> Option<u32> {
    let mut buffer = [0; 32];
    let length = file.read(&mut buffer).ok()?;
    word(std::str::from_utf8(&buffer[..length]).ok()?)
}

/// The word in any of its forms: `throttled=0x50005`, `0x50005`, and bare hexadecimal digits as the kernel writes them.
pub fn word(text: &str) -> Option<u32> {
    let text = text.trim().trim_matches('\0').trim();
    let text = text.strip_prefix("throttled=").unwrap_or(text);
    u32::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// What holds right now.
pub fn now(word: u32) -> Vec<&'static str> {
    names(word)
}

/// What has happened since boot.
pub fn since_boot(word: u32) -> Vec<&'static str> {
    names(word >> 16)
}

/// What happened in a run: bits of "since boot" that were not set when it began, and whatever held at some moment of it.
pub fn in_run(begin: u32, end: u32, held: u32) -> Vec<&'static str> {
    names((end >> 16 & !(begin >> 16)) | (held & 0xf))
}

fn names(bits: u32) -> Vec<&'static str> {
    BITS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perf_03_the_word_is_decoded_by_the_firmware_s_table() {
        assert_eq!(now(0x50005), ["under-voltage", "throttled"]);
        assert_eq!(since_boot(0x50005), ["under-voltage", "throttled"]);
        assert_eq!(now(0xE0008), ["soft temperature limit"]);
        assert_eq!(since_boot(0xE0008), ["frequency capped", "throttled", "soft temperature limit"]);
        assert_eq!((now(0x50000).len(), since_boot(0x80000)), (0, vec!["soft temperature limit"]));
        assert!(now(0).is_empty() && since_boot(0).is_empty());
        for form in ["throttled=0x50005", "0x50005\n", "50005", "50005\n"] {
            assert_eq!(word(form), Some(0x50005), "{form}");
        }
        assert_eq!((word("throttled="), word("never")), (None, None));
    }

    #[test]
    fn perf_04_only_bits_that_are_new_belong_to_the_run() {
        assert_eq!(in_run(0x50000, 0x70000, 0), ["frequency capped"]);
        assert!(in_run(0x50000, 0x50000, 0).is_empty());
        // What held at some moment counts, although the bit since boot was set before.
        assert_eq!(in_run(0x50000, 0x50000, 0x1), ["under-voltage"]);
    }
}
