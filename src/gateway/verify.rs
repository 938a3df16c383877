//! Digests with a seed: of the program, the effective configuration, the rules and each device. A task of its own, so that the table is
//! never held up; the loop records what came of it before anybody is told.

use super::Refusal;
use super::inputs::Asked;
use super::outside::Outside;
use crate::device::{DigestAnswer, DigestAsk, LinkReport};
use crate::rules::RULES_VERSION;
use crate::table::event::{DeviceRef, DeviceVerified, DeviceVerifiedOutcome, ErrorCode, SoftwareVerified};
use crate::table::input::{Arrival, Asker, DeviceKind, Input};
use crate::time::{Clock, Uptime};
use crate::uplink::{NotVerified, Verifier, Verifying};
use sha2::{Digest, Sha256};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Digests are asked for this often at most: a device may need most of that for one.
const ONCE_IN: Duration = Duration::from_secs(60);

/// A device that hasn't answered by then is recorded as not having answered.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// A seed has 1 to this many bytes: twice what makes an answer unguessable, and a device's frame holds it.
pub const MAX_SEED: usize = 64;

/// Questions that wait to be refused or begun; each is answered or refused at once.
pub(super) const QUESTIONS: usize = 4;

/// Why there are no digests.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VerifyRefusal {
    /// The seed is no seed.
    #[error("a seed has 1 to {MAX_SEED} bytes, and this one has {0}")]
    Seed(usize),
    /// Others were asked for within the last minute.
    #[error("digests are made once a minute: ask again in {} s", seconds(*.0))]
    Busy(Duration),
    /// They can't be recorded, so they aren't told.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Whole seconds, rounded up.
fn seconds(left: Duration) -> u64 {
    left.as_secs().saturating_add(u64::from(left.subsec_nanos() > 0))
}

/// Somebody asks.
pub(super) struct Question {
    pub(super) by: Asker,
    pub(super) seed: Vec<u8>,
    pub(super) reply: oneshot::Sender<Result<SoftwareVerified, VerifyRefusal>>,
}

/// A device that can be asked.
#[derive(Clone, Debug)]
pub(super) struct DigestLink {
    pub(super) kind: DeviceKind,
    pub(super) report: watch::Receiver<LinkReport>,
    pub(super) asks: mpsc::Sender<DigestAsk>,
}

/// Where questions are put. Cheap to clone.
#[derive(Clone)]
pub(super) struct Desk(mpsc::Sender<Question>);

impl Desk {
    pub(super) fn new() -> (Desk, mpsc::Receiver<Question>) {
        let (questions, asked) = mpsc::channel(QUESTIONS);
        (Desk(questions), asked)
    }

    pub(super) async fn ask(&self, by: Asker, seed: Vec<u8>) -> Result<SoftwareVerified, VerifyRefusal> {
        if !(1..=MAX_SEED).contains(&seed.len()) {
            return Err(VerifyRefusal::Seed(seed.len()));
        }
        let (reply, answer) = oneshot::channel();
        let stopping = |_| VerifyRefusal::Refused(Refusal::Stopping);
        let question = Question { by, seed, reply };
        self.0
            .send(question)
            .await
            .map_err(|_| VerifyRefusal::Refused(Refusal::Stopping))?;
        answer.await.map_err(stopping)?
    }
}

impl Verifier for Desk {
    fn verify(&self, seed: Vec<u8>) -> Verifying {
        let desk = self.clone();
        Box::pin(async move {
            let asked = desk.ask(Asker::Floor, seed).await;
            asked.map_err(|refusal| NotVerified {
                code: match &refusal {
                    VerifyRefusal::Seed(_) => ErrorCode::Malformed,
                    VerifyRefusal::Busy(_) => ErrorCode::Busy,
                    VerifyRefusal::Refused(_) => ErrorCode::NotReady,
                },
                text: refusal.to_string(),
            })
        })
    }
}

