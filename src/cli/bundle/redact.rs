//! What leaves the house with a bundle, and what doesn't: people are numbered, what they wrote is left out, secrets are blotted out.
//!
//! There are two nets. What is known by its place (an actor, a note, a user name of the broker) is taken out there; and whatever was taken
//! out is then looked for in every text of the bundle, because logs and sentences repeat what people said.

use crate::counted::counted;
use crate::table::event::{Body, Event, TableLockedReason};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Accounts that are no people.
const NOBODY: [&str; 5] = ["root", "tablegate", "nobody", "daemon", ""];

/// Shorter than this, a text that a person wrote is too common to be looked for elsewhere ("ok"); it is left out of its own place all the same.
const LOOKED_FOR: usize = 4;

/// In the place of a secret.
pub const BLOTTED: &str = "(left out: a secret)";

/// Lines of a secret's file shorter than this are looked for as whole words only.
const SHORT_SECRET: usize = 4;

/// Takes people and secrets out of texts.
#[derive(Default)]
pub struct Redactor {
    people: BTreeMap<String, String>,
    /// What people wrote.
    written: BTreeSet<String>,
    secrets: BTreeSet<String>,
}

impl Redactor {
    /// Somebody of this name is known.
    pub fn person(&mut self, name: &str) {
        let name = name.trim();
        if NOBODY.contains(&name) || self.people.contains_key(name) {
            return;
        }
        let number = self.people.len() + 1;
        self.people.insert(name.to_owned(), format!("person-{number}"));
    }

    /// A person wrote this.
    pub fn written(&mut self, text: &str) {
        if text.chars().count() >= LOOKED_FOR {
            self.written.insert(text.to_owned());
        }
    }

    /// Nobody outside may know this: a password, or the lines of a key's file.
    pub fn secret(&mut self, text: &str) {
        for line in text.lines().map(str::trim) {
            // The first and last line of a PEM file are in every one.
            if !line.is_empty() && !line.starts_with("-----") {
                self.secrets.insert(line.to_owned());
                // As messages and files of settings write it in quotes.
                self.secrets.insert(line.escape_debug().to_string());
            }
        }
    }

    /// How many people were numbered.
    pub fn people(&self) -> usize {
        self.people.len()
    }

    /// Takes from an event who did it, and what people wrote.
    pub fn learn(&mut self, event: &Event) {
        for who in event.actor.iter() {
            for name in [&who.name, &who.login, &who.person_id] {
                self.person(name);
            }
        }
        if let Some(Body::GatewayStarted(started)) = &event.body {
            self.person(&started.approved_by);
        }
        let mut event = event.clone();
        if let Some(text) = written_in(&mut event) {
            self.written(text);
        }
    }

    /// An event without what people wrote in it, for words.
    pub fn cleaned(event: &Event) -> Event {
        let mut event = event.clone();
        if let Some(text) = written_in(&mut event).filter(|text| !text.is_empty()) {
            *text = left_out(text);
        }
        event
    }

    /// An event as JSON without what people wrote in it; whatever else it says is cleaned as any text.
    pub fn event(&self, event: &Event, mut json: Value) -> Value {
        let is_a_persons = event.actor.as_ref().is_some_and(|actor| !actor.name.is_empty());
        let made_here = matches!(&event.body, Some(Body::IncidentRecorded(_)));
        if let Some(body) = json.get_mut("body").and_then(Value::as_object_mut) {
            for (key, value) in body.iter_mut() {
                let may_be_written = match key.as_str() {
                    "procedure" | "note" | "login" | "name" => true,
                    "text" => is_a_persons && !made_here || matches!(&event.body, Some(Body::ActRefused(_))),
                    "reason" => matches!(&event.body, Some(Body::ResultEntered(_))),
                    _ => false,
                };
                if let (true, Some(text)) = (may_be_written, value.as_str())
                    && !text.is_empty()
                {
                    *value = left_out(text).into();
                }
            }
        }
        self.value(json)
    }

