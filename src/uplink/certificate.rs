//! What a certificate says of itself, in words that a technician can act on. PURE. The one file that names the X.509 parser.

use crate::time::Timestamp;
use std::path::{Path, PathBuf};
use std::time::Duration;
use x509_cert::der::Decode;

/// So long before its end a certificate is due to be renewed: a month is enough to get one out of any house's authority.
pub const WARN_BEFORE: Duration = Duration::from_secs(30 * DAY);
const DAY: u64 = 24 * 60 * 60;

/// Longest name that is repeated, in characters: a peer chooses its own.
const MAX_NAME: usize = 120;

/// What is told of a certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Certificate {
    subject: String,
    issuer: String,
    not_before: Timestamp,
    not_after: Timestamp,
}

/// Where a moment lies to a certificate's validity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Validity {
    NotYet,
    Valid,
    /// It ends within [`WARN_BEFORE`].
    EndsSoon,
    Expired,
}

impl Certificate {
    /// `None` for what is no certificate of RFC 5280.
    pub(super) fn from_der(der: &[u8]) -> Option<Certificate> {
        let parsed = x509_cert::Certificate::from_der(der).ok()?;
        let tbs = parsed.tbs_certificate();
        let moment = |time: x509_cert::time::Time| {
            let micros = time.to_unix_duration().as_micros();
            Timestamp::from_unix_micros(i64::try_from(micros).unwrap_or(i64::MAX))
        };
        Some(Certificate {
            subject: printable(&tbs.subject().to_string()),
            issuer: printable(&tbs.issuer().to_string()),
            not_before: moment(tbs.validity().not_before),
            not_after: moment(tbs.validity().not_after),
        })
    }

    /// As far as `now`, by this PC's clock, is right.
    pub(super) fn validity(&self, now: Timestamp) -> Validity {
        let left = self.not_after.as_unix_micros().saturating_sub(now.as_unix_micros());
        if now < self.not_before {
            Validity::NotYet
        } else if left < 0 {
            Validity::Expired
        } else if u128::from(left.unsigned_abs()) < WARN_BEFORE.as_micros() {
            Validity::EndsSoon
        } else {
            Validity::Valid
        }
    }

    /// "CN=TS-07, valid to 2026-12-20 10:15 UTC".
    pub(super) fn shown(&self) -> String {
        format!("{}, valid to {}", self.subject, minute(self.not_after))
    }

    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    pub(super) fn valid_from(&self) -> String {
        minute(self.not_before)
    }

    pub(super) fn valid_to(&self) -> String {
        minute(self.not_after)
    }
}

/// Whose certificate a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    /// The table's own.
    Own,
    /// An authority that the table trusts.
    Authority,
}

/// A certificate of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    pub(super) whose: Whose,
    pub(super) path: PathBuf,
    pub(super) certificate: Certificate,
}

/// Certificates that must be renewed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Expiring {
    /// Which, and how urgent: the same as before, nothing new is told.
    pub(super) which: Vec<(PathBuf, Timestamp, Validity)>,
    /// For a person.
    pub(super) text: String,
}

/// Those of `kept` that end within [`WARN_BEFORE`] or have ended.
pub(super) fn expiring(kept: &[Kept], now: Timestamp) -> Option<Expiring> {
    let due: Vec<_> = kept
        .iter()
        .map(|kept| (kept, kept.certificate.validity(now)))
        .filter(|(_, validity)| matches!(validity, Validity::EndsSoon | Validity::Expired))
        .collect();
    let texts: Vec<String> = due.iter().map(|(kept, validity)| due_words(kept, *validity)).collect();
    let which = due
        .iter()
        .map(|(kept, validity)| (kept.path.clone(), kept.certificate.not_after, *validity));
    (!due.is_empty()).then(|| Expiring {
        which: which.collect(),
        text: texts.join("; "),
    })
}

