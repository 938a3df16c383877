//! The questions of an opening: what a person is asked at the terminal, and what they say.

use super::Opening;
use crate::cli::ending::{Failure, print};
use crate::control::Act;
use std::io::BufRead;

/// What a person says to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Said {
    Yes,
    No,
    /// Do it for me.
    Light,
}

impl Opening {
    /// Asks until the answer is yes or no; `q` abandons the opening.
    pub(super) async fn ask(&mut self, question: &str) -> Result<Said, Failure> {
        loop {
            match self.ask_or_light(question).await? {
                said @ (Said::Yes | Said::No) => return Ok(said),
                Said::Light => {}
            }
        }
    }

    /// Asks until the answer is yes, no, or that the areas be lit from here; `q` abandons the opening.
    pub(super) async fn ask_or_light(&mut self, question: &str) -> Result<Said, Failure> {
        loop {
            match self.line(&format!("{question} [y/n/q]")).await?.as_str() {
                "y" | "yes" => return Ok(Said::Yes),
                "n" | "no" => return Ok(Said::No),
                "l" => return Ok(Said::Light),
                _ => {}
            }
        }
    }

    /// Asks for a line; `q`, or the end of the terminal, abandons the opening.
    pub(super) async fn line(&mut self, question: &str) -> Result<String, Failure> {
        match self.typed(question)?.as_deref() {
            None | Some("q" | "quit") => Err(self.abandon().await?),
            Some(line) => Ok(line.to_owned()),
        }
    }

    /// Asks for a line; `None`: the terminal has ended.
    pub(super) fn typed(&self, question: &str) -> Result<Option<String>, Failure> {
        print(&format!("{question} "))?;
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_owned()))
    }

    async fn abandon(&mut self) -> Result<Failure, Failure> {
        self.act(Act::AbandonOpening {}).await?;
        Ok(Failure::failed("the opening was abandoned; the table stays closed"))
    }
}
