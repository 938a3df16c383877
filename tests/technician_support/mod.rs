//! The blocks of docs/technician.md, and what a command printed in the shape of one.
//!
//! A block stands under a comment with its name; its first line is the command:
//!
//! ````text
//! <!-- dead-lamp -->
//! ```console
//! $ tablegate status
//! ...
//! FAILED: area small, lamp 0, stays dark
//! ```
//! ````
//!
//! `...` stands for lines that were left out. What differs from run to run is replaced by an example, by the rules of [`Masks`].

#![allow(dead_code, reason = "each test file uses its part of it")]

use regex::Regex;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

/// The page.
pub const PAGE: &str = "docs/technician.md";

/// With this variable set, what was printed is written into the page instead of being compared with it.
pub const REWRITE: &str = "TABLEGATE_REWRITE_PAGE";

/// Tests run at once, and there is one page.
static WRITING: Mutex<()> = Mutex::new(());

/// What the page shows instead of what differs from run to run: times, process numbers, sizes, rates, ports of TCP.
static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?Z", "2026-11-30 18:03:12.345Z"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "2026-11-30T18:03:12Z"),
        // A screen.
        (r"\b\d\d:\d\d:\d\d UTC", "18:03:12 UTC"),
        (r"(?m)\b\d+:\d\d$", "0:07"),
        (r"\bup \d+\.\d ms", "up 0.9 ms"),
        (r"\bjournal event \d+", "journal event 214"),
        (r"\bin \d+:\d\d:", "in 0:05:"),
        (r"\(pid \d+\)", "(pid 612)"),
        (r"\b(process|pid) \d+", "$1 612"),
        (r"\bfor \d+ (d|h|min|s)( \d+ (h|min|s))?\b", "for 2 min"),
        (r"\b\d+ MB free", "51200 MB free"),
        (r"\bONLY \d+ MB FREE", "ONLY 12 MB FREE"),
        (
            r"answers in [\d.]+ ms \(99 of 100 in [\d.]+ ms\)",
            "answers in 0.9 ms (99 of 100 in 1.4 ms)",
        ),
        (
            r"half within [\d.]+ ms, 99 of 100 within [\d.]+ ms",
            "half within 0.9 ms, 99 of 100 within 1.4 ms",
        ),
        (r"\bboot [0-9a-f]{8}", "boot 5c1e90ab"),
        (r"frames      \d+ in, \d+ out", "frames      1203 in, 1188 out"),
        (
            r"opened (once|twice|\d+ times), up (once|twice|\d+ times)",
            "opened once, up once",
        ),
        (r"journal: event \d+", "journal: event 214"),
        (r"\b\d+ acknowledged, backlog", "214 acknowledged, backlog"),
        (r"backlog [1-9]\d*,", "backlog 17,"),
        (r"mqtt://127\.0\.0\.1:\d+", "mqtts://floor-a.example:8883"),
        (r"mqtts://localhost:\d+", "mqtts://floor-a.example:8883"),
        (
            r"\b[0-9a-f]{64}\b",
            "115b5de3428a528af36770c6a5263cdbe37d78ff532f95334add52ce0faa9146",
        ),
        (
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            "8f0a0d1e-1d44-4c8e-9a54-3f0cf9a2b7d6",
        ),
        (r"\btablegate \d+\.\d+\.\d+", "tablegate 0.1.0"),
        (
            r"\d+ damaged frames? and \d+ repeats? in the last minute(, lost [a-z0-9 ]+ in ten minutes)?",
            "41 damaged frames and 9 repeats in the last minute",
        ),
        (r"\b\d+ damaged frames?$", "58 damaged frames"),
        (
            r"CRC [1-9]\d*, repeats \d+ in, \d+ out(, noise \d+)?(, resets \d+)?",
            "CRC 52, repeats 3 in, 6 out, noise 6",
        ),
        (r"\b\d+ bytes: wrong baud", "548 bytes: wrong baud"),
        (r"; \d+ bytes came", "; 548 bytes came"),
        (
            r"expired on \d{4}-\d\d-\d\d \d\d:\d\d UTC",
            "expired on 2026-11-29 18:00 UTC",
        ),
        (
            r"valid to \d{4}-\d\d-\d\d \d\d:\d\d UTC",
            "valid to 2026-11-29 18:00 UTC",
        ),
        (r"\b\d+ frames, \d+ bytes", "938 frames, 13278 bytes"),
        (r"#\d+ ", "#875 "),
        (r"\bDATA \d+:", "DATA 13:"),
        (r"\(entry number \d+\)", "(entry number 5)"),
        // Which of the two threw out the other is chance.
        (
            r"uses this table's name: .*",
            "uses this table's name: another client connects to mqtts://floor-a.example:8883 as harbour-TS-07",
        ),
        (r"supervisor ana by root", "supervisor ana"),
        (r"pproved by \w+([:,])", "pproved by ana$1"),
    ]
    .into_iter()
    .map(|(pattern, example)| (Regex::new(pattern).unwrap(), example))
    .collect()
});

/// What the page shows instead of this run's paths and names.
#[derive(Default)]
pub struct Masks(Vec<(String, String)>);

