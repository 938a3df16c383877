//! How a command finds its daemon and acts through it.

use super::ending::{Failure, Status, print, print_json};
use crate::config::{self, Config, Problem};
use crate::control::client::{Client, ClientError, instances};
use crate::control::{Act, Answer, Request};
use crate::gateway::View;
use clap::Args;
use nix::unistd::{Gid, Group};
use std::error::Error;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where daemons put their sockets unless the configuration says otherwise.
pub const RUNTIME_DIRECTORY: &str = "/run/tablegate";

/// How a command finds its daemon, for the help of the commands that hold others.
macro_rules! finds_its_daemon {
    ($($examples:literal),+ $(,)?) => {
        concat!(
            $($examples,)+
            "\n\nA command finds its daemon by --config FILE (the configuration it runs with), --socket PATH (its control socket) or \
             --instance NAME (as in tablegate@NAME). Without any of them it is the one daemon that runs on this PC; when there are more, \
             the command lists them."
        )
    };
}
pub(super) use finds_its_daemon;

/// The heading of the options that say which daemon.
pub const WHICH_DAEMON: &str = "Which daemon (without any of these: the one that runs on this PC)";

/// Which daemon; none of these: the only one of this PC.
#[derive(Args, Clone, Debug, Default)]
pub struct Reach {
    /// The daemon that runs with this configuration.
    #[arg(long, value_name = "FILE", help_heading = WHICH_DAEMON, conflicts_with_all = ["socket", "instance"])]
    pub config: Option<PathBuf>,
    /// The daemon that listens at this control socket.
    #[arg(long, value_name = "PATH", help_heading = WHICH_DAEMON, conflicts_with = "instance")]
    pub socket: Option<PathBuf>,
    /// The daemon of this name, as in `systemctl status tablegate@NAME`.
    #[arg(long, value_name = "NAME", help_heading = WHICH_DAEMON, value_parser = instance_name)]
    pub instance: Option<String>,
}

/// A daemon's name becomes a file's name, and leads to no other folder.
fn instance_name(written: &str) -> Result<String, String> {
    if written.is_empty() || written.contains(['/', '\0']) {
        Err("a daemon's name is that of its configuration without .toml: TS-07".to_owned())
    } else {
        Ok(written.to_owned())
    }
}

/// Which daemon, and in whose name.
#[derive(Args, Clone, Debug, Default)]
pub struct Acting {
    /// Which daemon.
    #[command(flatten)]
    pub reach: Reach,
    /// In whose name root acts; everybody else acts in their own.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What a command wants at the daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    Look,
    Act,
}

impl Reach {
    /// The socket for looking.
    ///
    /// # Errors
    /// No daemon, or more than one to choose from.
    pub fn look_socket(&self) -> Result<PathBuf, Failure> {
        self.socket_for(Purpose::Look, Path::new(RUNTIME_DIRECTORY))
    }

    /// The supervisors' socket.
    ///
    /// # Errors
    /// As [`Reach::look_socket`].
    pub fn act_socket(&self) -> Result<PathBuf, Failure> {
        self.socket_for(Purpose::Act, Path::new(RUNTIME_DIRECTORY))
    }

    fn socket_for(&self, purpose: Purpose, directory: &Path) -> Result<PathBuf, Failure> {
        if let Some(file) = &self.config {
            return configured_socket(file, purpose);
        }
        if let Some(path) = &self.socket {
            return Ok(match purpose {
                Purpose::Look => path.clone(),
                Purpose::Act => beside(path)
                    .filter(|path| path.exists())
                    .unwrap_or_else(|| path.clone()),
            });
        }
        let instance = match &self.instance {
            Some(name) => name.clone(),
            None => the_only_one(directory)?,
        };
        Ok(match purpose {
            Purpose::Look => directory.join(format!("{instance}.sock")),
            Purpose::Act => directory.join(format!("{instance}.supervisor.sock")),
        })
    }
}

