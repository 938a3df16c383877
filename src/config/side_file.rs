//! A file of TOML beside the configuration, or the configuration itself: where its lines are, and what makes it no TOML.

use super::problem::{Origin, Problem};
use std::path::Path;
use toml::Spanned;
use toml::de::DeTable;

/// A file as it was read.
#[derive(Clone, Copy)]
pub(super) struct SideFile<'a> {
    pub(super) text: &'a str,
    pub(super) path: &'a Path,
}

impl<'a> SideFile<'a> {
    /// Where in it; `None` for the file as a whole.
    pub(super) fn origin(&self, offset: Option<usize>) -> Origin {
        Origin::File {
            path: self.path.to_owned(),
            line: offset.map(|offset| line_of(self.text, offset)),
        }
    }

    /// What stands in it. Where it is no TOML goes to `problems`, with how such a file is written, and then there is nothing: a file that is
    /// broken somewhere may be misread anywhere.
    pub(super) fn table(&self, written: &str, problems: &mut Vec<Problem>) -> Option<Spanned<DeTable<'a>>> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        problems.extend(errors.iter().map(|error| Problem {
            key: None,
            ..Problem::error(
                self.origin(error.span().map(|span| span.start)),
                "",
                format!("is no TOML here: {}", error.message()),
                written,
            )
        }));
        errors.is_empty().then_some(table)
    }
}

/// The line of this byte, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}
