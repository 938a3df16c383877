//! Which areas win, worked out here from the wagers' own words, so that nothing is checked against itself.

/// Ids of areas that win, in no order. `alternative`: the layout of appendix 2.
pub fn winners(mut faces: [u8; 3], alternative: bool) -> Vec<String> {
    faces.sort_unstable();
    let [a, b, c] = faces;
    let total = a + b + c;
    let triple = a == c;
    let mut ids = Vec::new();
    let mut win = |id: String, wins: bool| {
        if wins {
            ids.push(id);
        }
    };
    win("small".into(), (4..=10).contains(&total) && !triple);
    win("big".into(), (11..=17).contains(&total) && !triple);
    win("any_triple".into(), triple);
    win(format!("total_{total}"), (4..=17).contains(&total));
    for face in 1..=6u8 {
        let shown = faces.iter().filter(|&&f| f == face).count();
        win(format!("triple_{face}"), shown == 3);
        win(format!("double_{face}"), shown >= 2);
        win(format!("face_{face}"), shown >= 1);
        for other in face + 1..=6 {
            win(
                format!("pair_{face}_{other}"),
                faces.contains(&face) && faces.contains(&other),
            );
        }
    }
    if alternative {
        win("odd".into(), total % 2 == 1 && !triple);
        win("even".into(), total % 2 == 0 && !triple);
        win(format!("trio_{a}_{b}_{c}"), !triple);
        for four in ["6543", "6532", "5432", "4321"] {
            let among = |face: &u8| four.contains(char::from(b'0' + face));
            win(format!("four_{four}"), a != b && b != c && faces.iter().all(among));
        }
    }
    ids
}

/// Every area with its default bit, in the order that the link protocol's page gives.
pub fn areas(alternative: bool) -> Vec<String> {
    let mut ids: Vec<String> = vec!["small".into(), "big".into()];
    ids.extend((1..=6).map(|face| format!("triple_{face}")));
    ids.extend((1..=6).map(|face| format!("double_{face}")));
    ids.push("any_triple".into());
    ids.extend((4..=17).map(|total| format!("total_{total}")));
    for a in 1..=6 {
        ids.extend((a + 1..=6).map(|b| format!("pair_{a}_{b}")));
    }
    ids.extend((1..=6).map(|face| format!("face_{face}")));
    if alternative {
        for a in 1..=6 {
            for b in a..=6 {
                ids.extend(
                    (b..=6)
                        .filter(|&c| !(a == b && b == c))
                        .map(|c| format!("trio_{a}_{b}_{c}")),
                );
            }
        }
        ids.extend(["four_6543", "four_6532", "four_5432", "four_4321", "odd", "even"].map(String::from));
    }
    ids
}

/// The default bit of an area.
pub fn bit(id: &str) -> u16 {
    let at = areas(true).iter().position(|area| area == id).expect("an area");
    u16::try_from(at).unwrap()
}

/// The bits that these faces light on the layout of appendix 1.
pub fn lit_bits(faces: [u8; 3]) -> Vec<u16> {
    let mut bits: Vec<u16> = winners(faces, false).iter().map(|id| bit(id)).collect();
    bits.sort_unstable();
    bits
}
