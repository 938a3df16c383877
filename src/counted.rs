//! Counts with their nouns, as people say them: "1 frame", "2 frames".

use std::fmt::Display;

/// So many of something. `noun` is the singular; its plural is made with "s", or "ies" for a "y" behind a consonant.
#[must_use]
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    if count == "1" {
        return format!("1 {noun}");
    }
    let before_y = noun
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match before_y {
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

/// How often: "once", "twice", "3 times".
#[must_use]
pub fn often(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(1, "CRC error"), "1 CRC error");
        assert_eq!(counted(0_u64, "CRC error"), "0 CRC errors");
        assert_eq!(counted(2_usize, "entry"), "2 entries");
        assert_eq!(counted(11_u32, "key"), "11 keys");
        assert_eq!([0, 1, 2, 3].map(often), ["0 times", "once", "twice", "3 times"]);
    }
}
