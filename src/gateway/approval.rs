//! The file of approved digests, as it was found at the start, and how this run compares with it. Reads nothing: whoever reads the
//! configuration reads the file.
//!
//! What can't be read approves nothing: a damaged file is never taken for an absent one.

use crate::table::event::SoftwarePart;
use crate::table::{Approval, ApprovedDevice};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where approved digests are looked for, and what is there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ApprovalFile {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub said: Said,
}

/// What a file of approved digests says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Said {
    /// There is none: nothing is enforced.
    #[default]
    Nothing,
    /// It is there and can't be used: it approves nothing.
    Unusable {
        /// What is wrong with it, a sentence each.
        problems: Vec<String>,
    },
    /// What is approved.
    Approved(Approved),
}

/// What somebody approved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Approved {
    /// SHA-256 of the program's file.
    pub program_sha256: [u8; 32],
    /// SHA-256 of the effective configuration in canonical form.
    pub config_sha256: [u8; 32],
    /// Version of the rules.
    pub rules_version: String,
    /// Devices, with their firmware.
    pub devices: Vec<ApprovedDevice>,
    /// Who approved it.
    pub by: String,
    /// When, as written there.
    pub at: String,
    /// SHA-256 of the file itself.
    pub file_sha256: [u8; 32],
}

/// What runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Software {
    /// SHA-256 of the program's file; zeros when it could not be read, and then no approval fits.
    pub program_sha256: [u8; 32],
    /// SHA-256 of the effective configuration in canonical form.
    pub config_sha256: [u8; 32],
    /// Version of the rules.
    pub rules_version: &'static str,
}

/// Whether what runs is what was approved; for people who look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// There is no file of approved digests.
    #[default]
    NotEnforced,
    /// Program, configuration and rules are the approved ones.
    AsApproved,
    /// Something is not.
    Differs,
    /// The file can't be used.
    Unusable,
}

/// What runs, and how it compares with what is approved.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SoftwareView {
    /// SHA-256 of the program's file in hex; zeros: it could not be read.
    pub program_sha256: String,
    /// SHA-256 of the effective configuration in hex.
    pub config_sha256: String,
    /// Version of the rules.
    pub rules_version: String,
    /// As compared at the start.
    pub approval: Standing,
    /// What differs: "program", "configuration", "rules".
    pub differs: Vec<String>,
    /// What is wrong with the file of approved digests.
    pub problems: Vec<String>,
    /// Where approved digests are looked for.
    pub approval_path: PathBuf,
    /// Who approved; empty: nobody.
    pub approved_by: String,
    /// When.
    pub approved_at: String,
}

impl Approved {
    /// What of the software is not what was approved.
    #[must_use]
    pub fn differs(&self, software: &Software) -> Vec<SoftwarePart> {
        let parts = [
            (SoftwarePart::Program, self.program_sha256 == software.program_sha256),
            (
                SoftwarePart::Configuration,
                self.config_sha256 == software.config_sha256,
            ),
            (SoftwarePart::Rules, self.rules_version == software.rules_version),
        ];
        let differing = parts.iter().filter(|(_, is_approved)| !is_approved);
        differing.map(|(part, _)| *part).collect()
    }
}

impl ApprovalFile {
    /// What differs, for `GatewayStarted`.
    pub(super) fn differs(&self, software: &Software) -> Vec<SoftwarePart> {
        match &self.said {
            Said::Nothing => Vec::new(),
            Said::Unusable { .. } => vec![SoftwarePart::Approval],
            Said::Approved(approved) => approved.differs(software),
        }
    }

    /// What the table is told.
    pub(super) fn judge(&self, software: &Software) -> Approval {
        let devices = match &self.said {
            Said::Nothing => return Approval::NotEnforced,
            Said::Unusable { .. } => Vec::new(),
            Said::Approved(approved) => approved.devices.clone(),
        };
        Approval::Enforced {
            devices,
            differs: sentence(&self.differs(software)),
        }
    }

    /// What people who look are told.
    pub(super) fn view(&self, software: &Software) -> SoftwareView {
        let differs = self.differs(software);
        let (approval, problems, by, at) = match &self.said {
            Said::Nothing => (Standing::NotEnforced, Vec::new(), "", ""),
            Said::Unusable { problems } => (Standing::Unusable, problems.clone(), "", ""),
            Said::Approved(approved) => {
                let standing = match differs.as_slice() {
                    [] => Standing::AsApproved,
                    [_, ..] => Standing::Differs,
                };
                (standing, Vec::new(), approved.by.as_str(), approved.at.as_str())
            }
        };
        SoftwareView {
            program_sha256: hex(&software.program_sha256),
            config_sha256: hex(&software.config_sha256),
            rules_version: software.rules_version.to_owned(),
            approval,
            differs: differs
                .iter()
                .filter_map(|part| word(*part))
                .map(str::to_owned)
                .collect(),
            problems,
            approval_path: self.path.clone(),
            approved_by: by.to_owned(),
            approved_at: at.to_owned(),
        }
    }

