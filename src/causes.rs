//! An error with its causes, for a person: what an error says itself never repeats what is beneath it.

use std::error::Error;

/// `error: cause: cause of the cause`.
pub(crate) fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text.push_str(": ");
        text.push_str(&deeper.to_string());
        cause = deeper.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Layer>>);

    #[test]
    fn every_cause_is_told_and_none_twice() {
        let disk = Layer("no space", None);
        let append = Layer("append", Some(Box::new(disk)));
        assert_eq!(told(&append), "append: no space");
        assert_eq!(told(&Layer("alone", None)), "alone");
    }
}
