//! What the people at a two-up table do: games as they are played, and in each something that a table lives with.

use super::super::ending::Failure;
use super::crew::Crew;
use crate::sim::{Incident, People, TwoUpDealer};

/// Plays so many games, or without end; 0: nobody plays, and this doesn't end.
///
/// # Errors
/// When the table does something else than the law says, or nothing.
pub async fn play(dealer: &TwoUpDealer, rounds: Option<u32>, seed: u64, crew: Crew) -> Result<(), Failure> {
    if rounds == Some(0) {
        return std::future::pending().await;
    }
    let mut people = People::new(dealer, seed, Some(crew.say.clone()));
    let mut incidents = Incident::of(dealer.game()).iter().copied().cycle();
    let mut played = 0u32;
    while rounds.is_none_or(|rounds| played < rounds) {
        let incident = incidents.next().unwrap_or(Incident::None);
        crew.say(format!("-- {}", title(incident))).await;
        people
            .game(incident)
            .await
            .map_err(|stuck| Failure::failed(format!("the dealer is stuck: {stuck}")))?;
        played = played.saturating_add(1);
        crew.breathe().await;
    }
    Ok(())
}

fn title(incident: Incident) -> &'static str {
    match incident {
        Incident::None => "a game as it should be",
        Incident::ResultBeforeTheCall => "a game with a result before \"no more bets\": it can't be one",
        Incident::CallWithoutAWager => "a game whose bell is rung before the spinner has wagered",
        Incident::NoSpin => "a game with a \"no spin\": nothing of it counts",
        Incident::Overruled => "a game with a \"no spin\" that was none: the supervisor overrules",
        Incident::ThreeInvalid => "a game that begins with three invalid spins: the house spins on",
        Incident::MisKeyed => "a game with a wrong result, corrected before anything else happens",
        Incident::OneGone => "a game in which one leaves the table, and is found",
        Incident::TwoGone => "a game in which two are lost: a new set",
        Incident::SpinnerStops => "a game whose spinner stops",
        Incident::Relieved => "a game whose spinner is relieved",
        Incident::AllDecline => "a game that nobody wants to spin: the house does",
        Incident::DarkLight => "a game with a dead light: a card is shown in its place, and play goes on",
    }
}
