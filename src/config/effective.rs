//! What holds in the end, and where each value came from: for a person, and in canonical form for a digest.

use super::convert;
use super::keys::{Absent, KEYS};
use super::lamp_map;
use super::layers::Layers;
use super::mqtt;
use super::problem::Origin;
use super::value::Value;
use super::written::{Written, defaults};
use crate::rules::{sic_bo, tai_sai};
use crate::table::{GameConfig, SicBoConfig};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// One value that holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Entry {
    /// "tai_sai.rest_ms".
    pub key: String,
    /// As TOML. Of a secret it is the name of its file.
    pub value: String,
    /// Where it came from.
    pub from: Origin,
}

/// All values that hold, section by section.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Effective {
    /// The values of keys.
    pub entries: Vec<Entry>,
    /// What files say that the configuration names: canonical lines, since a file may change under its name.
    #[serde(skip)]
    named: Vec<String>,
}

impl Effective {
    /// What holds by these layers.
    pub(super) fn of(layers: &Layers, written: &Written, instance: &str) -> Effective {
        let defaults = defaults(layers);
        let mut entries = Vec::new();
        for key in KEYS {
            let default = || {
                let found = defaults.iter().find(|(path, _)| *path == key.path);
                found.map(|(_, value)| value.clone())
            };
            let found = match (layers.written(key.path), key.absent) {
                (Some((value, origin)), _) => Some((value.clone(), origin.clone())),
                (None, Absent::Default(_)) => default().map(|value| (value, Origin::Default)),
                (None, Absent::Follows(_)) => follows(key.path, written, instance).map(|v| (v, Origin::Default)),
                (None, Absent::Refused(_) | Absent::None(_) | Absent::Usual(_)) => None,
            };
            if let Some((value, from)) = found {
                entries.push(Entry {
                    key: key.path.to_owned(),
                    value: value.to_string(),
                    from,
                });
            }
        }
        Effective {
            entries,
            named: Vec::new(),
        }
    }

    /// Takes in what the game's files say: lamp map and table of odds.
    pub(super) fn set_game(&mut self, config: &GameConfig) {
        let (section, areas) = match config {
            GameConfig::TaiSai(config) => ("tai_sai", tai_sai::areas(config.layout)),
            GameConfig::SicBo(_) => ("sic_bo", sic_bo::areas()),
            GameConfig::TwoUpDice(_) | GameConfig::TriplePenny(_) => return,
        };
        let lamps = areas.iter().zip(lamp_map::of(config));
        self.named = lamps
            .map(|(area, bits)| format!("{section}.lamp_map.{area} = {bits:?}"))
            .collect();
        if let GameConfig::SicBo(SicBoConfig {
            paytable: Some(paytable),
            ..
        }) = config
        {
            let text = paytable.text();
            // The first line names the game.
            let odds = text.lines().skip(1).filter_map(|line| line.split_once(' '));
            self.named
                .extend(odds.map(|(area, odds)| format!("sic_bo.paytable.{area} = {odds}")));
        }
    }

    /// The effective configuration in canonical form, UTF-8: a line a value, sorted by key, defaults and what named files say included, and
    /// nothing of where a value came from. Two configurations that act alike have the same text.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut lines: Vec<String> = self
            .entries
            .iter()
            .map(|entry| format!("{} = {}", entry.key, entry.value))
            .collect();
        lines.extend(self.named.iter().cloned());
        lines.sort();
        let mut text = "tablegate configuration 1\n".to_owned();
        for line in lines {
            // Writing to a String can't fail.
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// SHA-256 of the canonical form.
    #[must_use]
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.canonical()).into()
    }
}

fn follows(path: &str, written: &Written, instance: &str) -> Option<Value> {
    let text = match path {
        "mqtt.client_id" => mqtt::client_id(written.table.site.as_deref()?, written.table.id.as_deref()?),
        "control.socket" => convert::socket(instance).to_string_lossy().into_owned(),
        "control.supervisor_socket" => convert::supervisor_socket(instance).to_string_lossy().into_owned(),
        _ => return None,
    };
    Some(Value::Text(text))
}