    /// Every text in a value, cleaned.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.value(value)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(key, value)| (key, self.value(value)))
                .collect(),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
        }
    }

    /// A text without people's names, what they wrote, and secrets.
    pub fn text(&self, text: &str) -> String {
        let mut text = without_logins(text);
        // Longer ones first: one may be part of another.
        let mut secrets: Vec<&String> = self.secrets.iter().collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in &secrets {
            text = if secret.len() < SHORT_SECRET {
                replace_words(&text, secret, BLOTTED)
            } else {
                without_beginnings(&text.replace(secret.as_str(), BLOTTED), secret)
            };
        }
        // Longer ones first: one may be part of another.
        let mut written: Vec<&String> = self.written.iter().collect();
        written.sort_by_key(|text| std::cmp::Reverse(text.len()));
        for wrote in written {
            text = text.replace(wrote.as_str(), &left_out(wrote));
        }
        let mut people: Vec<_> = self.people.iter().collect();
        people.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for (name, number) in people {
            text = replace_words(&text, name, number);
        }
        text
    }
}

/// What a person wrote into an event; the texts of all others are made by this program. Whoever adds an event says here which it is.
fn written_in(event: &mut Event) -> Option<&mut String> {
    match event.body.as_mut()? {
        Body::TableUnlocked(unlocked) => Some(&mut unlocked.procedure),
        Body::TableLocked(locked) if locked.reason() == TableLockedReason::Supervisor => Some(&mut locked.text),
        Body::OpeningCheckRecorded(check) if check.vouched => Some(&mut check.text),
        Body::IncidentRecorded(incident) => Some(&mut incident.note),
        Body::ResultEntered(result) => Some(&mut result.reason),
        Body::ActRefused(refused) => Some(&mut refused.text),
        Body::GatewayStarted(_)
        | Body::GatewayStopped(_)
        | Body::JournalStarted(_)
        | Body::CheckpointRecorded(_)
        | Body::EventsExpired(_)
        | Body::JournalFailed(_)
        | Body::EventSetAside(_)
        | Body::ClockStepped(_)
        | Body::SelfTestFailed(_)
        | Body::SoftwareVerified(_)
        | Body::DeviceOnline(_)
        | Body::DeviceOffline(_)
        | Body::DeviceFaulted(_)
        | Body::DeviceFaultCleared(_)
        | Body::StaleKeysIgnored(_)
        | Body::DeviceAccepted(_)
        | Body::OpeningCheckRecorded(_)
        | Body::TableOpened(_)
        | Body::TableClosed(_)
        | Body::TableLocked(_)
        | Body::TestModeEntered(_)
        | Body::TestModeLeft(_)
        | Body::AlertRaised(_)
        | Body::AlertAcknowledged(_)
        | Body::AlertCleared(_)
        | Body::OpeningStarted(_)
        | Body::OpeningAbandoned(_)
        | Body::TumblerStarted(_)
        | Body::TestRecorded(_)
        | Body::TestStarted(_)
        | Body::RoundStarted(_)
        | Body::TumblerSpun(_)
        | Body::BetsOpened(_)
        | Body::BetsClosed(_)
        | Body::DiceUncovered(_)
        | Body::EntryRejected(_)
        | Body::LayoutLit(_)
        | Body::LampFailed(_)
        | Body::LampRestored(_)
        | Body::ResultAmended(_)
        | Body::RoundHeld(_)
        | Body::RoundResumed(_)
        | Body::RoundVoided(_)
        | Body::VoidReasonStated(_)
        | Body::VoidWithdrawn(_)
        | Body::RoundAbandoned(_)
        | Body::RoundSettled(_)
        | Body::RoundReopened(_)
        | Body::ThrowerOffered(_)
        | Body::SpinnerSelected(_)
        | Body::SpinnerWagerPlaced(_)
        | Body::SpinResulted(_)
        | Body::SpinInvalidated(_)
        | Body::InvalidSpinOverruled(_)
        | Body::SpinCorrected(_)
        | Body::PlayersWagersDecided(_)
        | Body::SpinnerWagerDecided(_)
        | Body::SpinnerChanged(_)
        | Body::ResultCardRequired(_)
        | Body::DieOffTable(_)
        | Body::DiceReplaced(_) => None,
    }
}

