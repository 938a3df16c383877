//! Areas, their lamps and their digests, worked out once from the configuration. PURE.

use crate::table::dice::game::DiceGame;
use crate::table::event::Area;
use crate::table::lamps::Board;
use sha2::{Digest, Sha256};

/// The layout as this table has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LayoutLamps {
    /// The areas and their lamps.
    pub(crate) board: Board,
    pub(crate) areas_sha256: Vec<u8>,
    /// Empty without a table of odds.
    pub(crate) paytable_sha256: Vec<u8>,
}

impl LayoutLamps {
    pub(crate) fn new(game: &DiceGame, lamp_map: Vec<Vec<u16>>) -> Self {
        LayoutLamps {
            board: Board::new(game.areas(), lamp_map),
            areas_sha256: Sha256::digest(game.areas_text()).to_vec(),
            paytable_sha256: game
                .paytable_text()
                .map(|text| Sha256::digest(text).to_vec())
                .unwrap_or_default(),
        }
    }

    /// The picture that lights exactly these areas; trailing zero bytes are left out.
    pub(crate) fn picture(&self, areas: &[Area]) -> Vec<u8> {
        self.board.picture(areas.iter().map(|area| area.id.as_str()))
    }
}
