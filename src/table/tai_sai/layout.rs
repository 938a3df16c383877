//! Areas, their lamps and their digests, worked out once from the configuration. PURE.

use crate::rules::tai_sai::{self, Layout, Winner};
use crate::table::TaiSaiConfig;
use crate::table::event::Area;
use sha2::{Digest, Sha256};

/// The layout as this table has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LayoutLamps {
    layout: Layout,
    /// For each area its bits.
    bits: Vec<Vec<u16>>,
    pub(crate) areas_sha256: Vec<u8>,
    pub(crate) paytable_sha256: Vec<u8>,
}

/// An area whose lamps are not as commanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mismatch {
    /// Its place in the layout.
    pub(crate) area: usize,
    /// Lit and must not be; else dark and must be lit.
    pub(crate) wrongly_lit: bool,
}

impl LayoutLamps {
    pub(crate) fn new(config: &TaiSaiConfig) -> Self {
        LayoutLamps {
            layout: config.layout,
            bits: config.lamp_map.clone(),
            areas_sha256: Sha256::digest(tai_sai::areas_text(config.layout)).to_vec(),
            paytable_sha256: Sha256::digest(tai_sai::paytable_text(config.layout)).to_vec(),
        }
    }

    /// How many areas there are.
    pub(crate) fn len(&self) -> usize {
        tai_sai::areas(self.layout).len()
    }

    /// What wins, with what it pays.
    pub(crate) fn winners(&self, faces: [u8; 3]) -> Vec<Area> {
        tai_sai::winners(faces, self.layout).iter().map(area_of).collect()
    }

    /// The picture that lights exactly these areas; trailing zero bytes are left out.
    pub(crate) fn picture(&self, areas: &[Area]) -> Vec<u8> {
        let ids = tai_sai::areas(self.layout);
        let lit = areas
            .iter()
            .filter_map(|area| ids.iter().position(|id| *id == area.id))
            .flat_map(|place| self.bits_of(place));
        picture_of(lit)
    }

    /// The picture that lights one area.
    pub(crate) fn single(&self, area: usize) -> Vec<u8> {
        picture_of(self.bits_of(area))
    }

    fn bits_of(&self, area: usize) -> impl Iterator<Item = u16> {
        self.bits.get(area).into_iter().flatten().copied()
    }

    /// The areas of `measured` that are not as in `commanded`, in the layout's order. Bits of no area are nobody's business.
    pub(crate) fn mismatches(&self, commanded: &[u8], measured: &[u8]) -> Vec<Mismatch> {
        let judge = |area: usize| {
            let mut bits = self.bits_of(area);
            // Lamps of one area are commanded alike.
            let wanted = self.bits_of(area).any(|bit| is_lit(commanded, bit));
            bits.any(|bit| is_lit(measured, bit) != wanted).then_some(Mismatch {
                area,
                wrongly_lit: !wanted,
            })
        };
        (0..self.bits.len()).filter_map(judge).collect()
    }

    /// The area's lamps are commanded lit.
    pub(crate) fn is_lit(&self, area: usize, picture: &[u8]) -> bool {
        self.bits_of(area).any(|bit| is_lit(picture, bit))
    }

    /// The area as an event names a lamp's.
    pub(crate) fn area(&self, place: usize) -> Area {
        Area {
            id: self.id(place).to_string(),
            ..Area::default()
        }
    }

    /// The area's id; empty beyond the layout.
    pub(crate) fn id(&self, place: usize) -> &'static str {
        tai_sai::areas(self.layout).get(place).copied().unwrap_or_default()
    }
}

fn area_of(winner: &Winner) -> Area {
    Area {
        id: winner.id.to_string(),
        pays: winner.odds.pays,
        per: winner.odds.per,
    }
}

fn is_lit(picture: &[u8], bit: u16) -> bool {
    picture
        .get(usize::from(bit / 8))
        .is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
}

fn picture_of(bits: impl Iterator<Item = u16>) -> Vec<u8> {
    let mut picture = Vec::new();
    for bit in bits {
        let place = usize::from(bit / 8);
        if picture.len() <= place {
            picture.resize(place + 1, 0u8);
        }
        if let Some(byte) = picture.get_mut(place) {
            *byte |= 1 << (bit % 8);
        }
    }
    picture
}

/// Without trailing zero bytes, which mean nothing.
pub(crate) fn trimmed(picture: &[u8]) -> &[u8] {
    let length = picture.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    picture.get(..length).unwrap_or_default()
}
