//! What a scenario expects, and what holds at every moment of every scenario.

use crate::scene::{Course, MS, Scene};
use crate::{oracle, words};
use tablegate::table::event::{
    Body, Event, Mode, RoundHeldCause, RoundVoidedReason, TableLockedKind, TableLockedReason,
};
use tablegate::table::input::Cover;

impl Scene {
    /// Events so far are no longer of interest.
    pub fn forget(&mut self) {
        self.mark = self.events.len();
        self.readouts.clear();
    }

    fn fresh(&self) -> Vec<Vec<String>> {
        self.events[self.mark..]
            .iter()
            .map(|recorded| words::words(&recorded.event))
            .collect()
    }

    /// The words of the events since the last check, without asides and these.
    pub fn fresh_without(&self, names: &[&str]) -> Vec<Vec<String>> {
        let keep = |words: &Vec<String>| !words::is_aside(words) && !names.contains(&words[0].as_str());
        self.fresh().into_iter().filter(keep).collect()
    }

    /// The events since the last check are these, each given by its name and any of its other words; alerts and confirmations of a
    /// dark layout count only when they are named.
    #[track_caller]
    pub fn expect_events(&mut self, expected: &[&str]) {
        let asks = |name: &str| expected.iter().any(|line| line.split(' ').next() == Some(name));
        let got: Vec<Vec<String>> = self
            .fresh()
            .into_iter()
            .filter(|words| !words::is_aside(words) || asks(&words[0]))
            .collect();
        let fits = |line: &str, words: &[String]| {
            let mut wanted = line.split(' ');
            wanted.next() == Some(words[0].as_str()) && wanted.all(|word| words.iter().any(|w| w == word))
        };
        let same = got.len() == expected.len() && expected.iter().zip(&got).all(|(line, words)| fits(line, words));
        let got: Vec<String> = got.iter().map(|words| words.join(" ")).collect();
        assert!(
            same,
            "expected\n  {}\ngot\n  {}",
            expected.join("\n  "),
            got.join("\n  ")
        );
        self.forget();
    }

    /// The last so many events were one append.
    #[track_caller]
    pub fn expect_one_append(&self, last: usize) {
        let tail = &self.events[self.events.len() - last..];
        let names: Vec<String> = tail
            .iter()
            .map(|r| format!("{} {}", r.append, words::words(&r.event)[0]))
            .collect();
        assert!(
            tail.iter().all(|r| r.append == tail[0].append),
            "not one append: {names:?}"
        );
    }

    #[track_caller]
    pub fn expect_no_events(&mut self) {
        self.expect_events(&[]);
    }

    /// An alert was raised since the last check.
    #[track_caller]
    pub fn expect_alert(&self) {
        let got = self.fresh();
        assert!(
            got.iter().any(|words| words[0] == "AlertRaised"),
            "no alert among {got:?}"
        );
    }

    #[track_caller]
    pub fn expect_phase(&self, phase: &str) {
        assert_eq!(self.phase(), phase, "phase; {}", self.story());
    }

    #[track_caller]
    pub fn expect_held(&self, cause: RoundHeldCause) {
        assert_eq!(self.state().held(), cause, "held; {}", self.story());
    }

    #[track_caller]
    pub fn expect_not_held(&self) {
        self.expect_held(RoundHeldCause::Unspecified);
    }

    #[track_caller]
    pub fn expect_locks(&self, locks: &[(TableLockedReason, TableLockedKind)]) {
        assert_eq!(self.locks(), locks, "locks; {}", self.story());
    }

    /// What the terminal's readout says now.
    #[track_caller]
    pub fn expect_readout(&self, text: &str) {
        assert_eq!(
            self.terminal.reads(self.now),
            text,
            "readout {:?}; {}",
            self.terminal.readout,
            self.story()
        );
    }

    /// Exactly the areas of these faces are commanded.
    #[track_caller]
    pub fn expect_lit(&self, faces: [u8; 3]) {
        assert_eq!(
            self.lit(),
            oracle::lit_bits(faces),
            "lamps of {faces:?}; {}",
            self.story()
        );
    }

    #[track_caller]
    pub fn expect_dark(&self) {
        assert_eq!(self.lit(), Vec::<u16>::new(), "a dark layout; {}", self.story());
    }