    /// Says at the start what is not as approved.
    pub(super) fn log(&self, software: &Software) {
        let path = self.path.display();
        match &self.said {
            Said::Nothing => tracing::info!("approved digests are not enforced: there is no {path}"),
            Said::Unusable { problems } => {
                for problem in problems {
                    tracing::error!("{path} can't be used, and approves nothing: {problem}");
                }
            }
            Said::Approved(approved) => {
                for part in approved.differs(software) {
                    tracing::error!(
                        program = hex(&software.program_sha256),
                        configuration = hex(&software.config_sha256),
                        rules = software.rules_version,
                        "the {} is not what {} approves",
                        word(part).unwrap_or_default(),
                        path,
                    );
                }
            }
        }
    }
}

/// A part's word; none for the file of approved digests itself.
fn word(part: SoftwarePart) -> Option<&'static str> {
    match part {
        SoftwarePart::Program => Some("program"),
        SoftwarePart::Configuration => Some("configuration"),
        SoftwarePart::Rules => Some("rules"),
        SoftwarePart::Approval | SoftwarePart::Unspecified => None,
    }
}

/// What differs, in a sentence that fits an alert; `None`: nothing.
fn sentence(differs: &[SoftwarePart]) -> Option<String> {
    let words: Vec<&str> = differs.iter().filter_map(|part| word(*part)).collect();
    Some(match words.as_slice() {
        [] if differs.is_empty() => return None,
        [] => "The file of approved digests can't be used: nothing is approved.".to_owned(),
        ["rules"] => "The rules are not the approved ones.".to_owned(),
        [one] => format!("The {one} is not the approved one."),
        [first @ .., last] => format!("The {} and the {last} are not the approved ones.", first.join(", the ")),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: Software = Software {
        program_sha256: [1; 32],
        config_sha256: [2; 32],
        rules_version: "1",
    };

    fn file(change: impl FnOnce(&mut Approved)) -> ApprovalFile {
        let mut approved = Approved {
            program_sha256: [1; 32],
            config_sha256: [2; 32],
            rules_version: "1".into(),
            devices: Vec::new(),
            by: "ana".into(),
            at: "2026-11-30".into(),
            file_sha256: [0; 32],
        };
        change(&mut approved);
        ApprovalFile {
            path: "/etc/tablegate/TS-07.approved".into(),
            said: Said::Approved(approved),
        }
    }

    type Case = (ApprovalFile, Standing, Option<&'static str>);

    #[test]
    fn what_differs_is_named_and_what_can_not_be_read_approves_nothing() {
        let unusable = ApprovalFile {
            path: PathBuf::new(),
            said: Said::Unusable {
                problems: vec!["is no TOML".into()],
            },
        };
        let all = |approved: &mut Approved| {
            approved.program_sha256 = [9; 32];
            approved.config_sha256 = [9; 32];
            approved.rules_version = "0".into();
        };
        let cases: [Case; 7] = [
            (ApprovalFile::default(), Standing::NotEnforced, None),
            (file(|_| ()), Standing::AsApproved, None),
            (
                file(|a| a.program_sha256 = [0; 32]),
                Standing::Differs,
                Some("The program is not the approved one."),
            ),
            (
                file(|a| a.config_sha256 = [9; 32]),
                Standing::Differs,
                Some("The configuration is not the approved one."),
            ),
            (
                file(|a| a.rules_version = "2".into()),
                Standing::Differs,
                Some("The rules are not the approved ones."),
            ),
            (
                file(all),
                Standing::Differs,
                Some("The program, the configuration and the rules are not the approved ones."),
            ),
            (
                unusable,
                Standing::Unusable,
                Some("The file of approved digests can't be used: nothing is approved."),
            ),
        ];
        for (file, standing, text) in cases {
            assert_eq!(file.view(&RUNS).approval, standing, "{file:?}");
            let told = file.judge(&RUNS);
            assert_eq!(told.differs(), text, "{file:?}");
            assert_eq!(told.is_enforced(), standing != Standing::NotEnforced);
            // The state keeps 120 bytes of a lock's text.
            assert!(text.is_none_or(|text| text.len() <= 120));
        }
    }
}
