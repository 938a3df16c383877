//! The one conversion from what was written to what the program may rely on. It goes on after a problem, to report all of them.

use super::keys::{self, Play};
use super::lamp_map::{self, LampMap};
use super::layers::Layers;
use super::paytable;
use super::ports;
use super::problem::{Origin, Problem};
use super::signing_key::{self, Named};
use super::value::shown;
use super::written::{Device, Written};
use super::{Config, FileReader};
use crate::control::ControlConfig;
use crate::device::{PortConfig, TumblerBuild};
use crate::display::DisplayConfig;
use crate::gateway::{ApprovalFile, ClockSource, GatewayConfig};
use crate::journal::JournalConfig;
use crate::metrics::MetricsConfig;
use crate::rules::sic_bo::Paytable;
use crate::rules::sic_bo::machine::Tumbler;
use crate::rules::tai_sai::{Layout, Style};
use crate::rules::triple_penny::Display as ShownBy;
use crate::rules::two_up_dice::machine::FirstThree;
use crate::table::input::DeviceKind;
use crate::table::{
    Approval, GameConfig, HousePolicy, MisKeyed, SicBoConfig, TableConfig, TaiSaiConfig, TriplePennyConfig,
    TwoUpDiceConfig,
};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest site, table and instance name: they stand in topics, file names and the greeting of a device.
const NAME_MAX: usize = 32;

/// Longest path of a Unix socket (`sun_path` without its closing zero).
const SOCKET_PATH_MAX: usize = 107;

/// Values that other parts are made of, as far as they are known.
pub(super) struct Known {
    pub site: Option<String>,
    pub table: Option<String>,
}

/// Works through `written` and reports what is wrong to `problems`.
pub(super) struct Converter<'a> {
    pub instance: &'a str,
    pub file: &'a Path,
    pub layers: &'a Layers,
    pub files: &'a dyn FileReader,
    pub problems: &'a mut Vec<Problem>,
}

