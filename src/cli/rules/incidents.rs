//! `tablegate rules incidents`: the incidents that the law lists, and what they allow.

use crate::cli::ending::{Failure, print, print_json};
use crate::rules::chip_and_throw::{Allows, Game, Incident};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use std::fmt::Write;

#[derive(Args, Debug)]
pub(super) struct Incidents {
    /// The game. Without it all of them.
    #[arg(value_parser = PossibleValuesParser::new(Game::ALL.map(Game::name)))]
    game: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, Debug)]
struct Said {
    game: &'static str,
    code: &'static str,
    incident: &'static str,
    allows: String,
    rule: Option<&'static str>,
}

pub(super) fn run(incidents: &Incidents) -> Result<(), Failure> {
    let games = Game::ALL
        .into_iter()
        .filter(|game| incidents.game.as_deref().is_none_or(|asked| asked == game.name()));
    let said: Vec<_> = games.flat_map(said).collect();
    if incidents.json {
        return print_json(&said);
    }
    print(&listed(&said))
}

/// What the law has at this game; what no rule speaks of is left out.
fn said(game: Game) -> Vec<Said> {
    Incident::ALL
        .into_iter()
        .filter_map(|incident| {
            let allows = incident.allows(game);
            (allows != Allows::Nothing).then(|| Said {
                game: game.name(),
                code: incident.code(),
                incident: incident.text(),
                allows: allows.text(),
                rule: allows.rule(),
            })
        })
        .collect()
}

fn listed(said: &[Said]) -> String {
    if said.is_empty() {
        return "No rule at hand lists an incident of this game.\n".to_owned();
    }
    let mut text = String::new();
    let mut game = "";
    for one in said {
        if one.game != game {
            let gap = if game.is_empty() { "" } else { "\n" };
            game = one.game;
            // Writing to a String can't fail.
            let _ = writeln!(text, "{gap}{game}");
        }
        let rule = one.rule.map_or_else(String::new, |rule| format!(" ({rule})"));
        let _ = writeln!(text, "  {}: {}\n    {}{rule}", one.code, one.incident, one.allows);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_incident_allows_is_told_with_its_rule() {
        let text = listed(&said(Game::TwoUpDice));
        assert!(
            text.contains("  chip_moved_by_player: the player moved the chip\n    the wager is settled where it lies (Qld 2004 sch 13 s17)\n"),
            "{text}"
        );
        assert!(listed(&said(Game::TriplePenny)).starts_with("No rule"));
    }
}
