//! An event in a few words, for expectations that a person can read: its name first, then what matters of it.

use tablegate::table::event::*;

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn short(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_string()
}

fn flags(pairs: &[(bool, &str)]) -> Vec<String> {
    pairs
        .iter()
        .filter(|(on, _)| *on)
        .map(|(_, word)| (*word).to_string())
        .collect()
}

fn ids(areas: &[Area]) -> String {
    let mut ids: Vec<&str> = areas.iter().map(|area| area.id.as_str()).collect();
    ids.sort_unstable();
    if ids.is_empty() {
        "nothing".into()
    } else {
        ids.join(",")
    }
}

/// The words of an event.
pub fn words(event: &Event) -> Vec<String> {
    let body = event.body.as_ref().expect("every event has a body");
    let debug = format!("{body:?}");
    let mut words = vec![debug.split('(').next().unwrap().to_string()];
    words.extend(details(body));
    if let Some(device) = &event.device {
        words.push(short(device.kind().as_str_name(), "DEVICE_KIND_"));
    }
    if let Some(actor) = &event.actor {
        let kind = short(actor.kind().as_str_name(), "ACTOR_KIND_").to_lowercase();
        words.push(format!("by:{kind}"));
        words.extend(flags(&[(actor.by_key, "by:key")]));
    }
    words.push(format!("round:{}", event.round_id));
    words
}

fn details(body: &Body) -> Vec<String> {
    match body {
        Body::DeviceOffline(b) => vec![short(b.reason().as_str_name(), "DEVICE_OFFLINE_REASON_")],
        Body::DeviceFaulted(b) => vec![format!("code:{}", b.code)],
        Body::DeviceFaultCleared(b) => vec![format!("code:{}", b.code)],
        Body::StaleKeysIgnored(b) => vec![format!("x{}", b.count)],
        Body::OpeningCheckRecorded(b) => {
            let mut words = vec![
                short(b.check().as_str_name(), "OPENING_CHECK_"),
                if b.passed { "passed" } else { "failed" }.into(),
                if b.vouched { "vouched" } else { "seen" }.into(),
            ];
            if !b.shown.is_empty() {
                let keys: Vec<_> = b.shown.iter().map(u32::to_string).collect();
                words.push(format!("entry:{}", keys.join(",")));
            }
            words
        }
        Body::TestRecorded(b) => {
            let mut words = vec![
                short(b.kind().as_str_name(), "TEST_KIND_"),
                if b.passed { "passed" } else { "not_passed" }.into(),
                format!("tried:{}/{}", b.tried, b.parts),
            ];
            words.extend(flags(&[(b.interrupted, "interrupted"), (b.watched, "watched")]));
            words.extend(b.findings.iter().map(|found| {
                let fault = short(found.fault().as_str_name(), "TEST_FAULT_");
                let number = found.number.map(|number| format!("/{number}")).unwrap_or_default();
                format!("{fault}:{}{number}", found.part)
            }));
            words
        }
        Body::TableLocked(b) => vec![
            short(b.reason().as_str_name(), "TABLE_LOCKED_REASON_"),
            short(b.kind().as_str_name(), "TABLE_LOCKED_KIND_"),
        ],
        Body::TableUnlocked(b) => vec![
            short(b.reason().as_str_name(), "TABLE_LOCKED_REASON_"),
            short(b.kind().as_str_name(), "TABLE_LOCKED_KIND_"),
            format!("procedure:{}", b.procedure.replace(' ', "_")),
        ],
        Body::AlertRaised(b) => vec![b.alert.clone()],
        Body::AlertAcknowledged(b) => vec![b.alert.clone()],
        Body::AlertCleared(b) => vec![b.alert.clone()],
        Body::RoundStarted(b) => {
            let mut words = vec![b.game.clone(), b.style.clone(), b.layout.clone()];
            words.extend(flags(&[(b.while_away, "away")]));
            words
        }
        Body::TumblerSpun(b) => {
            let mut words = vec![b.spins.to_string()];
            words.extend(flags(&[(b.while_away, "away")]));
            words
        }
        Body::BetsClosed(b) => flags(&[(b.implied, "implied"), (!b.implied, "heard"), (b.while_away, "away")]),
        Body::DiceUncovered(b) => {
            let mut words = flags(&[
                (b.implied, "implied"),
                (!b.implied, "seen"),
                (b.while_away, "away"),
                (b.at_rest, "at_rest"),
            ]);
            words.push(format!("read:{}", list(&b.read_faces)));
            words
        }
        Body::ResultEntered(b) => {
            let mut words = vec![
                format!("pressed:{}", list(&b.pressed)),
                list(&b.faces),
                format!("total:{}", b.total),
                format!("call:{}", b.call.replace(' ', "_")),
                short(b.source().as_str_name(), "RESULT_SOURCE_"),
                ids(&b.areas),
            ];
            words.extend(flags(&[(b.confirmed, "confirmed")]));
            words
        }
        Body::ActRefused(b) => vec![
            b.act.clone(),
            short(b.reason().as_str_name(), "ACT_REFUSED_REASON_"),
            format!("x{}", b.count),
        ],
        Body::EntryRejected(b) => vec![format!("E{:02}", b.code), list(&b.shown), format!("x{}", b.count)],
        Body::LayoutLit(b) => vec![ids(&b.areas)],
        Body::LampFailed(b) => vec![
            b.area.clone().unwrap_or_default().id,
            if b.wrongly_lit { "wrongly_lit" } else { "dark" }.into(),
            format!("x{}", b.count),
        ],
        Body::LampRestored(b) => vec![b.area.clone().unwrap_or_default().id],
        Body::ResultAmended(b) => vec![
            format!("{}->{}", list(&b.from_faces), list(&b.faces)),
            format!("pressed:{}", list(&b.pressed)),
            short(b.source().as_str_name(), "RESULT_SOURCE_"),
            ids(&b.areas),
        ],
        Body::RoundHeld(b) => vec![short(b.cause().as_str_name(), "ROUND_HELD_CAUSE_")],
        Body::RoundResumed(b) => vec![short(b.cause().as_str_name(), "ROUND_HELD_CAUSE_")],
        Body::RoundVoided(b) => {
            let mut words = vec![short(b.reason().as_str_name(), "ROUND_VOIDED_REASON_")];
            words.extend(flags(&[
                (b.automatic, "automatic"),
                (!b.automatic, "chosen"),
                (b.by_policy, "by_policy"),
            ]));
            words
        }
        Body::VoidReasonStated(b) => vec![short(b.reason().as_str_name(), "ROUND_VOIDED_REASON_")],
        Body::VoidWithdrawn(b) => flags(&[(b.automatic, "automatic"), (!b.automatic, "chosen")]),
        Body::RoundSettled(b) => flags(&[
            (b.implied, "implied"),
            (!b.implied, "stated"),
            (b.provisional, "provisional"),
            (!b.provisional, "final"),
        ]),
        Body::ThrowerOffered(b) => vec![format!("seat:{}", b.seat)],
        Body::IncidentRecorded(b) => vec![b.cause.replace(' ', "_")],
        _ => Vec::new(),
    }
}

/// Events that expectations leave out unless they ask for them: alerts accompany much, and a dark layout is confirmed often.
pub fn is_aside(words: &[String]) -> bool {
    match words[0].as_str() {
        "AlertRaised" | "AlertCleared" | "AlertAcknowledged" | "ActRefused" => true,
        "LayoutLit" => words[1] == "nothing",
        _ => false,
    }
}
