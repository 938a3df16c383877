//! What a table shows drawn in text, what is lit standing out: in colour, or in brackets without. The layout of a tai-sai or sic-bo
//! table, or the result lights of two-up.

use crate::rules::tai_sai::Layout;
use crate::rules::two_up_dice::{Light, Spun};
use std::collections::BTreeSet;

/// How lit areas stand out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paint {
    /// Reversed and bright; the others dim.
    Colour,
    /// `[1-3]`.
    Plain,
}

/// Whose areas are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Board {
    /// Tai-sai's, with what they pay.
    TaiSai(Layout),
    /// Sic-bo's: what they pay is each casino's own.
    SicBo,
}

impl From<Layout> for Board {
    fn from(layout: Layout) -> Board {
        Board::TaiSai(layout)
    }
}

/// One row of areas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// What stands before it; empty: the row goes on.
    pub label: &'static str,
    /// Each area's id, and what is written on it.
    pub areas: Vec<(String, String)>,
    /// What they pay; empty: nothing is said of it.
    pub odds: &'static str,
}

/// Columns that a row's label takes.
pub const LABEL: usize = 8;

/// The picture, a line a row, each at most 56 columns wide.
#[must_use]
pub fn lines(board: impl Into<Board>, lit: &BTreeSet<String>, paint: Paint) -> Vec<String> {
    text(&drawn(board.into()), lit, paint)
}

/// What is drawn of a board, row by row.
fn drawn(board: Board) -> Vec<Row> {
    match board {
        Board::TaiSai(layout) => rows(layout),
        Board::SicBo => {
            let mut rows = rows(Layout::Appendix1);
            rows.iter_mut().for_each(|row| row.odds = "");
            rows
        }
    }
}

/// What is drawn of the table with this game and layout, as a view names them; of a two-up table its result lights.
#[must_use]
pub fn of_table(game: &str, layout: &str) -> Vec<Row> {
    match (game, layout) {
        ("tai-sai", "appendix-2") => rows(Layout::Appendix2),
        ("tai-sai", _) => rows(Layout::Appendix1),
        ("sic-bo", _) => drawn(Board::SicBo),
        _ => result_rows(),
    }
}

fn result_rows() -> Vec<Row> {
    Spun::ALL.into_iter().map(colour).collect()
}

/// Rows as text.
#[must_use]
pub fn text(rows: &[Row], lit: &BTreeSet<String>, paint: Paint) -> Vec<String> {
    rows.iter().map(|row| line(row, lit, paint)).collect()
}

/// The picture of the eleven result lights of two-up, a line a colour, as wide at most. `lit` has their names: "heads_2".
#[must_use]
pub fn result_lights(lit: &BTreeSet<String>, paint: Paint) -> Vec<String> {
    text(&result_rows(), lit, paint)
}

/// The lights of one colour.
fn colour(of: Spun) -> Row {
    let here = Light::ALL.into_iter().filter(|light| light.row() == of);
    Row {
        label: of.name(),
        areas: here.map(|light| (light.name(), light.place().to_string())).collect(),
        odds: "",
    }
}

fn line(row: &Row, lit: &BTreeSet<String>, paint: Paint) -> String {
    let mut text = format!("{:>LABEL$} ", row.label);
    for (id, written) in &row.areas {
        let cell = match (paint, lit.contains(id)) {
            (Paint::Colour, true) => format!("\x1b[1;30;43m {written} \x1b[0m"),
            (Paint::Colour, false) => format!("\x1b[2m {written} \x1b[0m"),
            (Paint::Plain, true) => format!("[{written}]"),
            (Paint::Plain, false) => format!(" {written} "),
        };
        text.push_str(&cell);
    }
    match paint {
        _ if row.odds.is_empty() => {}
        Paint::Colour => text.push_str(&format!(" \x1b[2m{}\x1b[0m", row.odds)),
        Paint::Plain => text.push_str(&format!(" {}", row.odds)),
    }
    text.truncate(text.trim_end().len());
    text
}