impl Converter<'_> {
    /// The configuration without its digest, and the lamp map in use; `None` when something is missing or wrong.
    pub(super) fn convert(&mut self, written: &Written) -> Option<Config> {
        self.check_instance(written);
        let known = Known {
            site: self.name("table.site", written.table.site.as_deref()),
            table: self.name("table.id", written.table.id.as_deref()),
        };
        let game = self.game(written);
        let ports = self.ports(written, game.as_ref(), known.table.as_deref());
        let uplink = self.uplink(written, &known);
        let journal = self.journal(written);
        let display = written.display.as_ref().map(|display| self.display(display));
        let metrics = written.metrics.as_ref().map(|metrics| self.metrics(metrics));
        let control = self.control(written);
        let clock = clock(&written.clock.source);
        let game = game?;
        let journal = journal?;
        Some(Config {
            instance: self.instance.to_owned(),
            gateway: GatewayConfig {
                site: known.site?,
                table: known.table?,
                game: TableConfig {
                    game,
                    approval: Approval::NotEnforced,
                },
                clock,
                config_sha256: [0; 32],
                config_text: String::new(),
                approval: ApprovalFile::default(),
                signer: None,
            },
            ports: ports?,
            uplink: uplink?,
            journal,
            signing_key: written.journal.signing_key.as_ref().map(|path| Named {
                path: PathBuf::from(path),
                origin: self.origin(signing_key::KEY),
            }),
            display: match display {
                Some(display) => Some(display?),
                None => None,
            },
            metrics: match metrics {
                Some(metrics) => Some(metrics?),
                None => None,
            },
            control: control?,
        })
    }

    /// Where the value of `key` is written; the file as a whole when it isn't.
    fn origin(&self, key: &str) -> Origin {
        match self.layers.written(key) {
            Some((_, origin)) => origin.clone(),
            None => Origin::File {
                path: self.file.to_owned(),
                line: None,
            },
        }
    }

    pub(super) fn error(&mut self, key: &str, wrong: impl Into<String>, right: impl Into<String>) {
        let origin = self.origin(key);
        self.problems.push(Problem::error(origin, key, wrong, right));
    }

    /// `key` is needed because of another; unless it is there and was refused already.
    pub(super) fn missing(&mut self, key: &str, because: &str, right: impl Into<String>) {
        if !self.layers.is_wrong(key) {
            self.error(key, format!("is missing {because}"), right);
        }
    }

    pub(super) fn warn(&mut self, key: &str, wrong: impl Into<String>, right: impl Into<String>) {
        let origin = self.origin(key);
        self.problems.push(Problem::warning(origin, key, wrong, right));
    }

    /// The instance's name is the file's; it names the sockets, unless they are written.
    fn check_instance(&mut self, written: &Written) {
        let named = written.control.socket.is_some() && written.control.supervisor_socket.is_some();
        if !named && !is_name(self.instance, NAME_MAX, "_-.") {
            self.problems.push(Problem {
                key: None,
                ..Problem::error(
                    Origin::File {
                        path: self.file.to_owned(),
                        line: None,
                    },
                    "",
                    format!("is the file of an instance named {}", shown(self.instance)),
                    "a file named INSTANCE.toml, of letters, digits, _, - and ., at most 32; or both sockets in [control]",
                )
            });
        }
    }

    fn name(&mut self, key: &str, name: Option<&str>) -> Option<String> {
        let name = name?;
        if is_name(name, NAME_MAX, "_-") {
            return Some(name.to_owned());
        }
        self.error(
            key,
            format!("is {}", shown(name)),
            "1 to 32 letters (A to Z, a to z), digits, _ and -",
        );
        None
    }

    /// The game and its settings.
    fn game(&mut self, written: &Written) -> Option<GameConfig> {
        let plays = self.layers.plays();
        let [play] = plays.as_slice() else { return None };
        match play {
            Play::TaiSaiA => self.tai_sai(written, Style::A).map(GameConfig::TaiSai),
            Play::TaiSaiB => self.tai_sai(written, Style::B).map(GameConfig::TaiSai),
            Play::SicBoCovered => self.sic_bo(written, Tumbler::Covered).map(GameConfig::SicBo),
            Play::SicBoOpen => self.sic_bo(written, Tumbler::Open).map(GameConfig::SicBo),
            Play::TwoUpDice => Some(GameConfig::TwoUpDice(two_up_dice(written))),
            Play::TriplePennyLights => Some(triple_penny(written, ShownBy::Lights)),
            Play::TriplePennyElectronic => Some(triple_penny(written, ShownBy::Electronic)),
            Play::TriplePennyCards => Some(triple_penny(written, ShownBy::Cards)),
        }
    }

    fn tai_sai(&mut self, written: &Written, style: Style) -> Option<TaiSaiConfig> {
        let section = &written.tai_sai;
        let layout = match section.layout.as_deref()? {
            "appendix-2" => Layout::Appendix2,
            _ => Layout::Appendix1,
        };
        Some(TaiSaiConfig {
            style,
            layout,
            lamp_map: self.lamps_of("tai_sai.lamp_map", section.lamp_map.as_deref(), layout)?,
            rest: Duration::from_millis(section.rest_ms),
            settle_after: Duration::from_millis(section.settle_after_ms),
            cover_settles_after: Duration::from_millis(section.cover_settles_after_ms),
            hold_no_spin_after_uncover: section.no_spin_after_uncover == "hold",
            display_fault_locks: section.display_fault_locks,
            lamp_wait: ports::lamp_wait(written.devices.lamps.baud),
        })
    }

    fn sic_bo(&mut self, written: &Written, tumbler: Tumbler) -> Option<SicBoConfig> {
        let section = &written.sic_bo;
        let lamp_map = self.lamps_of("sic_bo.lamp_map", section.lamp_map.as_deref(), Layout::Appendix1);
        let paytable = match section.paytable.as_deref() {
            Some(path) => Some(self.paytable(path)?),
            None => None,
        };
        Some(SicBoConfig {
            tumbler,
            paytable,
            policy: HousePolicy {
                void: section.policy.void,
                lamps: section.policy.lamps,
                amend: section.policy.amend,
            },
            lamp_map: lamp_map?,
            rest: Duration::from_millis(section.rest_ms),
            settle_after: Duration::from_millis(section.settle_after_ms),
            cover_settles_after: Duration::from_millis(section.cover_settles_after_ms),
            hold_no_spin_after_uncover: section.no_spin_after_uncover == "hold",
            lamp_wait: ports::lamp_wait(written.devices.lamps.baud),
        })
    }

    /// The lamps of each area of the layout; of sic-bo it is the standard one, which has the same areas.
    fn lamps_of(&mut self, key: &str, path: Option<&str>, layout: Layout) -> Option<LampMap> {
        match path {
            None => Some(lamp_map::default(layout)),
            Some(path) => {
                let text = self.named_file(key, path, "a readable file with a line an area: area = [bit, ...]")?;
                lamp_map::read(&text, &self.beside(path), layout, self.problems)
            }
        }
    }

    fn paytable(&mut self, path: &str) -> Option<Paytable> {
        let right = "a readable file with a line an area: area = \"62:1\"";
        let text = self.named_file("sic_bo.paytable", path, right)?;
        paytable::read(&text, &self.beside(path), self.problems)
    }

    /// A file that the configuration names: from its own folder, unless it begins at the root.
    fn beside(&self, path: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(path)
    }

    /// The text of such a file.
    fn named_file(&mut self, key: &str, path: &str, right: &str) -> Option<String> {
        match self.files.read(&self.beside(path)) {
            Ok(text) => Some(text),
            Err(error) => {
                self.error(key, format!("is {}, which can't be read: {error}", shown(path)), right);
                None
            }
        }
    }

    /// Exactly the devices that the game needs.
    fn ports(&mut self, written: &Written, game: Option<&GameConfig>, table: Option<&str>) -> Option<Vec<PortConfig>> {
        let mut devices = vec![
            ("devices.tumbler.port", DeviceKind::Tumbler, &written.devices.tumbler),
            ("devices.terminal.port", DeviceKind::Terminal, &written.devices.terminal),
            ("devices.lamps.port", DeviceKind::LayoutLamps, &written.devices.lamps),
            ("devices.lights.port", DeviceKind::ResultLights, &written.devices.lights),
        ];
        let plays = self.layers.plays();
        devices.retain(|(key, _, _)| keys::key(key).is_some_and(|key| key.is_of_some(&plays)));
        let mut named = Vec::new();
        for (key, _, device) in &devices {
            let Some(port) = device.port.as_deref() else { continue };
            if let Some((wrong, right)) = ports::doubt(port) {
                self.warn(key, format!("is {port:?}, which {wrong}"), right);
            }
            named.push((*key, port, self.origin(key)));
        }
        ports::report_shared(&named, self.problems);
        let config = |(_, kind, device): &(&str, DeviceKind, &Device)| {
            Some(PortConfig {
                kind: *kind,
                path: PathBuf::from(device.port.as_ref()?),
                baud: device.baud,
                table: table?.to_owned(),
                lamps_needed: match kind {
                    DeviceKind::LayoutLamps => lamp_map::lamps_needed(lamp_map::of(game?)),
                    DeviceKind::ResultLights => RESULT_LIGHTS,
                    DeviceKind::Tumbler | DeviceKind::Terminal => 0,
                },
                tumbler: if plays == [Play::SicBoOpen] {
                    TumblerBuild::Open
                } else {
                    TumblerBuild::Covered
                },
            })
        };
        devices.iter().map(config).collect()
    }

    fn journal(&mut self, written: &Written) -> Option<JournalConfig> {
        let directory = PathBuf::from(written.journal.directory.as_ref()?);
        Some(JournalConfig {
            directory,
            retention: Duration::from_secs(written.journal.retention_days * SECONDS_A_DAY),
            min_free_bytes: written.journal.min_free_mb * BYTES_A_MB,
        })
    }

    fn display(&mut self, section: &super::written::Display) -> Option<DisplayConfig> {
        let listen = self.listen(&PAGE, section.listen.as_deref()?)?;
        Some(DisplayConfig {
            listen,
            results: section.results,
        })
    }

    fn metrics(&mut self, section: &super::written::Metrics) -> Option<MetricsConfig> {
        let listen = self.listen(&NUMBERS, section.listen.as_deref()?)?;
        Some(MetricsConfig { listen })
    }

    /// An address to listen on; what is served there has no login.
    fn listen(&mut self, served: &Served, written: &str) -> Option<SocketAddr> {
        let Served { key, what, port, right } = *served;
        let Ok(listen) = written.parse::<SocketAddr>() else {
            self.error(
                key,
                format!("is {}", shown(written)),
                format!("an IP address and a port: \"127.0.0.1:{port}\" or \"[::1]:{port}\""),
            );
            return None;
        };
        if listen.port() == 0 {
            self.error(key, "has port 0", "a port from 1 to 65535");
            return None;
        }
        if !listen.ip().is_loopback() {
            self.warn(
                key,
                format!("is {}, open to the network, and {what} has no login", shown(written)),
                right,
            );
        }
        Some(listen)
    }

    fn control(&mut self, written: &Written) -> Option<ControlConfig> {
        let section = &written.control;
        let config = ControlConfig {
            socket: section
                .socket
                .clone()
                .map_or_else(|| socket(self.instance), PathBuf::from),
            supervisor_socket: section
                .supervisor_socket
                .clone()
                .map_or_else(|| supervisor_socket(self.instance), PathBuf::from),
        };
        let mut good = true;
        for (key, path) in [
            ("control.socket", &config.socket),
            ("control.supervisor_socket", &config.supervisor_socket),
        ] {
            if path.as_os_str().len() > SOCKET_PATH_MAX {
                self.error(
                    key,
                    format!("is longer than {SOCKET_PATH_MAX} bytes, more than a socket's path can have"),
                    "a shorter path",
                );
                good = false;
            }
        }
        if config.socket == config.supervisor_socket {
            self.error(
                "control.supervisor_socket",
                "is the other socket as well: whoever may look could act",
                "a socket of its own",
            );
            good = false;
        }
        good.then_some(config)
    }
}

