//! A report as a page for people, 80 columns wide.

use super::figures::Counted;
use super::told::{Device, Section, Shift, Told, asked};
use crate::counted::often;
use crate::table::rejection::CODES;

/// No line is wider.
const WIDTH: usize = 80;

/// The page.
pub(super) fn page(told: &Told) -> String {
    let mut page = Page::default();
    let game = match told.game.as_str() {
        "" => String::new(),
        game => format!(", {game}"),
    };
    page.line(&format!("Table {} at {}{game}", told.table, told.site));
    page.line(&format!(
        "{}, {}; events {} to {}",
        asked(told),
        told.zone,
        told.oldest_event,
        told.newest_event
    ));
    for note in &told.notes {
        page.wrapped("! ", note);
    }
    if !told.shifts_begin.is_empty() {
        page.shifts(&told.shifts);
    }
    page.section(&told.all);
    page.devices(&told.devices);
    for shift in &told.shifts {
        page.line("");
        page.line(&format!("SHIFT {} to {}", shift.from.exact, shift.to.exact));
        page.section(&shift.figures);
    }
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Words in lines of at most [`WIDTH`], the later ones indented as the first one's beginning is wide.
    fn wrapped(&mut self, beginning: &str, words: &str) {
        let indent = " ".repeat(beginning.chars().count());
        let mut line = beginning.to_owned();
        for word in words.split(' ') {
            let fits = line.chars().count() + word.chars().count() <= WIDTH;
            if !fits && line.trim() != "" && line != beginning {
                self.line(&line);
                line.clone_from(&indent);
            }
            line.push_str(word);
            line.push(' ');
        }
        self.line(&line);
    }

    /// A shift a line: what a manager compares.
    fn shifts(&mut self, shifts: &[Shift]) {
        self.line("");
        self.line("shift from            open h   rounds  an hour   void %   amended %   refused %");
        for shift in shifts {
            let of = &shift.figures;
            let set = if of.clock_steps > 0 { "*" } else { "" };
            let line = format!(
                "{:17}{set:1} {:>9.2} {:>8} {:>8} {:>8} {:>11} {:>11}",
                shift.from.minute,
                of.open_seconds / 3600.0,
                of.rounds,
                tenths(of.rounds_per_open_hour),
                tenths(of.voids_per_hundred_rounds),
                tenths(of.amendments_per_hundred_rounds),
                tenths(of.refused_per_hundred_entries),
            );
            self.line(&line);
        }
        self.wrapped(
            "  ",
            "A round counts in the shift in which it began. Void and amended are in a hundred rounds, refused in a hundred entries. \
             * the clock was set.",
        );
    }

    fn section(&mut self, of: &Section) {
        self.line("");
        self.line("Rounds");
        let open = duration(of.open_seconds);
        self.row("table open", &open, "other time doesn't count");
        let an_hour = format!("{} an hour open", tenths(of.rounds_per_open_hour));
        self.row("rounds", &of.rounds.to_string(), &an_hour);
        for (end, count) in of.rounds_by_end.iter().filter(|(end, _)| *end != "void") {
            let apart = match end.as_str() {
                "abandoned" | "returned" => "bets went back, no round",
                "running" => "no end yet, no round",
                "settled" | "spinner_won" | "spinner_lost" | "decided" => "",
                _ => "another end",
            };
            self.row(&format!("  {}", words(end)), &count.to_string(), apart);
        }
        self.rate("void", of.voids, of.voids_per_hundred_rounds, "rounds");
        self.parts(&of.voids_by_reason, of.rounds, "rounds");
        self.some("voids withdrawn", of.voids_withdrawn, "not among the voids");
        self.rate("amended", of.amendments, of.amendments_per_hundred_rounds, "rounds");
        self.parts(&of.amendments_by_source, of.rounds, "rounds");
        self.some("taken back", of.taken_back, "results and settlements");
        self.some("held", of.holds, "for a supervisor");
        self.parts(&of.holds_by_cause, of.rounds, "rounds");
        if of.invalid_spins > 0 {
            self.rate(
                "invalid spins",
                of.invalid_spins,
                of.invalid_spins_per_hundred_rounds,
                "rounds",
            );
            self.parts(&of.invalid_spins_by_reason, of.rounds, "rounds");
        }
        self.some("lamps failed", of.lamps_failed, "");
        self.some("gateway started", of.starts, "");
        self.phases(of);
        self.entries(of);
    }

    fn phases(&mut self, of: &Section) {
        self.line("");
        if of.phases.is_empty() {
            self.line("Times: none was measured");
            return;
        }
        self.line("Times in seconds      measured        p50        p90        p99       most");
        for (_, lengths) in &of.phases {
            let line = format!(
                "  {:20}{:>8} {:>10} {:>10} {:>10} {:>10}",
                lengths.title,
                lengths.measured,
                seconds(lengths.p50_ms),
                seconds(lengths.p90_ms),
                seconds(lengths.p99_ms),
                seconds(lengths.most_ms)
            );
            self.line(&line);
        }
    }

    fn entries(&mut self, of: &Section) {
        self.line("");
        self.line("Entries");
        self.row("accepted", &of.entries.to_string(), "");
        self.rate("refused", of.entries_refused, of.refused_per_hundred_entries, "entries");
        for (code, count) in &of.entries_refused_by_code {
            let what = meaning(code);
            let line = format!("    {code:18}{count:>8}  {what}");
            self.line(&line.chars().take(WIDTH).collect::<String>());
        }
        self.some("stale keys", of.stale_keys, "came too late to count");
        self.some("acts refused", of.acts_refused, "by command");
    }

    fn devices(&mut self, devices: &[Device]) {
        if devices.is_empty() {
            return;
        }
        self.line("");
        self.line("Devices (the figures follow the device, whatever table it stood at)");
        for device in devices {
            let mut told = vec![format!("came up {}", often(device.came_up))];
            if device.went_away > 0 {
                let reasons: Vec<String> = device
                    .went_away_by_reason
                    .iter()
                    .map(|(reason, count)| format!("{} {count}", words(reason)))
                    .collect();
                told.push(format!(
                    "went away {} ({}) for {} in all",
                    often(device.went_away),
                    reasons.join(", "),
                    duration(device.away_seconds)
                ));
            }
            for (count, what) in [
                (device.faults, "faults"),
                (device.entries, "entries"),
                (device.entries_refused, "refused"),
                (device.stale_keys, "stale keys"),
                (device.lamps_failed, "lamps failed"),
            ] {
                if count > 0 {
                    told.push(format!("{what} {count}"));
                }
            }
            let name = format!("  {} {}", device.kind, device.serial_number);
            self.wrapped(&format!("{name:26}"), &told.join(", "));
        }
    }

    fn row(&mut self, what: &str, count: &str, also: &str) {
        self.line(&format!("  {what:20}{count:>8}  {also}"));
    }

    fn rate(&mut self, what: &str, count: u64, rate: Option<f64>, of: &str) {
        let rate = match rate {
            Some(rate) => format!("{rate:.1} in a hundred {of}"),
            None => String::new(),
        };
        self.row(what, &count.to_string(), &rate);
    }

    /// Only where there was any.
    fn some(&mut self, what: &str, count: u64, also: &str) {
        if count > 0 {
            self.row(what, &count.to_string(), also);
        }
    }

    fn parts(&mut self, counted: &Counted, all: u64, of: &str) {
        for (name, count) in counted {
            #[expect(clippy::cast_precision_loss, reason = "nobody plays 2^52 rounds")]
            let rate = (all > 0).then(|| *count as f64 * 100.0 / all as f64);
            self.rate(&format!("  {name}"), *count, rate, of);
        }
    }
}

/// What a refusal's code means, up to what to do: `tablegate rules why` says it whole.
fn meaning(code: &str) -> &'static str {
    let known = CODES.iter().find(|known| known.readout == code);
    known.map_or("", |known| {
        known.text.split(['.', ':', ';']).next().unwrap_or(known.text)
    })
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn tenths(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

fn seconds(ms: u32) -> String {
    format!("{:.2}", f64::from(ms) / 1000.0)
}

/// "7.93 h", "12.5 min", "40 s".
fn duration(seconds: f64) -> String {
    if seconds >= 3600.0 {
        format!("{:.2} h", seconds / 3600.0)
    } else if seconds >= 60.0 {
        format!("{:.1} min", seconds / 60.0)
    } else {
        format!("{seconds:.0} s")
    }
}
