//! The local API: JSON lines over two Unix sockets. Which socket a person may open says what that person may do: the files'
//! mode (0660) and group are the rights, and the daemon looks up no groups. Knows no rule of the table.

pub mod client;
pub mod hex;
mod message;
mod offers;
mod peer;
mod server;
mod socket;

pub use message::{
    Act, ActError, Answer, Check, DiceGone, INVALID_REASONS, LIGHTS, LightWord, MAX_TEXT, Offer, OutcomeName, Preview,
    Refused, Request, SetFrom, SideName, TestedDevice, VOID_REASONS,
};
pub use peer::{NameError, name_of};
pub use server::{Control, serve};
pub use socket::{BindError, ControlConfig};

/// A request or an answer at most, line ends not counted. A view of a table with three devices is about 4 KiB.
pub const MAX_MESSAGE: usize = 64 * 1024;

/// Connections of both sockets together at most: a dozen people at one table is already a crowd.
pub const MAX_CONNECTIONS: usize = 16;
