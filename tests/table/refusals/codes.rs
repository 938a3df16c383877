//! The list of codes.

use tablegate::table::rejection::CODES;

#[test]
fn the_list_has_the_pages_numbers_each_once_with_text_and_rule() {
    let numbered: Vec<u32> = CODES
        .iter()
        .map(|code| code.number)
        .filter(|&number| number != 0)
        .collect();
    assert_eq!(
        numbered,
        [
            1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22, 23, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 90
        ]
    );
    let texts: Vec<&str> = CODES
        .iter()
        .filter(|code| code.number == 0)
        .map(|code| code.readout)
        .collect();
    assert_eq!(texts, ["LOC", "TST", "CLO", "OPN"]);
    for code in CODES {
        assert!(!code.text.is_empty() && !code.rule.is_empty(), "{code:?}");
        assert!(
            code.number == 0 || code.readout == format!("E{:02}", code.number),
            "{code:?}"
        );
    }
}
