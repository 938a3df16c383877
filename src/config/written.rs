//! What the file may say: the first of the two types, filled from defaults, file and environment in that order.
//!
//! Names and types were checked before, value by value with the place of each; this type holds the house to the same table.

use super::keys::{Absent, KEYS, Presence, Section, section};
use super::layers::{Layer, Layers};
use super::value::{Value, from_default};
use ::config::{ConfigError, Map, Source, ValueKind};
use serde::Deserialize;

/// The whole file.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    pub table: Table,
    pub tai_sai: TaiSai,
    pub sic_bo: SicBo,
    pub two_up_dice: TwoUpDice,
    pub triple_penny: TriplePenny,
    pub devices: Devices,
    pub mqtt: Mqtt,
    pub journal: Journal,
    pub display: Option<Display>,
    pub metrics: Option<Metrics>,
    pub control: Control,
    pub clock: Clock,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Table {
    pub site: Option<String>,
    pub id: Option<String>,
    pub game: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaiSai {
    pub style: Option<String>,
    pub layout: Option<String>,
    pub lamp_map: Option<String>,
    pub rest_ms: u64,
    pub settle_after_ms: u64,
    pub cover_settles_after_ms: u64,
    pub no_spin_after_uncover: String,
    pub display_fault_locks: bool,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SicBo {
    pub tumbler: Option<String>,
    pub paytable: Option<String>,
    pub lamp_map: Option<String>,
    pub rest_ms: u64,
    pub settle_after_ms: u64,
    pub cover_settles_after_ms: u64,
    pub no_spin_after_uncover: String,
    pub policy: Policy,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    pub void: bool,
    pub lamps: bool,
    pub amend: bool,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TwoUpDice {
    pub first_three: String,
    pub mis_keyed: String,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TriplePenny {
    pub display: String,
    pub mis_keyed: String,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Devices {
    pub tumbler: Device,
    pub terminal: Device,
    pub lamps: Device,
    pub lights: Device,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Device {
    pub port: Option<String>,
    pub baud: u32,
    pub protocol: String,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mqtt {
    pub brokers: Option<Vec<String>>,
    pub allow_plaintext: bool,
    pub prefix: String,
    pub response_prefixes: Vec<String>,
    pub client_id: Option<String>,
    pub ca: Option<String>,
    pub certificate: Option<String>,
    pub key: Option<String>,
    pub username: Option<String>,
    pub password_file: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Journal {
    pub directory: Option<String>,
    pub retention_days: u64,
    pub min_free_mb: u64,
    pub signing_key: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Display {
    pub listen: Option<String>,
    pub results: usize,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    pub listen: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Control {
    pub socket: Option<String>,
    pub supervisor_socket: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clock {
    pub source: String,
}

/// One layer, as the `config` crate takes it.
#[derive(Clone, Debug)]
struct Typed(Map<String, ::config::Value>);

impl Typed {
    fn of<'a>(values: impl Iterator<Item = (&'static str, &'a Value, String)>) -> Typed {
        let typed = |(path, value, origin): (&str, &Value, String)| {
            (path.to_owned(), ::config::Value::new(Some(&origin), kind(value)))
        };
        Typed(values.map(typed).collect())
    }

    fn of_layer(layer: &Layer) -> Typed {
        Typed::of(
            layer
                .iter()
                .map(|(path, (value, origin))| (*path, value, origin.to_string())),
        )
    }
}

fn kind(value: &Value) -> ValueKind {
    match value {
        Value::Text(text) => ValueKind::String(text.clone()),
        Value::Flag(flag) => ValueKind::Boolean(*flag),
        Value::Whole(number) => ValueKind::I64(*number),
        Value::Texts(texts) => ValueKind::Array(
            texts
                .iter()
                .map(|text| ::config::Value::new(None, ValueKind::String(text.clone())))
                .collect(),
        ),
    }
}

impl Source for Typed {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, ::config::Value>, ConfigError> {
        Ok(self.0.clone())
    }
}

/// Defaults of every section that is there; of an optional section, and of one that the game doesn't have, only when it is written.
#[must_use]
pub fn defaults(layers: &Layers) -> Vec<(&'static str, Value)> {
    let plays = layers.plays();
    let always = |section: &Section| {
        section
            .presence_among(&plays)
            .is_some_and(|presence| presence != Presence::Optional)
    };
    let there = |path: &str| layers.has_section(path) || section(path).is_some_and(always);
    KEYS.iter()
        .filter(|key| there(key.section()) && key.is_of_some(&plays))
        .filter_map(|key| match key.absent {
            Absent::Default(text) => Some((key.path, from_default(key, text)?)),
            Absent::Refused(_) | Absent::Follows(_) | Absent::None(_) | Absent::Usual(_) => None,
        })
        .collect()
}

/// Puts the layers over one another.
///
/// # Errors
/// Never for layers that were checked: then this type and the table of keys differ.
pub fn overlay(layers: &Layers) -> Result<Written, ConfigError> {
    let defaults = defaults(layers);
    let of_defaults = defaults
        .iter()
        .map(|(path, value)| (*path, value, "default".to_owned()));
    ::config::Config::builder()
        .add_source(Typed::of(of_defaults))
        .add_source(Typed::of_layer(&layers.file))
        .add_source(Typed::of_layer(&layers.environment))
        .build()?
        .try_deserialize()
}
