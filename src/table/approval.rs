//! What is approved for this table, as it was found at the start. PURE.
//!
//! A digest that differs freezes the table; a device that isn't approved holds the next round back. Without an approval nothing is held.

use crate::table::input::{DeviceIdentity, DeviceKind};

/// What is approved, and how this run compares with it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Approval {
    /// Nobody has approved anything: nothing is held back for want of it.
    #[default]
    NotEnforced,
    /// Somebody has.
    Enforced {
        /// The devices that may be played with.
        devices: Vec<ApprovedDevice>,
        /// What of program, configuration and rules is not what was approved, in one sentence of at most 120 bytes; `None`: nothing.
        differs: Option<String>,
    },
}

/// A device that is approved, with the firmware that it is approved with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ApprovedDevice {
    /// What it is.
    pub kind: DeviceKind,
    /// Its serial number.
    pub serial_number: String,
    /// The version that it says of its firmware.
    pub firmware: String,
    /// What it says of its firmware's image; `None`: it said nothing when it was approved, and may say what it likes.
    pub firmware_sha256: Option<Vec<u8>>,
}

impl Approval {
    /// There is an approval, and it counts.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        match self {
            Approval::NotEnforced => false,
            Approval::Enforced { .. } => true,
        }
    }

    /// What of program, configuration and rules is not what was approved.
    #[must_use]
    pub fn differs(&self) -> Option<&str> {
        match self {
            Approval::NotEnforced => None,
            Approval::Enforced { differs, .. } => differs.as_deref(),
        }
    }

    /// The device may be played with, by this approval.
    #[must_use]
    pub fn approves(&self, device: &DeviceIdentity) -> bool {
        match self {
            Approval::NotEnforced => true,
            Approval::Enforced { devices, .. } => devices.iter().any(|approved| approved.is(device)),
        }
    }

    /// The device's serial number is approved, with whatever firmware.
    #[must_use]
    pub fn knows_serial(&self, device: &DeviceIdentity) -> bool {
        match self {
            Approval::NotEnforced => true,
            Approval::Enforced { devices, .. } => devices
                .iter()
                .any(|approved| approved.kind == device.kind && approved.serial_number == device.serial_number),
        }
    }
}

impl ApprovedDevice {
    /// It is this device, with this firmware.
    fn is(&self, device: &DeviceIdentity) -> bool {
        let image = self.firmware_sha256.as_deref();
        self.kind == device.kind
            && self.serial_number == device.serial_number
            && self.firmware == device.firmware
            && image.is_none_or(|image| image == device.firmware_digest)
    }
}
