//! `tablegate rules cite`: what a citation names.

use crate::cli::ending::{Failure, print, print_json};
use crate::rules::concordance::{Provision, look_up};
use clap::Args;
use serde::Serialize;
use std::fmt::Write;

#[derive(Args, Debug)]
pub(super) struct Cite {
    /// Instrument and number: "1995 r21.2", "1998 s472(7)", "2004 sch 13 s19(1)(a)", "NZ Div 9 r7.2".
    #[arg(required = true, num_args = 1..)]
    citation: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(cite: &Cite) -> Result<(), Failure> {
    let provisions = look_up(&cite.citation.join(" ")).map_err(|why| Failure::usage(why.to_string()))?;
    if cite.json {
        let said: Vec<_> = provisions.iter().map(said).collect();
        return print_json(&said);
    }
    let texts: Vec<_> = provisions.iter().map(told).collect();
    print(&texts.join("\n"))
}

#[derive(Serialize, Debug)]
struct Said {
    citation: String,
    instrument: &'static str,
    certainty: &'static str,
    heading: Option<SaidHeading>,
    parts: Vec<String>,
    pairs: Vec<SaidPair>,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

#[derive(Serialize, Debug)]
struct SaidHeading {
    text: String,
    certainty: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

#[derive(Serialize, Debug)]
struct SaidPair {
    old_rule: &'static str,
    section: &'static str,
    certainty: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'static str,
}

fn said(provision: &Provision) -> Said {
    Said {
        citation: provision.citation.clone(),
        instrument: provision.instrument.title(),
        certainty: provision.certainty.name(),
        heading: provision.heading.as_ref().map(|heading| SaidHeading {
            text: heading.text.clone(),
            certainty: heading.certainty.name(),
            note: heading.note.clone(),
        }),
        parts: provision.parts.clone(),
        pairs: provision
            .pairs
            .iter()
            .map(|pair| SaidPair {
                old_rule: pair.old_rule,
                section: pair.section,
                certainty: pair.certainty.name(),
                note: pair.note,
            })
            .collect(),
        note: provision.note.clone(),
    }
}

fn told(provision: &Provision) -> String {
    let mut text = format!(
        "{} ({})\n  in       {}\n",
        provision.citation,
        provision.certainty.name(),
        provision.instrument.title()
    );
    // Writing to a String can't fail.
    for part in &provision.parts {
        let _ = writeln!(text, "  part     {part}");
    }
    let heading = provision.heading.as_ref().map_or_else(
        || "none printed".to_owned(),
        |heading| {
            let note = if heading.note.is_empty() {
                String::new()
            } else {
                format!("; {}", heading.note)
            };
            format!("{} ({}{note})", heading.text, heading.certainty.name())
        },
    );
    let _ = writeln!(text, "  heading  {heading}");
    if !provision.note.is_empty() {
        let _ = writeln!(text, "  note     {}", provision.note);
    }
    let width = provision.pairs.iter().map(|pair| pair.old_rule.chars().count()).max();
    for pair in &provision.pairs {
        let width = width.unwrap_or_default();
        let _ = writeln!(
            text,
            "  r{:<width$} = s{} ({})",
            pair.old_rule,
            pair.section,
            pair.certainty.name()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_is_told_to_people_and_scripts() {
        let provisions = look_up("1995 r21.2, s161").unwrap();
        let texts: Vec<_> = provisions.iter().map(told).collect();
        let json: Vec<_> = provisions.iter().map(said).collect();
        insta::assert_snapshot!(format!(
            "{}\n{}",
            texts.join("\n"),
            serde_json::to_string_pretty(&json).unwrap()
        ));
    }
}