fn left_out(text: &str) -> String {
    format!(
        "(left out: {} that a person wrote)",
        counted(text.chars().count(), "character")
    )
}

/// Names and passwords in addresses: `mqtts://user:password@broker`.
fn without_logins(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '/' | ',' | ']' | '>'))
            .unwrap_or(after.len());
        // A password may hold an @ or a slash: the last @ of the word decides.
        let word = after
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ','))
            .unwrap_or(after.len());
        let login = after.get(..word).and_then(|word| word.rfind('@'));
        rest = match login {
            Some(login) => {
                clean.push_str(BLOTTED);
                after.get(login..).unwrap_or_default()
            }
            None => {
                clean.push_str(after.get(..end).unwrap_or_default());
                after.get(end..).unwrap_or_default()
            }
        };
    }
    clean.push_str(rest);
    clean
}

/// What messages cut ends with this.
const CUT: &str = "...";

/// Takes out the beginning of a secret where a long text was cut in the middle of it.
fn without_beginnings(text: &str, secret: &str) -> String {
    let pieces: Vec<&str> = text.split(CUT).collect();
    let last = pieces.len().saturating_sub(1);
    let clean = pieces.iter().enumerate().map(|(number, piece)| {
        let beginnings = secret
            .char_indices()
            .map(|(at, _)| secret.get(..at).unwrap_or_default());
        let beginning = beginnings
            .rev()
            .take_while(|beginning| beginning.len() >= SHORT_SECRET)
            .find_map(|beginning| piece.trim_end().strip_suffix(beginning));
        match beginning {
            Some(before) if number < last => format!("{before}{BLOTTED}"),
            Some(_) | None => (*piece).to_owned(),
        }
    });
    clean.collect::<Vec<_>>().join(CUT)
}

/// Replaces a word where no letter or digit stands beside it.
fn replace_words(text: &str, word: &str, with: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, found) = rest.split_at(at);
        let after = found.get(word.len()..).unwrap_or_default();
        let beside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_word =
            !beside(before.chars().next_back().or(clean.chars().next_back())) && !beside(after.chars().next());
        clean.push_str(before);
        clean.push_str(if is_word { with } else { word });
        rest = after;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let mut redactor = Redactor::default();
        for name in ["ana", "bo.li", "ana"] {
            redactor.person(name);
        }
        redactor.written("Mr Smith spilled his drink");
        redactor.secret("-----BEGIN KEY-----\nMC4CAQAw\n-----END KEY-----\n");
        redactor.secret("hunter2\n");
        redactor.secret("hunt");
        redactor.secret("quo\"ted");
        redactor
    }

    #[test]
    fn people_are_numbered_and_secrets_blotted_out_wherever_they_stand() {
        let redactor = redactor();
        for (text, clean) in [
            ("by ana, then bo.li (ana)", "by person-1, then person-2 (person-1)"),
            ("banana and anatomy stay", "banana and anatomy stay"),
            ("\"ana\"", "\"person-1\""),
            (
                "key MC4CAQAw password xhunter2x",
                "key (left out: a secret) password x(left out: a secret)x",
            ),
            (
                "note: Mr Smith spilled his drink",
                "note: (left out: 26 characters that a person wrote)",
            ),
            (
                "mqtts://u:p@a.example:8883 up",
                "mqtts://(left out: a secret)@a.example:8883 up",
            ),
            (
                "mqtts://u:p/@q@a.example \"x\"",
                "mqtts://(left out: a secret)@a.example \"x\"",
            ),
            ("is \"MC4CA...\", MC4CA", "is \"(left out: a secret)...\", MC4CA"),
            (
                "hunter22 \"quo\\\"ted\" hun...",
                "(left out: a secret)2 \"(left out: a secret)\" hun...",
            ),
            ("see https://a.example/x and b@c", "see https://a.example/x and b@c"),
            ("-----BEGIN KEY-----", "-----BEGIN KEY-----"),
        ] {
            assert_eq!(redactor.text(text), clean);
        }
        assert_eq!(redactor.people(), 2);
    }
}
