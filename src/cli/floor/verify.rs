//! `tablegate floor verify`: asks a table through its broker to digest what it runs with a seed, and compares that with what is expected.

use super::super::ending::Failure;
use super::super::verify::{ANSWER_WITHIN, Asked};
use super::at::Where;
use super::follow::{Follower, Heard};
use super::no_answer;
use crate::table::event::{SoftwareVerified, VerifySoftware, request, response};
use clap::Args;

/// Arguments of `floor verify`.
#[derive(Args, Debug)]
pub(super) struct Verify {
    #[command(flatten)]
    at: Where,
    #[command(flatten)]
    asked: Asked,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Asks, and compares the answer.
pub(super) async fn run(verify: &Verify) -> Result<(), Failure> {
    let seed = verify.asked.seed()?;
    let mut follower = Follower::start(verify.at.floor()?, None);
    follower.ask(request::Request::VerifySoftware(VerifySoftware { seed: seed.clone() }));
    // What else is heard meanwhile doesn't make the wait longer.
    match tokio::time::timeout(ANSWER_WITHIN, answered(&mut follower)).await {
        Ok(verified) => verify.asked.tell(&seed, &verified?, verify.json),
        Err(_late) => Err(no_answer(ANSWER_WITHIN)),
    }
}

async fn answered(follower: &mut Follower) -> Result<SoftwareVerified, Failure> {
    loop {
        match follower.next().await {
            Heard::Answered(answer) => match answer.response {
                Some(response::Response::SoftwareVerified(verified)) => return Ok(verified),
                Some(response::Response::Error(error)) => {
                    return Err(Failure::failed(format!("the table made no digests: {}", error.text)));
                }
                Some(
                    response::Response::Event(_) | response::Response::ReplayDone(_) | response::Response::Snapshot(_),
                )
                | None => {}
            },
            Heard::Lost(text) => return Err(Failure::failed(format!("the connection was lost: {text}"))),
            Heard::Found(_) | Heard::State(_) | Heard::Status { .. } | Heard::Connected | Heard::Nothing => {}
        }
    }
}