impl Masks {
    /// Those of a table whose devices, configuration, journal and sockets lie in `root`.
    pub fn of(root: &Path) -> Masks {
        let mut masks = Masks::default();
        for (name, stable, device) in [
            ("tumbler", "usb-TumblerCo_DT-3_0042-if00", "/dev/ttyUSB0"),
            ("terminal", "usb-KeysCo_ET-1_0007-if00", "/dev/ttyUSB1"),
            ("lamps", "usb-LampsCo_LB-3_0311-if00", "/dev/ttyUSB2"),
        ] {
            let link = root.join(name);
            if let Ok(leads_to) = std::fs::read_link(&link) {
                masks.also(&leads_to.display().to_string(), device);
            }
            masks.also(&link.display().to_string(), &format!("/dev/serial/by-id/{stable}"));
        }
        for (name, shown) in [
            ("table.toml", "/etc/tablegate/TS-07.toml"),
            ("table.approved", "/etc/tablegate/TS-07.approved"),
            ("journal", "/var/lib/tablegate/TS-07"),
            ("t.sock", "/run/tablegate/TS-07.sock"),
            ("t.supervisor.sock", "/run/tablegate/TS-07.supervisor.sock"),
        ] {
            masks.also(&root.join(name).display().to_string(), shown);
        }
        masks
    }

    /// `shown` for `real`.
    pub fn also(&mut self, real: &str, shown: &str) {
        self.0.push((real.to_owned(), shown.to_owned()));
        // A path within another one is replaced first.
        self.0.sort_by_key(|(real, _)| std::cmp::Reverse(real.len()));
    }

    fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (real, shown) in &self.0 {
            text = text.replace(real, shown);
        }
        for (rule, shown) in RULES.iter() {
            text = rule.replace_all(&text, *shown).into_owned();
        }
        text
    }
}

/// What of a command's output the page shows.
pub enum Take<'a> {
    /// Everything.
    All,
    /// Lines that contain one of these; `...` for what lies between.
    Lines(&'a [&'a str]),
    /// The first lines.
    First(usize),
}

impl Take<'_> {
    fn of(&self, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let taken = |place: usize, line: &str| match self {
            Take::All => true,
            // The last fault repeats what a device's first lines say.
            Take::Lines(words) => {
                !line.trim_start().starts_with("last fault") && words.iter().any(|word| line.contains(word))
            }
            Take::First(most) => place < *most,
        };
        let mut shown: Vec<&str> = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            if taken(place, line) {
                shown.push(line);
            } else if shown.last() != Some(&"...") {
                shown.push("...");
            }
        }
        shown.join("\n")
    }
}

/// The block of this name in the page has this command and what it printed; or is made so, where that is asked for.
#[track_caller]
pub fn shown(name: &str, command: &str, printed: &str, take: &Take<'_>, masks: &Masks) {
    if let Take::Lines(words) = take {
        for word in *words {
            assert!(
                printed.contains(word),
                "{name}: {word:?} isn't in what was printed:\n{printed}"
            );
        }
    }
    // How full the disk of this PC is, is none of the page's matter.
    let of_this_pc = |line: &&str| line.starts_with("alert disk_filling");
    let printed: Vec<&str> = printed
        .lines()
        .map(str::trim_end)
        .filter(|line| !of_this_pc(line))
        .collect();
    let text = format!(
        "$ {command}\n{}\n",
        take.of(&masks.apply(&printed.join("\n"))).trim_end()
    );
    let _one_at_a_time = WRITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let page = std::fs::read_to_string(PAGE).unwrap();
    let place = place_of(&page, name).unwrap_or_else(|| panic!("{PAGE} has no block {name}; it would be:\n{text}"));
    let there = &page[place.clone()];
    if there == text {
        return;
    }
    if std::env::var_os(REWRITE).is_some() {
        let mut page = page.clone();
        page.replace_range(place, &text);
        std::fs::write(PAGE, page).unwrap();
        return;
    }
    panic!(
        "{PAGE} shows in the block {name}:\n{there}\nbut the product prints:\n{text}\n\
         if that is right: {REWRITE}=1 cargo test --test technician_doc -- --include-ignored"
    );
}

/// Where the text of a block stands.
fn place_of(page: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let head = format!("<!-- {name} -->\n```console\n");
    let from = page.find(&head)? + head.len();
    let to = from + page[from..].find("```\n")?;
    Some(from..to)
}

/// The names of all blocks of the page, in order; every block has one.
pub fn names() -> Vec<String> {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let lines: Vec<&str> = page.lines().collect();
    let mut names = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if *line != "```console" {
            continue;
        }
        let before = number
            .checked_sub(1)
            .and_then(|before| lines.get(before))
            .unwrap_or(&"");
        let name = before.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        let name = name.unwrap_or_else(|| panic!("{PAGE}:{}: a block without a name", number + 1));
        names.push(name.to_owned());
    }
    names
}

/// A round's times, which differ from run to run, as one example.
pub fn same_times(printed: &str) -> String {
    let time = Regex::new(r"\b\d+(\.\d+)? m?s\b").unwrap();
    time.replace_all(printed, "912 ms").into_owned()
}

/// A report's figures, which differ from run to run, as one example each.
pub fn same_numbers(printed: &str) -> String {
    let mut same = printed.to_owned();
    for (rule, example) in [
        (r"\b\d{4}-\d\d-\d\d\b", "2026-11-30"),
        (r"\d\d:\d\d(:\d\d)?", "18:03"),
        (r"\b\d+\.\d+\b", "0.9"),
        (r"events 1 to \d+", "events 1 to 44"),
        (r"\d+ of \d+ events", "2 of 44 events"),
        (r"(table open +)\d+ s", "${1}2 s"),
    ] {
        same = Regex::new(rule).unwrap().replace_all(&same, example).into_owned();
    }
    same
}

/// What an archive holds, without its sizes, which differ from run to run.
pub fn same_sizes(printed: &str) -> String {
    let size = Regex::new(r" *\b\d+ (bytes|KiB)\b").unwrap();
    size.replace_all(printed, " 12 KiB").into_owned()
}
