//! What devices should show, derived from the table's state and nothing else. PURE.

/// The whole wish to every device, compared with what was last sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Indicators {
    /// The layout's lamps.
    pub lamps: LampPicture,
    /// The terminal's readout.
    pub readout: Readout,
    /// The tumbler.
    pub tumbler: TumblerWish,
}

/// A whole picture of lamps. Bit n is byte n/8, bit n%8; trailing zero bytes are left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LampPicture {
    /// The lit ones.
    pub lit: Vec<u8>,
    /// They blink.
    pub blink: bool,
}

/// The terminal's readout and the entry that may be typed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Readout {
    /// Up to 3 of `0-9 A-Z -` and space; empty shows the keys.
    pub text: String,
    /// It blinks.
    pub blink: bool,
    /// The entry that may be typed now; 0 until the terminal was greeted (then nothing is sent).
    pub entry: u32,
    /// 0: until the next one; `u32::MAX`: no limit, until a key is taken.
    pub for_ms: u32,
    /// Counts the readouts wanted: a new value means "send it again, even when the rest is equal".
    pub serial: u64,
}

/// What the tumbler should obey.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TumblerWish {
    /// Refuse to spin.
    pub inhibit: bool,
    /// A reader may report (open tumbler).
    pub dice_allowed: bool,
}

/// A command that can't be repeated; it leaves after its fact is journalled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceCommand {
    /// Spin the dice this often (opening checks and Test only).
    Spin {
        /// How often.
        times: u32,
    },
}
