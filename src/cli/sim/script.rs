//! The lines that a simulated device obeys.

use crate::counted::counted;
use crate::sim::{
    CounterMemory, Faults, Garble, Hearing, Lamps, LampsView, LineView, Reader, Spun, StuckAt, Terminal, TerminalView,
    Traffic, Tumbler, TumblerView, Wear,
};
use crate::wire::message::{Contact, Cover, DeviceKind, Flatness, Key, Level, Seal, Sensing};
use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;
use tokio::sync::watch;

/// A simulated device of any kind.
pub(super) enum Puppet {
    Tumbler(Tumbler),
    Terminal(Terminal),
    Lamps(Lamps),
}

/// What came of a line.
pub(super) enum Line {
    Done,
    Help(String),
    Quit,
}

/// Tells when something changed.
pub(super) enum Changes {
    Tumbler(watch::Receiver<TumblerView>),
    Terminal(watch::Receiver<TerminalView>),
    Lamps(watch::Receiver<LampsView>),
}

impl Changes {
    /// False when the device has ended.
    pub(super) async fn changed(&mut self) -> bool {
        match self {
            Changes::Tumbler(view) => view.changed().await.is_ok(),
            Changes::Terminal(view) => view.changed().await.is_ok(),
            Changes::Lamps(view) => view.changed().await.is_ok(),
        }
    }
}

/// Runs an expression with the handle of any kind.
macro_rules! any {
    ($puppet:expr, $handle:ident => $body:expr) => {
        match $puppet {
            Puppet::Tumbler($handle) => $body,
            Puppet::Terminal($handle) => $body,
            Puppet::Lamps($handle) => $body,
        }
    };
}

const HELP_LINE: &str = "\
any device
  unplug | replug              pull the plug; put it back as another pty under the same path
  reboot                       power off and on
  lost|repeated|flipped|noise PERCENT   of the frames
  late MS                      everything it says comes this much later
  wrong-baud | echo | silent   garbage | a looped line | nothing is heard
  good                         the line is good again
  burst BYTES                  noise, once
  serial TEXT | firmware TEXT | pretend tumbler|terminal|lamps|lights|itself   from the next reboot on
  raise CODE TEXT | clear CODE a fault of its own
  wait MS | show | help | quit
";
const HELP_TERMINAL: &str = "\
terminal
  press KEY...                 1 to 6, no-spin, a key of two-up by name (heads, tails, odds, triple-heads, triple-tails,
                               new-spinner, spinner-stops, relieve, off-table, new-set, overrule), or a key's number
  enter | bell | no-spin       ENTER; the bell; the no-spin button
  key on|off | door open|closed
  lose KEY                     ENTER whose keys lack one
  dead KEY | bounce KEY | sound KEY   a key that never answers; that comes twice; that works
  stale COUNT SECONDS          keys that were pressed long ago
  flood COUNT                  reports as fast as the line goes
";
const HELP_TUMBLER: &str = "\
tumbler
  spin TIMES | cover on|off | dice F F F
  flat | not-flat | unsure     how the dice lie
  seal intact|broken|none | motor CODE (0: no fault)
  reader none|honest|open|cheating
  counters kept|lost           at the next reboot
";
const HELP_LAMPS: &str = "\
lamps
  dark BIT | lit BIT | mend BIT   stuck; healthy again
  admit BIT                    it knows that this lamp can't follow
  sense measured|as-commanded | settle MS
";