/// What is digested, and who is asked.
pub(super) struct Digester {
    pub(super) outside: Arc<dyn Outside>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) config_text: String,
    pub(super) rules_text: String,
    pub(super) links: watch::Receiver<Vec<DigestLink>>,
    /// The loop's queue.
    pub(super) to_loop: mpsc::Sender<Asked>,
}

impl Digester {
    /// Answers one question after another until nobody can ask any more.
    pub(super) async fn run(self, mut questions: mpsc::Receiver<Question>) {
        let mut began: Option<Uptime> = None;
        let left = |began: Option<Uptime>| {
            let again = began? + ONCE_IN;
            let left = again.since(self.clock.uptime());
            (left > Duration::ZERO).then_some(left)
        };
        while let Some(question) = questions.recv().await {
            if let Some(left) = left(began) {
                refuse(question, left);
                continue;
            }
            began = Some(self.clock.uptime());
            let mut verified = pin!(self.verify(question.by, question.seed));
            let answer = loop {
                tokio::select! {
                    biased;
                    answer = &mut verified => break answer,
                    Some(other) = questions.recv() => refuse(other, left(began).unwrap_or(ONCE_IN)),
                }
            };
            // Whoever asked may have gone; the journal has it.
            let _gone = question.reply.send(answer);
        }
    }

    async fn verify(&self, by: Asker, seed: Vec<u8>) -> Result<SoftwareVerified, VerifyRefusal> {
        let until = Instant::now() + ANSWER_WITHIN;
        // Devices first: theirs takes longest.
        let asked: Vec<_> = self.links.borrow().iter().map(|link| ask(link, &seed)).collect();
        let program = self.outside.program_digest(&seed).await;
        let mut devices = Vec::new();
        for (named, answer) in asked {
            devices.push(answered(named, answer, until).await);
        }
        let verified = SoftwareVerified {
            program_sha256: if program == [0; 32] {
                Vec::new()
            } else {
                program.to_vec()
            },
            config_sha256: over(&seed, &self.config_text),
            rules_version: RULES_VERSION.to_owned(),
            rules_sha256: over(&seed, &self.rules_text),
            devices,
            seed,
        };
        let (reply, recorded) = oneshot::channel();
        let input = Input::SoftwareVerified {
            by,
            verified: verified.clone(),
        };
        let at = self.clock.uptime();
        let arrival = Arrival { at, input };
        let reply = Some(reply);
        let gone = || VerifyRefusal::Refused(Refusal::Stopping);
        self.to_loop.send(Asked { arrival, reply }).await.map_err(|_| gone())?;
        recorded.await.map_err(|_| gone())??;
        Ok(verified)
    }
}

fn refuse(question: Question, left: Duration) {
    // Whoever asked may have gone.
    let _gone = question.reply.send(Err(VerifyRefusal::Busy(left)));
}

fn over(seed: &[u8], text: &str) -> Vec<u8> {
    Sha256::new().chain_update(seed).chain_update(text).finalize().to_vec()
}

/// Asks a device; who it is is told as its link knows it now.
fn ask(link: &DigestLink, seed: &[u8]) -> (DeviceVerified, oneshot::Receiver<DigestAnswer>) {
    let (serial_number, firmware) = match &link.report.borrow().identity {
        Some(identity) => (identity.serial_number.clone(), identity.firmware.clone()),
        None => (String::new(), String::new()),
    };
    let named = DeviceVerified {
        device: Some(DeviceRef {
            kind: link.kind.to_event().into(),
            serial_number,
        }),
        firmware,
        ..DeviceVerified::default()
    };
    let (reply, answer) = oneshot::channel();
    let seed = seed.to_vec();
    // A link that takes no question drops it: nobody answers then.
    let _not_taken = link.asks.try_send(DigestAsk { seed, reply });
    (named, answer)
}

