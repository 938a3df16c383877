//! Which areas three dice light, by the law's words, and the bits of the default lamp map. Worked out anew here: a judge shares no code with what it judges.

use std::collections::BTreeSet;

/// How many areas the standard layout has; the alternative one has more after them.
const STANDARD: usize = 50;

/// The bits that light for these faces, in any order.
pub(super) fn lit(faces: [u32; 3], is_alternative: bool) -> BTreeSet<usize> {
    let mut sorted = faces;
    sorted.sort_unstable();
    let [low, middle, high] = sorted;
    let total = low + middle + high;
    let is_triple = low == high;
    let count = |face: u32| sorted.iter().filter(|shown| **shown == face).count();
    let mut rules: Vec<bool> = vec![
        (4..=10).contains(&total) && !is_triple,
        (11..=17).contains(&total) && !is_triple,
    ];
    rules.extend((1..=6).map(|face| count(face) == 3));
    rules.extend((1..=6).map(|face| count(face) >= 2));
    rules.push(is_triple);
    rules.extend((4..=17).map(|sum| total == sum));
    rules.extend(
        (1..=6)
            .flat_map(|a| (a + 1..=6).map(move |b| (a, b)))
            .map(|(a, b)| count(a) > 0 && count(b) > 0),
    );
    rules.extend((1..=6).map(|face| count(face) > 0));
    debug_assert_eq!(rules.len(), STANDARD);
    if is_alternative {
        rules.extend(trios().map(|trio| trio == sorted));
        rules.extend(
            [[3, 4, 5, 6], [2, 3, 4, 5], [1, 2, 3, 4]]
                .iter()
                .enumerate()
                .flat_map(|(nth, four)| {
                    // In between comes the one four that is no run: 6, 5, 3, 2.
                    let of = |four: &[u32; 4]| {
                        low < middle && middle < high && sorted.iter().all(|face| four.contains(face))
                    };
                    if nth == 0 {
                        vec![of(four), of(&[2, 3, 5, 6])]
                    } else {
                        vec![of(four)]
                    }
                }),
        );
        rules.push(total % 2 == 1 && (5..=17).contains(&total) && !is_triple);
        rules.push(total % 2 == 0 && (4..=16).contains(&total) && !is_triple);
    }
    rules
        .iter()
        .enumerate()
        .filter(|(_, wins)| **wins)
        .map(|(bit, _)| bit)
        .collect()
}

/// Every combination but the triples, in numeric order.
fn trios() -> impl Iterator<Item = [u32; 3]> {
    (1..=6)
        .flat_map(|a| (a..=6).flat_map(move |b| (b..=6).map(move |c| [a, b, c])))
        .filter(|[a, _, c]| a != c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_default_map() {
        // small, double_1, total_5, pair_1_3, face_1, face_3
        assert_eq!(Vec::from_iter(lit([1, 3, 1], false)), [0, 8, 16, 30, 44, 46]);
        // triple_6, double_6, any_triple, face_6: neither big nor a total
        assert_eq!(Vec::from_iter(lit([6, 6, 6], false)), [7, 13, 14, 49]);
        // ... trio_2_3_5, four_6532, four_5432, even
        let alternative = Vec::from_iter(lit([5, 2, 3], true));
        assert_eq!(alternative[alternative.len() - 3..], [101, 102, 105]);
        assert_eq!(trios().count(), 50);
        assert!(
            lit([4, 4, 4], true).iter().all(|bit| *bit < 104),
            "no odd, no even for a triple"
        );
    }
}
