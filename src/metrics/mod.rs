//! What Prometheus scrapes: the gateway's numbers as text over HTTP. Looks at latest values when it is asked, keeps nothing of its own,
//! and never holds up the table.

mod exposition;
mod families;
mod server;

pub use families::{FAMILIES, Family, FamilyKind};
pub use server::{MetricsConfig, ServeError, serve};
