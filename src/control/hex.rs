//! Bytes as hexadecimal digits, for people and for JSON.

/// Two lower-case digits a byte.
#[must_use]
pub fn write(bytes: &[u8]) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles
        .filter_map(|nibble| char::from_digit(nibble.into(), 16))
        .collect()
}

/// The bytes of an even number of digits; `None`: it is none.
#[must_use]
pub fn read(text: &str) -> Option<Vec<u8>> {
    let nibbles: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|nibble| u8::try_from(nibble).ok()))
        .collect();
    let nibbles = nibbles?;
    let pairs = nibbles.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    Some(
        pairs
            .filter_map(|pair| Some(pair.first()? << 4 | pair.last()?))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(read(&write(&every)), Some(every));
        for wrong in ["0", "0g", "+1", "0x", "\u{663}\u{663}"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read("aAFf"), Some(vec![0xaa, 0xff]));
        assert_eq!(read(""), Some(Vec::new()));
    }
}
