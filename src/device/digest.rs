//! A question for a device's digest: SHA-256 over a seed and its firmware's image. Long work for a small device; the link goes on meanwhile.

use tokio::sync::oneshot;

/// What a device is asked, and where its answer goes. Dropped with the session: then whoever waits sees that the answer is lost.
#[derive(Debug)]
pub struct DigestAsk {
    /// What goes before the image.
    pub seed: Vec<u8>,
    /// Where the answer goes.
    pub reply: oneshot::Sender<DigestAnswer>,
}

/// What comes back at once or within a minute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DigestAnswer {
    /// What the device says.
    Digest(Vec<u8>),
    /// The link isn't up: the device was not asked.
    Offline,
}

/// The question that a device has and has not answered.
#[derive(Debug, Default)]
pub(super) struct Asking(Option<DigestAsk>);

impl Asking {
    /// The device has this question now; one before it is lost.
    pub(super) fn asked(&mut self, ask: DigestAsk) {
        self.0 = Some(ask);
    }

    /// The session is over, and the question with it.
    pub(super) fn lost(&mut self) {
        self.0 = None;
    }

    /// An answer. One to an older question is nobody's.
    pub(super) fn answered(&mut self, seed: &[u8], sha256: Vec<u8>) {
        if let Some(ask) = self.0.take_if(|ask| ask.seed == seed) {
            // Whoever asked may have stopped waiting.
            let _gone = ask.reply.send(DigestAnswer::Digest(sha256));
        }
    }
}

/// The device can't be asked.
pub(super) fn offline(ask: DigestAsk) {
    // Whoever asked may have stopped waiting.
    let _gone = ask.reply.send(DigestAnswer::Offline);
}