    #[track_caller]
    pub fn expect_done(&self) {
        assert!(
            matches!(self.answer, Some(Ok(_))),
            "the act is done: {:?}; {}",
            self.answer,
            self.story()
        );
    }

    #[track_caller]
    pub fn expect_refused(&self) {
        assert!(
            matches!(self.answer, Some(Err(_))),
            "the act is refused: {:?}; {}",
            self.answer,
            self.story()
        );
    }

    /// The last events, for a failure's message.
    pub fn story(&self) -> String {
        let from = self.events.len().saturating_sub(14);
        let lines = self.events[from..].iter().map(|r| {
            let ms = r.event.uptime_us / MS;
            format!("  {ms:>8} {}", words::words(&r.event).join(" "))
        });
        format!(
            "now {} ms, the last events\n{}",
            self.uptime().as_micros() / MS,
            lines.collect::<Vec<_>>().join("\n")
        )
    }

    /// The newest event of a kind.
    #[track_caller]
    pub fn newest<T>(&self, pick: impl Fn(&Body) -> Option<T>) -> T {
        let found = self
            .events
            .iter()
            .rev()
            .find_map(|recorded| recorded.event.body.as_ref().and_then(&pick));
        found.unwrap_or_else(|| panic!("no such event; {}", self.story()))
    }

    /// How long the cover has been off, as people see it.
    pub fn watch_cover(&mut self) {
        match (self.tumbler.cover, self.off_since) {
            (Cover::Off, None) => self.off_since = Some(self.now),
            (Cover::Off, Some(_)) => {}
            (_, _) => {}
        }
        self.exposed |= self.off_since.is_some_and(|since| self.now - since >= 300 * MS);
        if self.tumbler.cover != Cover::Off {
            self.off_since = None;
        }
    }

    /// Looks at each event before it is applied.
    pub fn watch(&mut self, event: &Event) {
        match event.body.as_ref().unwrap() {
            Body::RoundStarted(_) => self.exposed = false,
            Body::BetsOpened(_) => self.unbroken = self.tumbler.link.up && self.terminal.link.up,
            Body::RoundVoided(voided) if voided.automatic && self.is_physical => {
                assert_eq!(
                    self.round_style(),
                    "A",
                    "only style A voids by itself; {}",
                    self.story()
                );
                let phase = self.phase();
                let exposed = self.unbroken && self.exposed && phase == "betting";
                // That the cover is on again may still be on its way.
                let off = self.off_since.is_some() || self.tumbler.link.latency_us > 0;
                let forgotten = voided.reason() == RoundVoidedReason::ANotActivated && off;
                assert!(
                    exposed || forgotten,
                    "the gateway voids on a signal it may have missed; {}",
                    self.story()
                );
            }
            _ => {}
        }
    }

    /// The style of the newest round.
    fn round_style(&self) -> String {
        self.newest(|body| match body {
            Body::RoundStarted(started) => Some(started.style.clone()),
            _ => None,
        })
    }

    pub fn check_always(&self) {
        let state = self.state();
        if state.mode() != Mode::Open {
            return;
        }
        let dark = matches!(state.phase.as_str(), "tumbling" | "betting" | "closed" | "landed");
        assert!(
            !dark || self.lit().is_empty(),
            "lamps before an entry; {}",
            self.story()
        );
        let told = state.lit.is_empty() == self.lit().is_empty();
        assert!(told, "what is told of the lamps; {}", self.story());
        let wish = self.table.indicators().tumbler;
        let after_bell = matches!(state.phase.as_str(), "closed" | "landed" | "entered");
        let (inhibited, allowed) = match self.course() {
            Course::Covered => (after_bell || state.phase == "betting", false),
            Course::Open => (!after_bell, after_bell),
            Course::Cup => (false, false),
        };
        assert_eq!(
            (wish.inhibit, wish.dice_allowed),
            (inhibited, allowed),
            "the tumbler's wish in {}; {}",
            state.phase,
            self.story()
        );
        assert_eq!(
            state.round_id != 0,
            !matches!(state.phase.as_str(), "" | "ready"),
            "round id in {state:?}"
        );
    }
}