/// Does what a line says.
///
/// # Errors
/// One sentence: what isn't understood, and what would be.
pub(super) async fn obey(puppet: &Puppet, line: &str) -> Result<Line, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [] => {}
        ["quit"] => return Ok(Line::Quit),
        ["help"] => return Ok(Line::Help(help(puppet))),
        ["show"] => return Ok(Line::Help(format!("{}\n", puppet.show(false)))),
        ["wait", ms] => tokio::time::sleep(Duration::from_millis(number(ms)?)).await,
        ["unplug"] => any!(puppet, device => device.unplug().await),
        ["replug"] => any!(puppet, device => device.replug().await),
        ["reboot"] => any!(puppet, device => device.reboot().await),
        ["burst", bytes] => {
            let bytes = number(bytes)?;
            any!(puppet, device => device.noise(bytes).await);
        }
        ["serial", text] => any!(puppet, device => device.renumber(text).await),
        ["firmware", text] => any!(puppet, device => device.install(text).await),
        ["pretend", kind] => {
            let kind = pretended(kind)?;
            any!(puppet, device => device.pretend(kind).await);
        }
        ["raise", code, text @ ..] => {
            let (code, text) = (number(code)?, text.join(" "));
            any!(puppet, device => device.raise_fault(code, &text).await);
        }
        ["clear", code] => {
            let code = number(code)?;
            any!(puppet, device => device.clear_fault(code).await);
        }
        words => match faults(puppet.line().faults, words)? {
            Some(faults) => any!(puppet, device => device.set_faults(faults).await),
            None => own(puppet, words).await?,
        },
    }
    Ok(Line::Done)
}

async fn own(puppet: &Puppet, words: &[&str]) -> Result<(), String> {
    match puppet {
        Puppet::Terminal(terminal) => terminal_line(terminal, words).await,
        Puppet::Tumbler(tumbler) => tumbler_line(tumbler, words).await,
        Puppet::Lamps(lamps) => lamps_line(lamps, words).await,
    }
}

async fn terminal_line(terminal: &Terminal, words: &[&str]) -> Result<(), String> {
    match words {
        ["press", keys @ ..] => {
            let keys: Vec<u32> = keys.iter().map(|word| key(word)).collect::<Result<_, _>>()?;
            for key in keys {
                terminal.press(key).await;
            }
        }
        ["enter"] => terminal.enter().await,
        ["bell"] => terminal.ring().await,
        ["no-spin"] => terminal.push_no_spin().await,
        ["key", "on"] => terminal.turn(Contact::SupervisorKey, Level::Closed).await,
        ["key", "off"] => terminal.turn(Contact::SupervisorKey, Level::Open).await,
        ["door", "open"] => terminal.turn(Contact::CabinetDoor, Level::Open).await,
        ["door", "closed"] => terminal.turn(Contact::CabinetDoor, Level::Closed).await,
        ["dead", worn] => terminal.wear(key(worn)?, Wear::Dead).await,
        ["bounce", worn] => terminal.wear(key(worn)?, Wear::Bounces).await,
        ["sound", worn] => terminal.wear(key(worn)?, Wear::None).await,
        ["lose", lost] => terminal.enter_with_a_lost_key(key(lost)?).await,
        ["stale", count, seconds] => {
            let age = Duration::from_secs(number(seconds)?);
            terminal.stale_keys(number(count)?, age).await;
        }
        ["flood", count] => terminal.flood(number(count)?).await,
        _ => return Err(unknown()),
    }
    Ok(())
}

async fn tumbler_line(tumbler: &Tumbler, words: &[&str]) -> Result<(), String> {
    match words {
        ["spin", times] => match tumbler.spin(number(times)?).await {
            Spun::Started => {}
            Spun::Inhibited => return Err("the tumbler is inhibited".to_owned()),
        },
        ["cover", "on"] => tumbler.cover(Cover::On).await,
        ["cover", "off"] => tumbler.cover(Cover::Off).await,
        ["dice", one, two, three] => tumbler.load_dice([face(one)?, face(two)?, face(three)?]).await,
        ["flat"] => tumbler.flatness(Flatness::Flat).await,
        ["not-flat"] => tumbler.flatness(Flatness::NotFlat).await,
        ["unsure"] => tumbler.flatness(Flatness::Unspecified).await,
        ["seal", "intact"] => tumbler.seal(Seal::Intact).await,
        ["seal", "broken"] => tumbler.seal(Seal::Broken).await,
        ["seal", "none"] => tumbler.seal(Seal::Unspecified).await,
        ["motor", code] => tumbler.motor_fault(number(code)?).await,
        ["reader", "none"] => tumbler.reader(Reader::None).await,
        ["reader", "honest"] => tumbler.reader(Reader::Honest).await,
        ["reader", "open"] => tumbler.reader(Reader::Open).await,
        ["reader", "cheating"] => tumbler.reader(Reader::Cheating).await,
        ["counters", "kept"] => tumbler.remember_counters(CounterMemory::Kept).await,
        ["counters", "lost"] => tumbler.remember_counters(CounterMemory::Lost).await,
        _ => return Err(unknown()),
    }
    Ok(())
}