fn due_words(kept: &Kept, validity: Validity) -> String {
    let Certificate { subject, not_after, .. } = &kept.certificate;
    let (whose, todo) = match kept.whose {
        Whose::Own => (
            "the table's certificate",
            "put a renewed one, and its key, in its place",
        ),
        Whose::Authority => (
            "the trusted authority's certificate",
            "add its successor to the file, or take it out when brokers no longer need it",
        ),
    };
    let when = match validity {
        Validity::Expired => "expired on".to_owned(),
        Validity::NotYet | Validity::Valid | Validity::EndsSoon => "expires soon, on".to_owned(),
    };
    let path = kept.path.display();
    // What matters comes first: the table's state keeps the beginning of a long text.
    format!("{whose} {when} {} ({subject}, {path}): {todo}", minute(*not_after))
}

/// "2026-12-20 10:15 UTC".
fn minute(time: Timestamp) -> String {
    let text = time.to_string().replace('T', " ");
    format!("{} UTC", text.get(..16).unwrap_or(&text))
}

/// What a peer says is shown to people and logged: no control characters, and not without end.
fn printable(text: &str) -> String {
    let cleaned = text
        .chars()
        .take(MAX_NAME)
        .map(|c| if c.is_control() { '?' } else { c });
    cleaned.collect()
}

/// The words for a file: "CN=TS-07, valid to ..., /etc/tablegate/TS-07.pem".
pub(super) fn in_file(certificate: Option<&Certificate>, path: &Path) -> String {
    match certificate {
        Some(certificate) => format!("{}, {}", certificate.shown(), path.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_796_000_000_000_000;

    fn kept(whose: Whose, days_left: i64) -> Kept {
        let at = |days: i64| Timestamp::from_unix_micros(NOW + days * 86_400_000_000 + 3_600_000_000);
        Kept {
            whose,
            path: "/etc/tablegate/TS-07.pem".into(),
            certificate: Certificate {
                subject: "CN=TS-07".into(),
                issuer: "CN=floor".into(),
                not_before: at(days_left - 365),
                not_after: at(days_left),
            },
        }
    }

    #[test]
    fn what_ends_within_thirty_days_is_told_with_its_date_and_what_to_do() {
        let now = Timestamp::from_unix_micros(NOW);
        assert_eq!(
            expiring(&[kept(Whose::Own, 30), kept(Whose::Authority, 400)], now),
            None
        );
        for (days, words) in [
            // No days: what stands for a month would go on telling those of its beginning.
            (29, "expires soon, on 20"),
            (0, "expires soon, on 20"),
            (-1, "expired on"),
        ] {
            let told = expiring(&[kept(Whose::Own, days)], now).unwrap().text;
            assert!(told.starts_with(&format!("the table's certificate {words}")), "{told}");
            assert!(
                told.contains(" UTC (CN=TS-07, /etc/tablegate/TS-07.pem): put a renewed one"),
                "{told}"
            );
        }
        let both = expiring(&[kept(Whose::Own, 2), kept(Whose::Authority, 3)], now).unwrap();
        assert!(
            both.text.contains("; the trusted authority's certificate"),
            "{}",
            both.text
        );
    }

    #[test]
    fn the_same_is_the_same_until_it_has_expired() {
        let kept = [kept(Whose::Own, 20)];
        let which = |days: i64| {
            let now = Timestamp::from_unix_micros(NOW + days * 86_400_000_000);
            expiring(&kept, now).map(|expiring| expiring.which)
        };
        assert_eq!(which(0), which(5));
        assert_ne!(which(5), which(25));
        assert_eq!(which(-60), None);
        assert_eq!(
            kept[0].certificate.validity(Timestamp::from_unix_micros(0)),
            Validity::NotYet
        );
    }

    #[test]
    fn what_is_no_certificate_is_none() {
        for der in [&b""[..], b"0", &[0x30, 0x82, 0xff, 0xff], &[0xff; 300]] {
            assert_eq!(Certificate::from_der(der), None);
        }
    }
}
