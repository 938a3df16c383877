//! Areas, their lamps and their digests, worked out once from the configuration. PURE.

use crate::rules::tai_sai::{self, Layout, Winner};
use crate::table::TaiSaiConfig;
use crate::table::event::Area;
use crate::table::lamps::Board;
use sha2::{Digest, Sha256};

/// The layout as this table has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LayoutLamps {
    layout: Layout,
    /// The areas and their lamps.
    pub(crate) board: Board,
    pub(crate) areas_sha256: Vec<u8>,
    pub(crate) paytable_sha256: Vec<u8>,
}

impl LayoutLamps {
    pub(crate) fn new(config: &TaiSaiConfig) -> Self {
        LayoutLamps {
            layout: config.layout,
            board: Board::new(tai_sai::areas(config.layout), config.lamp_map.clone()),
            areas_sha256: Sha256::digest(tai_sai::areas_text(config.layout)).to_vec(),
            paytable_sha256: Sha256::digest(tai_sai::paytable_text(config.layout)).to_vec(),
        }
    }

    /// What wins, with what it pays.
    pub(crate) fn winners(&self, faces: [u8; 3]) -> Vec<Area> {
        tai_sai::winners(faces, self.layout).iter().map(area_of).collect()
    }

    /// The picture that lights exactly these areas; trailing zero bytes are left out.
    pub(crate) fn picture(&self, areas: &[Area]) -> Vec<u8> {
        self.board.picture(areas.iter().map(|area| area.id.as_str()))
    }
}

fn area_of(winner: &Winner) -> Area {
    Area {
        id: winner.id.to_string(),
        pays: winner.odds.pays,
        per: winner.odds.per,
    }
}