async fn lamps_line(lamps: &Lamps, words: &[&str]) -> Result<(), String> {
    match words {
        ["dark", lamp] => lamps.stick(number(lamp)?, StuckAt::Dark).await,
        ["lit", lamp] => lamps.stick(number(lamp)?, StuckAt::Lit).await,
        ["mend", lamp] => lamps.stick(number(lamp)?, StuckAt::Healthy).await,
        ["admit", lamp] => lamps.admit_failed(number(lamp)?).await,
        ["sense", "measured"] => lamps.sense(Sensing::Measured).await,
        ["sense", "as-commanded"] => lamps.sense(Sensing::AsCommanded).await,
        ["settle", ms] => lamps.settle_within(Duration::from_millis(number(ms)?)).await,
        _ => return Err(unknown()),
    }
    Ok(())
}

/// The line's faults after these words; `None` when they aren't about them.
fn faults(now: Faults, words: &[&str]) -> Result<Option<Faults>, String> {
    let mut faults = now;
    match words {
        ["lost", share] => faults.lost = percent(share)?,
        ["repeated", share] => faults.repeated = percent(share)?,
        ["flipped", share] => faults.flipped = percent(share)?,
        ["noise", share] => faults.noise = percent(share)?,
        ["late", ms] => faults.late = Duration::from_millis(number(ms)?),
        ["wrong-baud"] => faults.garble = Garble::WrongBaud,
        ["echo"] => faults.garble = Garble::Echo,
        ["silent"] => faults.garble = Garble::Silent,
        ["good"] => faults = Faults::default(),
        _ => return Ok(None),
    }
    Ok(Some(faults))
}

fn number<N: FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("\"{word}\" should be a number"))
}

fn percent(word: &str) -> Result<u8, String> {
    let share = number(word)?;
    if share > 100 {
        return Err(format!("\"{word}\" should be 0 to 100"));
    }
    Ok(share)
}

fn face(word: &str) -> Result<u8, String> {
    match number(word)? {
        face @ 1..=6 => Ok(face),
        _ => Err(format!("\"{word}\" should be a face, 1 to 6")),
    }
}

/// Keys by the names that stand on them.
const KEYS: [(&str, Key); 12] = [
    ("heads", Key::Heads),
    ("tails", Key::Tails),
    ("odds", Key::Odds),
    ("triple-heads", Key::TripleHeads),
    ("triple-tails", Key::TripleTails),
    ("no-spin", Key::NoSpin),
    ("new-spinner", Key::NewSpinner),
    ("spinner-stops", Key::SpinnerStops),
    ("relieve", Key::Relieve),
    ("off-table", Key::OffTable),
    ("new-set", Key::NewSet),
    ("overrule", Key::Overrule),
];

fn key(word: &str) -> Result<u32, String> {
    let named = KEYS.iter().find(|(name, _)| *name == word);
    let number = match named {
        Some((_, key)) => u32::try_from(i32::from(*key)).ok(),
        None => word.parse().ok(),
    };
    number.ok_or_else(|| {
        let names: Vec<_> = KEYS.iter().map(|(name, _)| *name).collect();
        format!(
            "\"{word}\" should be 1 to 6, a key's number, or one of: {}",
            names.join(", ")
        )
    })
}

