//! The table's game results display: a web page on the table's PC, readable across the table. Imports the gateway's view and
//! nothing behind it; it shows a [`Picture`] and whatever isn't in one can't be shown.
//!
//! The page is drawn here, whole, and sent by server-sent events; the browser only puts it in place. It works without any other
//! host, and without scripts it reloads itself. A display that is wrong binds nobody (NZ Div 9 r7.5), but people bet by it:
//! when the connection is lost, or stops being heard, the page says so across its whole width.

mod moment;
mod page;
mod picture;
mod server;

pub use picture::{GameEnd, Lights, Moment, Picture, Round, Shown, Spun};
pub use server::{DisplayConfig, ServeError, serve};
