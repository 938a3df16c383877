//! Which lamps belong to which area: the default, or a file of the layout with a line an area, `area = [bit, ...]`.

use super::names::nearest_of;
use super::problem::{Origin, Problem};
use super::side_file::SideFile;
use super::value::shown;
use crate::rules::tai_sai::{Layout, areas};
use crate::table::GameConfig;
use std::collections::BTreeMap;
use std::path::Path;
use toml::de::DeValue;

/// How many lamps a device can have: `lit` and `failed` of its status fit one frame of the link up to here (92 bytes each).
pub const LAMPS_MAX: u16 = 736;

/// For each area, in the order of the layout, its lamps' bits.
pub type LampMap = Vec<Vec<u16>>;

/// One bit an area: bit n is the n-th area.
#[must_use]
pub fn default(layout: Layout) -> LampMap {
    (0_u16..).take(areas(layout).len()).map(|bit| vec![bit]).collect()
}

/// The map of a game; empty for one that has its lights where the link protocol puts them.
#[must_use]
pub fn of(game: &GameConfig) -> &[Vec<u16>] {
    match game {
        GameConfig::TaiSai(config) => &config.lamp_map,
        GameConfig::SicBo(config) => &config.lamp_map,
        GameConfig::TwoUpDice(_) | GameConfig::TriplePenny(_) => &[],
    }
}

/// How many lamps a device needs to show this map.
#[must_use]
pub fn lamps_needed(map: &[Vec<u16>]) -> u32 {
    map.iter().flatten().max().map_or(0, |bit| u32::from(*bit) + 1)
}

/// The map that the text of the file is. What is wrong goes to `problems`, then there is none.
pub fn read(text: &str, path: &Path, layout: Layout, problems: &mut Vec<Problem>) -> Option<LampMap> {
    let before = problems.len();
    let file = SideFile { text, path };
    let table = file.table("area = [bit, ...], a line each", problems)?;
    let mut bits_of: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    let mut area_of: BTreeMap<u16, String> = BTreeMap::new();
    for (name, value) in table.get_ref() {
        let origin = file.origin(Some(name.span().start));
        let Some(area) = areas(layout).iter().find(|area| *area == name.get_ref()) else {
            problems.push(unknown_area(origin, name.get_ref(), layout));
            continue;
        };
        match bits(value.get_ref()) {
            Ok(bits) => {
                for bit in &bits {
                    if let Some(other) = area_of.insert(*bit, (*area).to_owned()) {
                        problems.push(Problem::error(
                            origin.clone(),
                            area,
                            format!("has bit {bit}, which {other} has as well"),
                            "each lamp once, for one area",
                        ));
                    }
                }
                bits_of.insert(area, bits);
            }
            Err(wrong) => problems.push(Problem::error(
                origin,
                area,
                wrong,
                format!("a list of at least one bit from 0 to {}", LAMPS_MAX - 1),
            )),
        }
    }
    let written = |area: &&&str| table.get_ref().keys().any(|name| name.get_ref() == **area);
    for area in areas(layout).iter().filter(|area| !written(area)) {
        problems.push(Problem::error(
            file.origin(None),
            area,
            "is missing: a winning area must light",
            format!("{area} = [bit, ...], as for every area of {}", layout.name()),
        ));
    }
    if problems.len() > before {
        return None;
    }
    areas(layout).iter().map(|area| bits_of.remove(area)).collect()
}

fn unknown_area(origin: Origin, name: &str, layout: Layout) -> Problem {
    let right = match nearest_of(name, areas(layout).iter().copied()) {
        Some(near) => format!("{near}?"),
        None => format!("an area of the layout {}", layout.name()),
    };
    Problem::error(
        origin,
        name,
        format!("is no area of the layout {}", layout.name()),
        right,
    )
}

fn bits(value: &DeValue<'_>) -> Result<Vec<u16>, String> {
    let DeValue::Array(items) = value else {
        return Err("is no list".to_owned());
    };
    if items.is_empty() {
        return Err("has no lamp".to_owned());
    }
    let mut bits = Vec::new();
    for item in items.iter() {
        let DeValue::Integer(number) = item.get_ref() else {
            return Err("has an item that is no whole number".to_owned());
        };
        let bit = u16::from_str_radix(number.as_str(), number.radix()).ok();
        match bit.filter(|bit| *bit < LAMPS_MAX) {
            Some(bit) => bits.push(bit),
            None => return Err(format!("has the bit {}", shown(number.as_str()))),
        }
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(layout: Layout) -> String {
        let lines = areas(layout).iter().enumerate();
        lines
            .map(|(n, area)| format!("{area} = [{n}, {}]\n", n + 200))
            .collect()
    }

    fn wrong(text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let map = read(text, Path::new("/l.toml"), Layout::Appendix1, &mut problems);
        assert_eq!(map.is_none(), !problems.is_empty());
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_mirrored_layout_has_two_lamps_an_area() {
        let mut problems = Vec::new();
        let map = read(
            &text(Layout::Appendix2),
            Path::new("/l.toml"),
            Layout::Appendix2,
            &mut problems,
        )
        .unwrap();
        assert_eq!(problems, []);
        assert_eq!(map[1], [1, 201]);
        assert_eq!(lamps_needed(&map), 306);
        assert_eq!(lamps_needed(&default(Layout::Appendix1)), 50);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let text = text(Layout::Appendix1)
            .replace("small = [0, 200]", "smal = [0]")
            .replace("big = [1, 201]", "big = []")
            .replace("triple_1 = [2, 202]", "triple_1 = [3]")
            .replace("triple_3 = [4, 204]", "triple_3 = [4, 736]")
            .replace("triple_4 = [5, 205]", "triple_4 = 5")
            .replace("triple_5 = [6, 206]", "triple_5 = [\"6\"]");
        insta::assert_snapshot!(wrong(&text).join("\n"));
    }

    #[test]
    fn an_area_written_twice_is_told_with_its_line() {
        let text = text(Layout::Appendix1) + "small = [300]\n";
        let wrong = wrong(&text);
        assert!(wrong[0].starts_with("/l.toml:51: "), "{wrong:?}");
    }

    #[test]
    fn an_area_of_the_other_layout_is_unknown() {
        let wrong = wrong(&(text(Layout::Appendix1) + "odd = [300]\n"));
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(
            wrong[0].contains("odd is no area of the layout appendix-1"),
            "{wrong:?}"
        );
    }
}