fn rows(layout: Layout) -> Vec<Row> {
    let own = |id: &str, written: &str| (id.to_owned(), written.to_owned());
    let each = |of: &str, join: &str| -> Vec<(String, String)> {
        (1..=6)
            .map(|n| (format!("{of}_{n}"), join.replace('n', &n.to_string())))
            .collect()
    };
    let totals = |from: u8, to: u8| {
        (from..=to)
            .map(|t| (format!("total_{t}"), format!("{t:>2}")))
            .collect::<Vec<_>>()
    };
    let pairs: Vec<(String, String)> = (1..=5)
        .flat_map(|a| (a + 1..=6).map(move |b| (format!("pair_{a}_{b}"), format!("{a}-{b}"))))
        .collect();
    let mut even_money = vec![own("small", "SMALL 4-10"), own("big", "BIG 11-17")];
    if layout == Layout::Appendix2 {
        even_money.extend([own("odd", "ODD"), own("even", "EVEN")]);
    }
    let mut triples = each("triple", "nnn");
    triples.push(own("any_triple", "ANY"));
    let (first_pairs, last_pairs) = pairs.split_at(8);
    let mut rows = vec![
        Row {
            label: "",
            areas: even_money,
            odds: "1:1",
        },
        Row {
            label: "triples",
            areas: triples,
            odds: "180:1, 31:1",
        },
        Row {
            label: "doubles",
            areas: each("double", "nn"),
            odds: "11:1",
        },
        Row {
            label: "totals",
            areas: totals(4, 10),
            odds: "62 to 6:1",
        },
        Row {
            label: "",
            areas: totals(11, 17),
            odds: "6 to 62:1",
        },
        Row {
            label: "pairs",
            areas: first_pairs.to_vec(),
            odds: "6:1",
        },
        Row {
            label: "",
            areas: last_pairs.to_vec(),
            odds: "",
        },
        Row {
            label: "faces",
            areas: each("face", "n"),
            odds: "1, 2, 12:1",
        },
    ];
    if layout == Layout::Appendix2 {
        let fours = ["6543", "6532", "5432", "4321"].map(|four| (format!("four_{four}"), four.to_owned()));
        rows.push(Row {
            label: "fours",
            areas: fours.to_vec(),
            odds: "7:1",
        });
        for (at, trios) in trios().chunks(8).enumerate() {
            let label = if at == 0 { "trios" } else { "" };
            let odds = if at == 0 { "60:1" } else { "" };
            rows.push(Row {
                label,
                areas: trios.to_vec(),
                odds,
            });
        }
    }
    rows
}

/// The trios of Appendix 2 in numeric order: three numbers that aren't all the same.
fn trios() -> Vec<(String, String)> {
    let mut trios = Vec::new();
    for a in 1..=6u8 {
        for b in a..=6 {
            for c in b..=6 {
                if a != c {
                    trios.push((format!("trio_{a}_{b}_{c}"), format!("{a}{b}{c}")));
                }
            }
        }
    }
    trios
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tai_sai;

    #[test]
    fn every_area_of_both_layouts_is_drawn_once() {
        for layout in [Layout::Appendix1, Layout::Appendix2] {
            let mut drawn: Vec<String> = rows(layout)
                .into_iter()
                .flat_map(|row| row.areas)
                .map(|(id, _)| id)
                .collect();
            let mut areas: Vec<String> = tai_sai::areas(layout).iter().map(|id| (*id).to_owned()).collect();
            drawn.sort();
            areas.sort();
            assert_eq!(drawn, areas);
        }
    }

    #[test]
    fn sic_bo_shows_its_areas_and_no_odds() {
        let drawn = lines(Board::SicBo, &BTreeSet::from(["big".to_owned()]), Paint::Plain).join("\n");
        assert!(drawn.contains("[BIG 11-17]") && drawn.contains("222"), "{drawn}");
        assert!(!drawn.contains(":1"), "{drawn}");
    }

    #[test]
    fn lit_areas_stand_out_without_colour() {
        let lit: BTreeSet<String> = tai_sai::winners([1, 3, 6], Layout::Appendix1)
            .iter()
            .map(|w| w.id.to_owned())
            .collect();
        insta::assert_snapshot!(lines(Layout::Appendix1, &lit, Paint::Plain).join("\n"));
    }

    #[test]
    fn every_result_light_is_drawn_and_those_that_are_lit_stand_out() {
        let lit = ["heads_1", "tails_2", "odds_5"].map(str::to_owned).into();
        assert_eq!(
            result_lights(&lit, Paint::Plain),
            ["   heads [1] 2  3", "   tails  1 [2] 3", "    odds  1  2  3  4 [5]"]
        );
        let colours = result_lights(&lit, Paint::Colour).join("\n");
        assert_eq!(colours.matches("\x1b[1;30;43m").count(), 3);
        assert_eq!(colours.matches("\x1b[2m").count(), 8);
    }

    #[test]
    fn a_picture_fits_beside_the_readout() {
        for layout in [Layout::Appendix1, Layout::Appendix2] {
            for line in lines(layout, &BTreeSet::new(), Paint::Plain) {
                assert!(line.chars().count() <= 56, "{} columns: {line}", line.chars().count());
            }
        }
    }
}
