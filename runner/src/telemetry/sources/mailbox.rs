//! Text commands to the firmware of a Raspberry Pi, through its mailbox device and without any other program.
//!
//! A message is a row of 32-bit words: length in bytes, request or reply code, one tag with the command's text, end.

use std::io;
use std::path::Path;

/// What answers text commands.
pub trait Firmware: Send {
    /// Sends a command; the reply's text is put into `reply`, its length given back.
    fn ask(&mut self, command: &str, reply: &mut [u8]) -> io::Result<usize>;
}

/// Devices that take the messages, the one with fewer rights first.
pub const DEVICES: [&str; 2] = ["dev/vcio_gencmd", "dev/vcio"];

/// The tag for text commands.
const TAG: u32 = 0x0003_0080;
const REQUEST: u32 = 0;
const REPLY_OK: u32 = 0x8000_0000;
/// Sizes of the text's room that firmwares know; older ones refuse the large one.
const ROOMS: [usize; 2] = [4096, 1024];
/// Words before the text.
const HEAD: usize = 6;
/// Words of the largest message.
pub const WORDS: usize = HEAD + ROOMS[0] / 4 + 1;

/// Builds a message with room for a text of `room` bytes; gives its length in words.
pub fn write(command: &str, room: usize, words: &mut [u32; WORDS]) -> io::Result<usize> {
    let length = HEAD + room / 4 + 1;
    // The text ends in zero.
    if command.len() >= room || length > WORDS || command.contains('\0') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is too long"));
    }
    words.fill(0);
    words[0] = 4 * length as u32;
    words[1] = REQUEST;
    words[2] = TAG;
    words[3] = room as u32;
    for (index, byte) in command.bytes().enumerate() {
        words[HEAD + index / 4] |= u32::from(byte) << (8 * (index % 4));
    }
    Ok(length)
}

/// Takes the text out of a reply.
pub fn read(words: &[u32], room: usize, text: &mut [u8]) -> io::Result<usize> {
    let wrong = |what: &'static str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let Some(head) = words.get(..HEAD) else { return wrong("the firmware's reply is cut off") };
    if head[1] != REPLY_OK {
        return wrong("the firmware refuses the message");
    }
    if head[5] != 0 {
        return wrong("the firmware refuses the command");
    }
    let end = (HEAD + room / 4).min(words.len());
    let bytes = words[HEAD..end].iter().flat_map(|word| word.to_le_bytes());
    let mut length = 0;
    for byte in bytes.take_while(|byte| *byte != 0) {
        let Some(place) = text.get_mut(length) else { return wrong("the firmware's reply is too long") };
        *place = byte;
        length += 1;
    }
    // A text that fills its room has no end: it was cut off.
    if length >= room {
        return wrong("the firmware's reply is cut off");
    }
    Ok(length)
}

/// Opens the device below a root.
#[cfg(target_os = "linux")]
pub fn open(root: &Path) -> io::Result<Box<dyn Firmware>> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for device in DEVICES {
        match std::fs::File::open(root.join(device)) {
            Ok(file) => return Ok(Box::new(device::Mailbox::new(file))),
            // What is there and forbidden tells more than what is not there.
            Err(error) if last.kind() == io::ErrorKind::NotFound => last = error,
            Err(_) => {}
        }
    }
    Err(last)
}

/// There is no such device elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn open(_: &Path) -> io::Result<Box<dyn Firmware>> {
    Err(io::Error::from(io::ErrorKind::NotFound))
}

#[cfg(target_os = "linux")]
mod device {
    use std::ffi::c_void;
    use std::fs::File;
    use std::io;

    use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, opcode};

    use super::{Firmware, ROOMS, WORDS, read, write};

    pub(super) struct Mailbox {
        file: File,
        words: Box<[u32; WORDS]>,
        room: usize,
    }

    impl Mailbox {
        pub(super) fn new(file: File) -> Self {
            Mailbox { file, words: Box::new([0; WORDS]), room: ROOMS[0] }
        }

        fn try_room(&mut self, command: &str, room: usize, reply: &mut [u8]) -> io::Result<usize> {
            let length = write(command, room, &mut self.words)?;
            exchange(&self.file, &mut self.words)?;
            read(&self.words[..length], room, reply)
        }
    }

    impl Firmware for Mailbox {
        fn ask(&mut self, command: &str, reply: &mut [u8]) -> io::Result<usize> {
            match self.try_room(command, self.room, reply) {
                Err(_) if self.room == ROOMS[0] => {
                    let answer = self.try_room(command, ROOMS[1], reply)?;
                    self.room = ROOMS[1];
                    Ok(answer)
                }
                answer => answer,
            }
        }
    }

    struct Message<'a>(&'a mut [u32; WORDS]);

    #[allow(unsafe_code)]
    fn exchange(file: &File, words: &mut [u32; WORDS]) -> io::Result<()> {
        // SAFETY: the driver reads and writes at most the length that the first word states, and that is at most the
        // length of the buffer, which lives during the call.
        unsafe { rustix::ioctl::ioctl(file, Message(words)) }.map_err(io::Error::from)
    }

    // SAFETY: the number is that of the driver, `_IOWR(100, 0, char *)`, and the pointer is to a writable message.
    #[allow(unsafe_code)]
    unsafe impl Ioctl for Message<'_> {
        type Output = ();
        const IS_MUTATING: bool = true;

        fn opcode(&self) -> Opcode {
            opcode::read_write::<*mut u8>(100, 0)
        }

        fn as_ptr(&mut self) -> *mut c_void {
            self.0.as_mut_ptr().cast()
        }

        unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> rustix::io::Result<()> {
            Ok(())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_call_s_number_is_that_of_the_driver() {
            let number = Message(&mut [0; WORDS]).opcode();
            let expected = if size_of::<usize>() == 8 { 0xC008_6400 } else { 0xC004_6400 };
            assert_eq!(number as u64, expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_driver_s_form() {
        let mut words = [0; WORDS];
        let length = write("pmic_read_adc", 4096, &mut words).unwrap();
        assert_eq!((length, words[0], words[1], words[2], words[3]), (1031, 4124, 0, 0x30080, 4096));
        assert_eq!(words[6].to_le_bytes(), *b"pmic");
        assert_eq!(words[9].to_le_bytes(), *b"c\0\0\0");
        let length = write("x", 1024, &mut words).unwrap();
        assert_eq!((length, words[0]), (263, 1052));
        assert!(write(&"x".repeat(1024), 1024, &mut words).is_err());
    }

    #[test]
    fn a_reply_is_read_to_its_zero_and_faults_are_errors() {
        let mut words = [0; WORDS];
        let length = write("temp=39.5'C", 4096, &mut words).unwrap();
        words[1] = 0x8000_0000;
        let mut text = [0; 64];
        let got = read(&words[..length], 4096, &mut text).unwrap();
        assert_eq!(&text[..got], b"temp=39.5'C");
        assert!(read(&words[..length], 4096, &mut [0; 4]).is_err(), "too long for its room");
        assert!(read(&words[..3], 4096, &mut text).is_err());
        words[5] = 1;
        assert!(read(&words[..length], 4096, &mut text).is_err());
        (words[5], words[1]) = (0, 0x8000_0001);
        assert!(read(&words[..length], 4096, &mut text).is_err());
        words[1] = 0x8000_0000;
        words[6..1030].fill(0x6161_6161);
        assert!(read(&words[..length], 4096, &mut [0; 8192]).is_err(), "a text without an end was cut off");
    }
}
