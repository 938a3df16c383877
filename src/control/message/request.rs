//! What a client asks.

use super::act::Act;
use super::wording::complaint;
use crate::gateway::{LineOf, Since};
use serde::{Deserialize, Serialize};

/// What a client asks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Everything there is to see, once.
    Look {},
    /// The same at every change, until the connection ends.
    Watch {},
    /// An act of a person.
    Act {
        /// What.
        act: Act,
        /// In whose name root acts; refused from anyone else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// What goes over the devices' lines, until the connection ends.
    WatchLines {
        /// Only these ("tumbler", "terminal", "lamps", "lights"); empty: all.
        #[serde(default)]
        devices: Vec<LineOf>,
        /// From when on.
        since: Since,
    },
    /// Which acts the table would do for this person now, and why not the others. Nothing is done, and nothing recorded.
    Offers {
        /// In whose name root asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// What exactly an act would do. Nothing is done, and nothing recorded.
    Preview {
        /// What.
        act: Act,
        /// In whose name root asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Digests of everything that runs; takes up to a minute.
    VerifySoftware {
        /// What goes before each thing that is digested, in hexadecimal digits.
        seed: String,
        /// In whose name root asks; refused from anyone else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it, for whoever wrote it.
    pub fn read(line: &str) -> Result<Request, String> {
        serde_json::from_str(line).map_err(|_| complaint(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_and_fields_are_refused() {
        for line in [
            r#"{"act":{"act":{"lokc":{"reason":"x"}}}}"#,
            r#"{"act":{"act":{"close":{"now":true}}}}"#,
            r#"{"look":{},"watch":{}}"#,
            r#"{"act":{"act":{"amend":{"faces":[1,2]}}}}"#,
            r#"{"act":{"act":{"spin":{"outcome":"edge"}}}}"#,
            r#"{"act":{"act":{"spinner":{"side":"odds"}}}}"#,
            r#"{"act":{"act":{"off_table":{"dice":"four"}}}}"#,
            "17",
        ] {
            assert!(serde_json::from_str::<Request>(line).is_err(), "{line}");
        }
    }
}
