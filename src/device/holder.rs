//! Who has a port open, and who may open it: what a technician needs when an opening is refused. Reads `/proc` and the user
//! database, and opens nothing. It costs some milliseconds, so it is for refusals and openings only.

use std::fmt;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Group, Uid, User, getgroups};

/// A process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its command, as the kernel keeps it (15 bytes).
    pub command: String,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (pid {})", self.command, self.pid)
    }
}

/// Who has a port open, as far as this user may see.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Holders {
    /// Other processes that have it open and did not make it.
    open: Vec<Process>,
    /// Processes that have the far side of a pty: they made it, and may keep the near side open so that it stays.
    makers: Vec<Process>,
    /// ModemManager, when it runs: the usual culprit, and often one that we may not look into.
    modem_manager: Option<Process>,
    /// This process has it open.
    ourselves: bool,
}

impl Holders {
    /// Without those who made it: they don't take bytes away.
    #[must_use]
    pub fn without_makers(mut self) -> Holders {
        self.makers.clear();
        self.ourselves = false;
        self
    }

    /// Somebody was found.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.open.is_empty()
    }
}

/// Where the rule is that udev needs: on a PC that has the package, and on one that hasn't.
macro_rules! rule {
    () => {
        "60-tablegate.rules, which the package puts into /usr/lib/udev/rules.d; without the package, copy it from the sources' deploy/ to /etc/udev/rules.d"
    };
}

/// What keeps ModemManager away; the package ships this rule.
const MODEM_MANAGER_HINT: &str = concat!(
    "; a udev rule with ENV{ID_MM_DEVICE_IGNORE}=\"1\" keeps ModemManager away (",
    rule!(),
    ")"
);

impl fmt::Display for Holders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever made a pty keeps nobody from it; two names of the configuration that lead to one port do.
        let seen = if self.open.is_empty() && !self.ourselves {
            &self.makers
        } else {
            &self.open
        };
        match seen.split_first() {
            Some((first, rest)) => {
                write!(f, "{first}")?;
                for other in rest {
                    write!(f, ", {other}")?;
                }
                if seen.iter().any(|p| p.command == MODEM_MANAGER) {
                    f.write_str(MODEM_MANAGER_HINT)?;
                }
                Ok(())
            }
            None if self.ourselves => write!(
                f,
                "this process itself (pid {}), as another of its devices",
                std::process::id()
            ),
            None => {
                f.write_str("a process that this user may not see (`fuser -v` as root names it)")?;
                match &self.modem_manager {
                    Some(process) => write!(f, "; {process} runs and may be it{MODEM_MANAGER_HINT}"),
                    None => Ok(()),
                }
            }
        }
    }
}

const MODEM_MANAGER: &str = "ModemManager";

/// How many holders are named; more than that is no help.
const MOST_NAMED: usize = 4;

/// Finds who has the device at `path` (symlinks are followed) open.
#[must_use]
pub fn of(path: &Path) -> Holders {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let pty = pty_number(&target);
    let mut found = Holders::default();
    let Ok(processes) = fs::read_dir("/proc") else {
        return found;
    };
    for entry in processes.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let directory = entry.path();
        let command = fs::read_to_string(directory.join("comm")).unwrap_or_default();
        let process = Process {
            pid,
            command: printable(command.trim_end()),
        };
        let (open, made) = looks(&directory, &target, pty);
        if pid == std::process::id() {
            found.ourselves = open;
            continue;
        }
        if process.command == MODEM_MANAGER {
            found.modem_manager = Some(process.clone());
        }
        if made && found.makers.len() < MOST_NAMED {
            found.makers.push(process);
        } else if open && found.open.len() < MOST_NAMED {
            found.open.push(process);
        }
    }
    found
}

/// Whether the process has the port open, and whether it has the far side of this pty.
fn looks(process: &Path, target: &Path, pty: Option<u32>) -> (bool, bool) {
    let (mut open, mut made) = (false, false);
    let Ok(files) = fs::read_dir(process.join("fd")) else {
        return (open, made);
    };
    for file in files.flatten() {
        let Ok(link) = fs::read_link(file.path()) else { continue };
        open |= link == target;
        if let Some(pty) = pty
            && link.file_name().is_some_and(|name| name == "ptmx")
        {
            let info = fs::read_to_string(process.join("fdinfo").join(file.file_name())).unwrap_or_default();
            made |= info
                .lines()
                .filter_map(|line| line.strip_prefix("tty-index:"))
                .any(|number| number.trim().parse() == Ok(pty));
        }
    }
    (open, made)
}

fn pty_number(target: &Path) -> Option<u32> {
    target.strip_prefix("/dev/pts").ok()?.to_str()?.parse().ok()
}

/// A process may call itself anything; it must not command a technician's terminal.
pub(super) fn printable(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' })
        .collect()
}

/// Who we are and whose the port is, when we may not open it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Our user.
    user: String,
    /// Our groups.
    groups: Vec<String>,
    /// Of the port; `None` when a folder on the way to it hides even that.
    port: Option<PortRights>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct PortRights {
    device: PathBuf,
    owner: String,
    group: String,
    mode: u32,
}

impl Access {
    /// Looks both up.
    #[must_use]
    pub fn to(path: &Path) -> Access {
        let device = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut groups: Vec<Gid> = vec![Gid::effective()];
        groups.extend(getgroups().unwrap_or_default());
        groups.sort_by_key(|group| group.as_raw());
        groups.dedup();
        Access {
            user: user_name(Uid::effective()),
            groups: groups.into_iter().map(group_name).collect(),
            port: fs::metadata(&device).ok().map(|metadata| PortRights {
                device,
                owner: user_name(Uid::from_raw(metadata.uid())),
                group: group_name(Gid::from_raw(metadata.gid())),
                mode: metadata.permissions().mode() & 0o7777,
            }),
        }
    }
}

impl Access {
    /// Owner, group and mode of the port, for a list; nothing of what to do.
    #[must_use]
    pub fn whose(&self) -> String {
        match &self.port {
            Some(port) => format!("{}:{} with mode {:04o}", port.owner, port.group, port.mode),
            None => "a folder on the way to it may not be looked into".to_owned(),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this runs as user {} in groups {}",
            self.user,
            self.groups.join(", ")
        )?;
        let Some(port) = &self.port else {
            return f.write_str("; a folder on the way to it may not be looked into");
        };
        write!(
            f,
            "; {} belongs to {}:{} with mode {:04o}",
            port.device.display(),
            port.owner,
            port.group,
            port.mode
        )?;
        if port.mode & GROUP_MAY_USE == GROUP_MAY_USE {
            write!(
                f,
                ": add the user to group {} (SupplementaryGroups= in the unit)",
                port.group
            )
        } else {
            f.write_str(concat!(
                ": not even its group may use it; a udev rule gives it to one (",
                rule!(),
                ")"
            ))
        }
    }
}

/// Read and write for the group.
const GROUP_MAY_USE: u32 = 0o060;

fn user_name(uid: Uid) -> String {
    match User::from_uid(uid) {
        Ok(Some(user)) => user.name,
        Ok(None) | Err(_) => format!("number {uid}"),
    }
}

fn group_name(gid: Gid) -> String {
    match Group::from_gid(gid) {
        Ok(Some(group)) => group.name,
        Ok(None) | Err(_) => format!("number {gid}"),
    }
}