/// The lights of two-up: three heads, three tails, five odds.
const RESULT_LIGHTS: u32 = 11;

fn two_up_dice(written: &Written) -> TwoUpDiceConfig {
    TwoUpDiceConfig {
        first_three: match written.two_up_dice.first_three.as_str() {
            "comes-back-after-a-win" => FirstThree::ComesBackAfterAWin,
            _ => FirstThree::ComesBack,
        },
        mis_keyed: mis_keyed(&written.two_up_dice.mis_keyed),
        lamp_wait: ports::lamp_wait(written.devices.lights.baud),
    }
}

fn triple_penny(written: &Written, display: ShownBy) -> GameConfig {
    GameConfig::TriplePenny(TriplePennyConfig {
        display,
        mis_keyed: mis_keyed(&written.triple_penny.mis_keyed),
        lamp_wait: ports::lamp_wait(written.devices.lights.baud),
    })
}

fn mis_keyed(word: &str) -> MisKeyed {
    match word {
        "stands" => MisKeyed::Stands,
        _ => MisKeyed::Correct,
    }
}

/// What is served over HTTP, as problems name it.
struct Served {
    key: &'static str,
    what: &'static str,
    port: &'static str,
    /// Where it is meant to be looked at from.
    right: &'static str,
}

const PAGE: Served = Served {
    key: "display.listen",
    what: "the page",
    port: "8480",
    right: "127.0.0.1, with a browser on this PC",
};

const NUMBERS: Served = Served {
    key: "metrics.listen",
    what: "the metrics page",
    port: "9480",
    right: "127.0.0.1, or the address of a network that only the house's own machines are on",
};

const SECONDS_A_DAY: u64 = 24 * 60 * 60;
const BYTES_A_MB: u64 = 1_000_000;

pub(super) fn is_name(name: &str, longest: usize, also: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
    (1..=longest).contains(&name.len()) && name.chars().all(fits)
}

fn clock(source: &str) -> ClockSource {
    match source {
        "chrony" => ClockSource::Chrony,
        "none" => ClockSource::None,
        _ => ClockSource::Timesyncd,
    }
}

/// The socket to look and test through when none is written.
pub fn socket(instance: &str) -> PathBuf {
    PathBuf::from(format!("/run/tablegate/{instance}.sock"))
}

/// The socket to act through when none is written.
pub fn supervisor_socket(instance: &str) -> PathBuf {
    PathBuf::from(format!("/run/tablegate/{instance}.supervisor.sock"))
}
