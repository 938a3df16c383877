//! Citations: what the concordance knows of them, and that it knows every one that the code can write.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may panic"
)]

mod vector_support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tablegate::rules::concordance::{Certainty, Instrument, look_up};
use tablegate::table::rejection::{CODES, STALE};
use vector_support::{csv, vector_files};

fn said(citation: &str) -> Vec<String> {
    match look_up(citation) {
        Err(why) => vec![why.to_string()],
        Ok(provisions) => provisions
            .into_iter()
            .map(|provision| {
                let heading = provision
                    .heading
                    .map_or_else(|| "-".to_owned(), |h| format!("{} ({})", h.text, h.certainty.name()));
                let pairs: Vec<_> = provision
                    .pairs
                    .iter()
                    .map(|pair| format!("r{}=s{}", pair.old_rule, pair.section))
                    .collect();
                format!(
                    "{} | {heading} | {} | {} | {}{}",
                    provision.citation,
                    provision.parts.join(" / "),
                    pairs.join(" "),
                    provision.certainty.name(),
                    if provision.note.is_empty() {
                        String::new()
                    } else {
                        format!(" | {}", provision.note)
                    },
                )
            })
            .collect(),
    }
}

#[test]
fn each_numbering_system_is_answered_in_its_own_way() {
    let told = [
        "1995 r21.2",
        "1995 s77(1)(a)",
        "1995 r19.1, 4th sentence, (e)",
        "1995 s161",
        "1995 s3",
        "1995 r6.2",
        "1995 r99.9",
        "Qld 1998 s472(7)",
        "Qld 1998 s472(11)",
        "2004 sch 13 s19(1)(a)",
        "2004 sch 13 s23",
        "2004 sch 4 s22(1)(f)",
        "2004 sch 10 s10(1)(a)(i)",
        "2004 sch 5 s1",
        "NZ Div 9 r7.1(c)",
        "NZ Div 9 r4.1(h)",
        "NZ Div 9 s7",
        "1998 r472",
        "r21.2",
    ]
    .map(|citation| format!("{citation}: {}", said(citation).join("\n    ")))
    .join("\n");
    insta::assert_snapshot!(told);
}

#[test]
fn every_row_of_the_renumbering_is_found_from_both_ends() {
    for path in vector_files("concordance", "csv") {
        let rows = csv(&path);
        for (place, row) in &rows {
            let (old, new) = (&row["old_rule"], &row["new_section"]);
            for citation in [format!("1995 r{old}"), format!("1995 s{new}")] {
                let provisions = look_up(&citation).unwrap_or_else(|why| panic!("{place}: {citation}: {why}"));
                let pair = provisions[0]
                    .pairs
                    .iter()
                    .find(|pair| pair.old_rule == old && pair.section == new)
                    .unwrap_or_else(|| panic!("{place}: {citation} does not lead to r{old} and s{new}"));
                assert_eq!(pair.certainty.name(), row["row_status"], "{place}");
                let heading = provisions[0].heading.as_ref().map(|heading| heading.text.as_str());
                let printed = row["heading"].as_str();
                assert!(printed.is_empty() || heading == Some(printed), "{place}: {heading:?}");
            }
        }
        eprintln!("{}: {} rows", path.display(), rows.len());
    }
}

#[test]
fn only_what_the_table_doubts_is_doubted() {
    let certainty = |citation: &str| look_up(citation).unwrap()[0].certainty;
    assert_eq!(certainty("1995 s70"), Certainty::Likely);
    assert_eq!(certainty("1995 s72"), Certainty::Certain);
    assert_eq!(certainty("NZ Div 9 r5.1(a)"), Certainty::Inferred);
    assert_eq!(certainty("NZ Div 9 r5.1"), Certainty::Certain);
}

fn sources(under: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(under).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            into.push(path);
        }
    }
}

/// Literals after this text, up to the closing quotation mark, with the place where each stands.
fn literals(prefix: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    let mut found = BTreeMap::new();
    for path in paths
        .iter()
        .filter(|path| !path.starts_with(root.join("rules/concordance")))
    {
        let text = std::fs::read_to_string(path).unwrap();
        for (number, line) in text.lines().enumerate() {
            for (at, _) in line.match_indices(prefix) {
                if let Some((literal, _)) = line[at + prefix.len()..].split_once('"') {
                    let place = format!("{}:{}", path.display(), number + 1);
                    found.entry(literal.to_owned()).or_insert(place);
                }
            }
        }
    }
    found
}

#[test]
fn every_citation_of_the_code_is_known() {
    let mut citations = BTreeMap::new();
    for (makes, name) in [
        ("nz_div_9!(\"", "NZ Div 9 "),
        ("qld_sch_13!(\"", "Qld 2004 sch 13 "),
        ("qld_2004!(\"", "Qld 2004 "),
        ("qld_1998!(\"", "Qld 1998 "),
        ("qld_1995!(\"", "Qld 1995 "),
        ("\"NZ ", "NZ "),
        ("\"Qld ", "Qld "),
    ] {
        for (literal, place) in literals(makes) {
            citations.insert(format!("{name}{literal}"), place);
        }
    }
    // An instrument alone, and what citations are put together of, are none themselves.
    let alone = [Instrument::NzDiv9, Instrument::Qld1995, Instrument::Qld1998].map(Instrument::short);
    citations.retain(|citation, _| !citation.ends_with(' ') && !citation.contains('{') && !alone.contains(citation));
    assert!(
        citations.len() > 150,
        "{} citations: the search finds no more",
        citations.len()
    );
    let unknown: Vec<_> = citations
        .iter()
        .filter_map(|(citation, place)| Some(format!("{place}: {citation}: {}", look_up(citation).err()?)))
        .collect();
    assert!(unknown.is_empty(), "\n{}", unknown.join("\n"));
    eprintln!("{} citations", citations.len());
}

#[test]
fn every_code_stands_on_a_known_rule_or_on_the_tables_own() {
    let unknown: Vec<_> = CODES
        .iter()
        .filter(|code| code.rule != STALE.rule)
        .filter_map(|code| Some(format!("{}: {}", code.readout, look_up(code.rule).err()?)))
        .collect();
    assert!(unknown.is_empty(), "\n{}", unknown.join("\n"));
    assert!(look_up(STALE.rule).is_err(), "the table's own rule is in no instrument");
}

#[test]
fn a_citation_is_asked_for_on_the_command_line() {
    let ask = |words: &[&str]| {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_tablegate"))
            .args(["rules", "cite"])
            .args(words)
            .output()
            .unwrap();
        let text = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
        (out.status.code(), text)
    };
    let (status, text) = ask(&["1995 r21.2"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("r21.2(2) = s77(2) (certain)"), "{text}");
    assert_eq!(ask(&["1995", "r21.2"]), (status, text));
    let (status, text) = ask(&["21.2"]);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("names no instrument"), "{text}");
}