/// The socket that the configuration names, or gives by the file's name.
fn configured_socket(file: &Path, purpose: Purpose) -> Result<PathBuf, Failure> {
    let control = configuration(file)?.control;
    Ok(match purpose {
        Purpose::Look => control.socket,
        Purpose::Act => control.supervisor_socket,
    })
}

/// The configuration in `file`, with the environment over it.
///
/// # Errors
/// Exit status 3, with all problems.
pub fn configuration(file: &Path) -> Result<Config, Failure> {
    let environment: Vec<_> = std::env::vars_os().collect();
    config::load(file, &environment).map_err(|problems| refused(&problems))
}

/// A configuration that is refused, and why.
#[must_use]
pub fn refused(problems: &[Problem]) -> Failure {
    let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
    Failure {
        status: Status::Configuration,
        text: format!("the configuration is refused:\n{}", said.join("\n")),
    }
}

/// The supervisors' socket that belongs to the socket for looking at `path`, by the names that the daemon gives them.
fn beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".sock")?;
    (!stem.ends_with(".supervisor")).then(|| path.with_file_name(format!("{stem}.supervisor.sock")))
}

fn the_only_one(directory: &Path) -> Result<String, Failure> {
    let found = instances(directory)
        .map_err(|error| Failure::failed(format!("{} can't be read: {error}", directory.display())))?;
    match found.as_slice() {
        [(only, _)] => Ok(only.clone()),
        [] => Err(Failure::failed(format!(
            "no table's daemon answers in {}.\nStart one (systemctl start tablegate@NAME, or tablegate run --config FILE), \
             or say where it listens (--socket PATH or --config FILE).",
            directory.display()
        ))),
        several => {
            let names: Vec<_> = several.iter().map(|(name, _)| name.as_str()).collect();
            Err(Failure::usage(format!(
                "{} daemons run on this PC: {}. Say which one with --instance NAME.",
                several.len(),
                names.join(", ")
            )))
        }
    }
}

/// Runs `work` on a small runtime of the command's own.
///
/// # Errors
/// What the work says, or that the system has no room for a runtime.
pub fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

/// Everything there is to see at the daemon.
///
/// # Errors
/// When it can't be reached.
pub fn look(reach: &Reach) -> Result<View, Failure> {
    let socket = reach.look_socket()?;
    block_on(async {
        let mut client = Client::connect(&socket).await.map_err(unreachable)?;
        let answer = client.ask(&Request::Look {}).await.map_err(unreachable)?;
        answer.view().map_err(|other| unexpected(&other))
    })
}

/// Does one act and says what came of it.
///
/// # Errors
/// The refusal, in words.
pub fn act(acting: &Acting, act: Act) -> Result<(), Failure> {
    let socket = acting.reach.act_socket()?;
    let answer = block_on(async {
        let mut client = Client::connect(&socket).await.map_err(unreachable)?;
        client.act(act, acting.by.as_deref()).await.map_err(unreachable)
    })?;
    if acting.json {
        print_json(&answer)?;
    }
    let text = done(answer)?;
    if acting.json {
        Ok(())
    } else {
        print(&format!("{text}\n"))
    }
}

/// The sentence of what was done; else the refusal, in words.
///
/// # Errors
/// Anything but [`Answer::Done`].
pub fn done(answer: Answer) -> Result<String, Failure> {
    match answer {
        Answer::Done { text } => Ok(text),
        Answer::View(_)
        | Answer::Lines(_)
        | Answer::Offers(_)
        | Answer::Preview(_)
        | Answer::Verified { .. }
        | Answer::Refused { .. }
        | Answer::Failed { .. }
        | Answer::WrongUse { .. } => Err(unexpected(&answer)),
    }
}