fn pretended(word: &str) -> Result<Option<DeviceKind>, String> {
    match word {
        "itself" => Ok(None),
        "tumbler" => Ok(Some(DeviceKind::Tumbler)),
        "terminal" => Ok(Some(DeviceKind::Terminal)),
        "lamps" => Ok(Some(DeviceKind::LayoutLamps)),
        "lights" => Ok(Some(DeviceKind::ResultLights)),
        other => Err(format!(
            "\"{other}\" should be tumbler, terminal, lamps, lights or itself"
        )),
    }
}

fn unknown() -> String {
    "not understood; \"help\" lists the lines that this device obeys".to_owned()
}

fn help(puppet: &Puppet) -> String {
    let own = match puppet {
        Puppet::Terminal(_) => HELP_TERMINAL,
        Puppet::Tumbler(_) => HELP_TUMBLER,
        Puppet::Lamps(_) => HELP_LAMPS,
    };
    format!("{own}{HELP_LINE}")
}

impl Puppet {
    pub(super) fn changes(&self) -> Changes {
        match self {
            Puppet::Tumbler(device) => Changes::Tumbler(device.watch()),
            Puppet::Terminal(device) => Changes::Terminal(device.watch()),
            Puppet::Lamps(device) => Changes::Lamps(device.watch()),
        }
    }

    fn line(&self) -> LineView {
        any!(self, device => device.view().line)
    }

    /// What it shows, on one line. Frame counts are left out: they change all the time.
    pub(super) fn show(&self, json: bool) -> String {
        match self {
            Puppet::Tumbler(device) => {
                let mut view = device.view();
                view.line.traffic = Traffic::default();
                if json { as_json(&view) } else { tumbler_text(&view) }
            }
            Puppet::Terminal(device) => {
                let mut view = device.view();
                view.line.traffic = Traffic::default();
                if json { as_json(&view) } else { terminal_text(&view) }
            }
            Puppet::Lamps(device) => {
                let mut view = device.view();
                view.line.traffic = Traffic::default();
                if json { as_json(&view) } else { lamps_text(&view) }
            }
        }
    }
}

fn as_json(view: &impl serde::Serialize) -> String {
    serde_json::to_string(view).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

fn link_text(line: &LineView) -> &'static str {
    match (line.plugged, line.hearing) {
        (false, _) => "unplugged",
        (true, Hearing::NoSession) => "no session",
        (true, Hearing::Session) => "in session",
    }
}

fn tumbler_text(view: &TumblerView) -> String {
    let cover = if view.covered { "cover on" } else { "cover off" };
    let motion = if view.spinning { "spinning" } else { "at rest" };
    let inhibit = if view.inhibited { ", inhibited" } else { "" };
    let [one, two, three] = view.faces;
    format!(
        "tumbler [{}] {motion}, {cover}{inhibit}, {}, dice {one} {two} {three}",
        link_text(&view.line),
        counted(view.spins, "spin")
    )
}

fn terminal_text(view: &TerminalView) -> String {
    let blink = if view.blink { " blinking" } else { "" };
    let locked = if view.locked { ", takes no keys" } else { "" };
    let closed = if view.closed.is_empty() {
        String::new()
    } else {
        format!(", closed: {}", view.closed.join(" "))
    };
    format!(
        "terminal [{}] \"{}\"{blink}, entry {}{locked}{closed}",
        link_text(&view.line),
        view.readout,
        view.entry
    )
}

fn lamps_text(view: &LampsView) -> String {
    let blink = if view.blink { " blinking" } else { "" };
    let list = |bits: &BTreeSet<u32>| bits.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let lit = if view.lit.is_empty() {
        "dark".to_owned()
    } else {
        format!("lit{blink}: {}", list(&view.lit))
    };
    let differs = if view.lit == view.commanded {
        String::new()
    } else {
        format!(" (commanded: {})", list(&view.commanded))
    };
    format!("lamps [{}] {lit}{differs}", link_text(&view.line))
}