async fn answered(
    mut named: DeviceVerified,
    answer: oneshot::Receiver<DigestAnswer>,
    until: Instant,
) -> DeviceVerified {
    let outcome = match tokio::time::timeout_at(until, answer).await {
        Ok(Ok(DigestAnswer::Digest(sha256))) if sha256.len() == 32 => {
            named.sha256 = sha256;
            DeviceVerifiedOutcome::Answered
        }
        Ok(Ok(DigestAnswer::Digest(_))) => DeviceVerifiedOutcome::Malformed,
        Ok(Ok(DigestAnswer::Offline)) => DeviceVerifiedOutcome::Offline,
        Ok(Err(_lost)) => DeviceVerifiedOutcome::LinkLost,
        Err(_late) => DeviceVerifiedOutcome::NotAnswered,
    };
    named.set_outcome(outcome);
    named
}

#[cfg(test)]
mod tests {
    use super::super::clock::{ClockSource, Synchronisation};
    use super::super::store::{Answer, Found};
    use super::super::testing::PausedClock;
    use super::*;
    use crate::device::{Kind, Ports, SerialPorts};
    use crate::journal::{Begin, JournalConfig, OpenError, Owner};
    use crate::time::Timestamp;
    use crate::uplink::{Brokers, MqttBrokers};
    use std::future::Future;
    use std::pin::Pin;
    use tokio::task::JoinHandle;

    /// A world of which only the program matters.
    struct Program;

    impl Outside for Program {
        fn program_digest(&self, seed: &[u8]) -> Answer<[u8; 32]> {
            let digest = Sha256::new_with_prefix(seed).chain_update("program").finalize().into();
            Box::pin(async move { digest })
        }

        fn run_id(&self) -> String {
            unreachable!("nobody asks")
        }

        fn clock(&self) -> Arc<dyn Clock> {
            unreachable!("nobody asks")
        }

        fn synchronisation(&self, _: ClockSource) -> watch::Receiver<Synchronisation> {
            unreachable!("nobody asks")
        }

        fn machine(&self) -> String {
            unreachable!("nobody asks")
        }

        fn open(&self, _: &JournalConfig, _: &Owner, _: &str, _: Timestamp, _: Begin) -> Result<Found, OpenError> {
            unreachable!("nobody asks")
        }

        fn count_connection(&self, _: &JournalConfig, _: Timestamp) -> u64 {
            unreachable!("nobody asks")
        }

        fn ports(&self) -> Arc<dyn Ports> {
            Arc::new(SerialPorts)
        }

        fn brokers(&self) -> Arc<dyn Brokers> {
            Arc::new(MqttBrokers)
        }

        fn run(&self, _: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
            unreachable!("nobody asks")
        }
    }

    struct Scene {
        desk: Desk,
        asked: Vec<mpsc::Receiver<DigestAsk>>,
        /// What the loop was given to record.
        to_loop: mpsc::Receiver<Asked>,
    }

    fn scene() -> Scene {
        let (desk, questions) = Desk::new();
        let (to_loop, recorded) = mpsc::channel(4);
        let mut asked = Vec::new();
        let mut links = Vec::new();
        for (kind, port) in [
            (DeviceKind::Tumbler, Kind::Tumbler),
            (DeviceKind::Terminal, Kind::Terminal),
        ] {
            let (asks, receiver) = mpsc::channel(1);
            asked.push(receiver);
            let report = watch::channel(LinkReport::new(port, String::new())).1;
            links.push(DigestLink { kind, report, asks });
        }
        let digester = Digester {
            outside: Arc::new(Program),
            clock: PausedClock::shared(),
            config_text: "configuration".into(),
            rules_text: "rules".into(),
            links: watch::channel(links).1,
            to_loop,
        };
        tokio::spawn(digester.run(questions));
        Scene {
            desk,
            asked,
            to_loop: recorded,
        }
    }

    type Told = JoinHandle<Result<SoftwareVerified, VerifyRefusal>>;

    impl Scene {
        fn ask(&self, seed: &[u8]) -> Told {
            let (desk, seed) = (self.desk.clone(), seed.to_vec());
            tokio::spawn(async move { desk.ask(Asker::Floor, seed).await })
        }

        /// The loop records what it is given.
        async fn record(&mut self) {
            self.to_loop.recv().await.unwrap().answer(Ok(String::new()));
        }
    }