/// An answer that isn't the one hoped for.
#[must_use]
pub fn unexpected(answer: &Answer) -> Failure {
    match answer {
        Answer::Refused { code, text, rule, .. } => {
            let because = match (*code, rule.as_str()) {
                (0, "") => String::new(),
                (0, rule) => format!(" ({rule})"),
                (code, "") => format!(" (E{code:02})"),
                (code, rule) => format!(" (E{code:02}, {rule})"),
            };
            Failure::failed(format!("refused: {text}{because}"))
        }
        Answer::Failed { text } => Failure::failed(text.clone()),
        Answer::WrongUse { text } => Failure::usage(text.clone()),
        Answer::View(_)
        | Answer::Lines(_)
        | Answer::Offers(_)
        | Answer::Preview(_)
        | Answer::Verified { .. }
        | Answer::Done { .. } => Failure::failed(
            "the daemon answered something else than was asked: command and daemon are of different versions?",
        ),
    }
}

/// The group that may open a socket, by its name or else its number; `None` where not even that may be seen.
fn group_of(socket: &Path) -> Option<String> {
    let gid = std::fs::metadata(socket).ok()?.gid();
    let group = Group::from_gid(Gid::from_raw(gid)).ok().flatten();
    Some(group.map_or_else(|| gid.to_string(), |group| group.name))
}

/// A daemon that can't be reached, with what to do.
#[must_use]
pub fn unreachable(error: ClientError) -> Failure {
    let advice = match &error {
        ClientError::Absent { .. } | ClientError::NobodyListens { .. } | ClientError::NoSocket { .. } => {
            "\nStart it (systemctl start tablegate@NAME, or tablegate run --config FILE), or name another one."
                .to_owned()
        }
        ClientError::Denied { path } => match group_of(path) {
            Some(group) => format!("\nIt is the group {group}: ask for membership of it, and log in again."),
            None => "\nAsk for membership of its group (see ls -l), and log in again.".to_owned(),
        },
        ClientError::Io { .. }
        | ClientError::Closed
        | ClientError::Silent { .. }
        | ClientError::NotUnderstood { .. } => String::new(),
    };
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure {
        status: Status::Failed,
        text: format!("{error}{cause}{advice}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn the_only_daemon_is_found_none_and_several_are_said() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let reach = Reach::default();
        let nobody = reach.socket_for(Purpose::Look, directory.path()).unwrap_err();
        assert_eq!(nobody.status, Status::Failed);
        assert!(nobody.text.contains("tablegate run --config"), "{}", nobody.text);

        let _one = UnixListener::bind(at("TS-07.sock")).unwrap();
        let _its_other = UnixListener::bind(at("TS-07.supervisor.sock")).unwrap();
        drop(UnixListener::bind(at("TS-03.sock")).unwrap());
        assert_eq!(
            reach.socket_for(Purpose::Look, directory.path()).unwrap(),
            at("TS-07.sock")
        );
        assert_eq!(
            reach.socket_for(Purpose::Act, directory.path()).unwrap(),
            at("TS-07.supervisor.sock")
        );

        let _two = UnixListener::bind(at("TS-08.sock")).unwrap();
        let several = reach.socket_for(Purpose::Look, directory.path()).unwrap_err();
        assert_eq!(several.status, Status::Usage);
        assert!(several.text.contains("TS-07, TS-08"), "{}", several.text);
        let named = Reach {
            instance: Some("TS-08".into()),
            ..Reach::default()
        };
        assert_eq!(
            named.socket_for(Purpose::Look, directory.path()).unwrap(),
            at("TS-08.sock")
        );
    }

    #[test]
    fn acting_by_the_look_socket_takes_the_supervisors_one_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let look = directory.path().join("t.sock");
        let reach = Reach {
            socket: Some(look.clone()),
            ..Reach::default()
        };
        assert_eq!(reach.act_socket().unwrap(), look);
        let act = directory.path().join("t.supervisor.sock");
        let _listener = UnixListener::bind(&act).unwrap();
        assert_eq!(reach.act_socket().unwrap(), act);
        assert_eq!(reach.look_socket().unwrap(), look);
    }
}
