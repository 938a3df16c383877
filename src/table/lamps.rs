//! Lamps that show results, of whatever device: which stand for what, and what their device reports of them. PURE. What their
//! failure means is the game's.
//!
//! `lit` as measured is judged, a while after the picture was acknowledged; what merely repeats the command proves nothing.

use crate::table::devices;
use crate::table::draft::Draft;
use crate::table::event::{Area, Body, DeviceOnline};
use crate::table::game::Family;
use crate::table::input::{DeviceIdentity, LampReport};
use crate::table::opening;
use crate::table::seen::Flicker;
use crate::time::Uptime;

/// The fault's number where the device gave none.
const CANNOT_FOLLOW: u32 = 0;

/// What the lamps stand for (areas of a layout, result lights), and which bits show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Board {
    ids: &'static [&'static str],
    /// For each its bits.
    bits: Vec<Vec<u16>>,
}

/// An area whose lamps are not as commanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mismatch {
    /// Its place on the board.
    pub(crate) area: usize,
    /// Lit and must not be; else dark and must be lit.
    pub(crate) wrongly_lit: bool,
}

impl Board {
    /// `bits` are those of each of `ids`.
    pub(crate) fn new(ids: &'static [&'static str], bits: Vec<Vec<u16>>) -> Self {
        Board { ids, bits }
    }

    /// How many areas there are.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The picture that lights exactly the areas with these ids; trailing zero bytes are left out.
    pub(crate) fn picture<'b>(&self, ids: impl Iterator<Item = &'b str>) -> Vec<u8> {
        let lit = ids
            .filter_map(|id| self.ids.iter().position(|known| *known == id))
            .flat_map(|place| self.bits_of(place));
        picture_of(lit)
    }

    /// The picture that lights one area.
    pub(crate) fn single(&self, area: usize) -> Vec<u8> {
        picture_of(self.bits_of(area))
    }

    /// The numbers of the lamps of the area with this id; none for an area that the board doesn't have.
    pub(crate) fn numbers(&self, id: &str) -> Vec<u16> {
        let place = self.ids.iter().position(|known| *known == id);
        place.into_iter().flat_map(|place| self.bits_of(place)).collect()
    }

    /// Every lamp, in the board's order, each once: what it stands for, and its bit.
    pub(crate) fn lamps(&self) -> impl Iterator<Item = (&'static str, u16)> {
        let mut known = std::collections::BTreeSet::new();
        let all = self.ids.iter().zip(&self.bits);
        all.flat_map(|(id, bits)| bits.iter().map(|bit| (*id, *bit)))
            .filter(move |(_, bit)| known.insert(*bit))
    }

    fn bits_of(&self, area: usize) -> impl Iterator<Item = u16> {
        self.bits.get(area).into_iter().flatten().copied()
    }

    /// The areas of `measured` that are not as in `commanded`, in the board's order. Bits of no area are nobody's business.
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

    /// The area's id; empty beyond the board.
    pub(crate) fn id(&self, place: usize) -> &'static str {
        self.ids.get(place).copied().unwrap_or_default()
    }
}

/// The bit is set in the picture.
pub(crate) fn is_lit(picture: &[u8], bit: u16) -> bool {
    picture
        .get(usize::from(bit / 8))
        .is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
}

/// The bits that are set in the picture.
pub(crate) fn bits_in(picture: &[u8]) -> impl Iterator<Item = u16> {
    let bits = (0_u16..).zip(
        picture
            .iter()
            .flat_map(|byte| (0..8).map(move |bit| byte & (1 << bit) != 0)),
    );
    bits.filter_map(|(bit, set)| set.then_some(bit))
}

/// The picture with these bits.
pub(crate) fn picture_of(bits: impl Iterator<Item = u16>) -> Vec<u8> {
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

/// The lamps were greeted.
pub(crate) fn greeted<F: Family>(draft: &mut Draft<'_, F>, identity: &DeviceIdentity, report: &LampReport) {
    let online = DeviceOnline {
        firmware: identity.firmware.clone(),
        boot_id: identity.boot_id,
        lamp_count: identity.lamp_count,
        firmware_digest: identity.firmware_digest.clone(),
        counters: None,
        closings: Vec::new(),
        counters_kept: false,
    };
    let source = draft.device_itself(F::LAMPS);
    draft.record(source, Body::DeviceOnline(online));
    draft.seen.lamps.report = Some(report.clone());
    draft.seen.lamps.acknowledged = None;
    draft.seen.lamps.judged = false;
    cannot_follow(draft, &report.failed);
}

/// Lamps changed, or settled after a command.
pub(crate) fn report<F: Family>(draft: &mut Draft<'_, F>, report: &LampReport) {
    draft.seen.lamps.report = Some(report.clone());
    cannot_follow(draft, &report.failed);
}

/// Lamps that the device knows can't follow are a fault of the device, for the technician: `lit` alone is judged.
fn cannot_follow<F: Family>(draft: &mut Draft<'_, F>, failed: &[u8]) {
    let raised = failed.iter().any(|byte| *byte != 0);
    let known = draft.seen.faults.contains(&(F::LAMPS, CANNOT_FOLLOW));
    if raised == known {
        return;
    }
    let board = draft.game.board();
    let areas: Vec<_> = board
        .mismatches(&[], failed)
        .iter()
        .map(|mismatch| board.id(mismatch.area))
        .collect();
    let text = format!("lamps that can't follow: {}", opening::shortened(&areas));
    devices::fault(draft, F::LAMPS, CANNOT_FOLLOW, &text, raised);
}

/// A picture was acknowledged; the lamps may still be settling.
pub(crate) fn acknowledged<F: Family>(draft: &mut Draft<'_, F>, lit: &[u8]) {
    draft.seen.lamps.acknowledged = Some((trimmed(lit).to_vec(), draft.now));
    draft.seen.lamps.judged = false;
}

impl Flicker {
    pub(crate) fn new(mismatch: Mismatch, since: Uptime, round: u64) -> Self {
        Flicker {
            area: mismatch.area,
            wrongly_lit: mismatch.wrongly_lit,
            since,
            round,
            more: 0,
            failing: true,
        }
    }

    pub(crate) fn is(&self, mismatch: Mismatch, round: u64) -> bool {
        self.area == mismatch.area && self.wrongly_lit == mismatch.wrongly_lit && self.round == round
    }
}