    fn sha256(text: &str) -> Vec<u8> {
        Sha256::digest(text).to_vec()
    }

    fn outcomes(verified: &SoftwareVerified) -> Vec<DeviceVerifiedOutcome> {
        verified.devices.iter().map(DeviceVerified::outcome).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn everything_is_digested_recorded_and_only_then_told() {
        let mut scene = scene();
        let told = scene.ask(b"seed");
        for receiver in &mut scene.asked {
            let ask = receiver.recv().await.unwrap();
            ask.reply.send(DigestAnswer::Digest(sha256("seedimage"))).unwrap();
        }
        let asked = scene.to_loop.recv().await.unwrap();
        assert!(!told.is_finished(), "not before it is recorded");
        let Input::SoftwareVerified { by, verified } = asked.arrival.input.clone() else {
            panic!("{:?}", asked.arrival);
        };
        assert_eq!(by, Asker::Floor);
        asked.answer(Ok(String::new()));
        assert_eq!(told.await.unwrap(), Ok(verified.clone()));
        assert_eq!(verified.program_sha256, sha256("seedprogram"));
        assert_eq!(verified.config_sha256, sha256("seedconfiguration"));
        assert_eq!(verified.rules_sha256, sha256("seedrules"));
        assert_eq!(outcomes(&verified), [DeviceVerifiedOutcome::Answered; 2]);
        assert!(
            verified
                .devices
                .iter()
                .all(|device| device.sha256 == sha256("seedimage"))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_device_has_a_minute_and_others_are_refused_meanwhile_and_until_it_is_over() {
        let mut scene = scene();
        let began = Instant::now();
        let told = scene.ask(b"seed");
        let slow = scene.asked[0].recv().await.unwrap();
        let ask = scene.asked[1].recv().await.unwrap();
        ask.reply.send(DigestAnswer::Digest(vec![1; 31])).unwrap();
        tokio::time::advance(Duration::from_secs(20)).await;
        let busy = scene.ask(b"another").await.unwrap();
        assert_eq!(busy, Err(VerifyRefusal::Busy(Duration::from_secs(40))));
        scene.record().await;
        let verified = told.await.unwrap().unwrap();
        assert!(began.elapsed() >= ANSWER_WITHIN && began.elapsed() < ANSWER_WITHIN + Duration::from_secs(1));
        drop(slow);
        assert_eq!(
            outcomes(&verified),
            [DeviceVerifiedOutcome::NotAnswered, DeviceVerifiedOutcome::Malformed]
        );
        // A minute has passed since it began.
        let again = scene.ask(b"again");
        let offline = scene.asked[0].recv().await.unwrap();
        offline.reply.send(DigestAnswer::Offline).unwrap();
        drop(scene.asked[1].recv().await.unwrap());
        scene.record().await;
        let verified = again.await.unwrap().unwrap();
        assert_eq!(
            outcomes(&verified),
            [DeviceVerifiedOutcome::Offline, DeviceVerifiedOutcome::LinkLost]
        );
        let busy = scene.ask(b"once more").await.unwrap();
        assert!(matches!(busy, Err(VerifyRefusal::Busy(_))), "{busy:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_can_not_be_recorded_is_not_told_and_a_seed_has_its_bounds() {
        let mut scene = scene();
        for length in [0, MAX_SEED + 1] {
            let refused = scene.ask(&vec![1; length]).await.unwrap();
            assert_eq!(refused, Err(VerifyRefusal::Seed(length)));
        }
        let told = scene.ask(&[1; MAX_SEED]);
        for receiver in &mut scene.asked {
            drop(receiver.recv().await.unwrap());
        }
        let asked = scene.to_loop.recv().await.unwrap();
        let text = "disk full".to_owned();
        asked.answer(Err(Refusal::JournalFailed { text: text.clone() }));
        assert_eq!(
            told.await.unwrap(),
            Err(VerifyRefusal::Refused(Refusal::JournalFailed { text }))
        );
    }
}
