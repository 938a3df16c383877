//! Makes a failing plan smaller: parts of it (faults, rounds) are left out as long as the same thing goes wrong.

/// Of `parts` parts, numbered from 0, as few as still fail; `fails` is asked with the numbers that are left in, in order. Everything
/// together fails. At most `budget` times it is asked.
pub fn shrink(parts: usize, budget: usize, mut fails: impl FnMut(&[usize]) -> bool) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..parts).collect();
    let mut asked = 0;
    // Half of what is left at a time, then a quarter, down to one by one; from the front again after each success.
    let mut size = parts.div_ceil(2).max(1);
    loop {
        let mut start = 0;
        let mut is_smaller = false;
        while start < kept.len() {
            if asked == budget {
                return kept;
            }
            asked += 1;
            let end = (start + size).min(kept.len());
            let without: Vec<usize> = kept
                .iter()
                .enumerate()
                .filter(|(at, _)| !(start..end).contains(at))
                .map(|(_, part)| *part)
                .collect();
            if fails(&without) {
                kept = without;
                is_smaller = true;
            } else {
                start = end;
            }
        }
        if size == 1 && !is_smaller {
            return kept;
        }
        if !is_smaller || size > kept.len() {
            size = (size / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_left() {
        for needed in [vec![], vec![0], vec![3, 7], vec![0, 9, 19], (0..20).collect()] {
            let kept = shrink(20, 1000, |left| needed.iter().all(|part| left.contains(part)));
            assert_eq!(kept, needed);
        }
    }

    #[test]
    fn it_is_never_asked_more_often_than_allowed() {
        let mut asked = 0;
        let kept = shrink(100, 30, |left| {
            asked += 1;
            left.contains(&50) && left.contains(&99)
        });
        assert!(
            asked <= 30 && kept.len() < 100 && kept.contains(&50) && kept.contains(&99),
            "{asked} {kept:?}"
        );
    }

    #[test]
    fn nothing_can_be_left_out_of_nothing() {
        assert_eq!(shrink(0, 10, |_| true), Vec::<usize>::new());
    }
}
