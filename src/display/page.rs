//! Draws a [`Picture`] as HTML. Everything that comes from outside is escaped, whatever it is expected to be.

use std::fmt::Write;

use super::picture::{GameEnd, Lights, Moment, Picture, Round, Shown, Spun, outcome_words};

/// The page around the picture; nothing in it refers to another host.
const PAGE: &str = include_str!("page.html");

/// The whole page.
pub(super) fn whole(picture: &Picture, silence_ms: u128) -> String {
    // The picture goes in last: what it contains is never taken for a place to fill.
    PAGE.replace("{table}", &escaped(&picture.table))
        .replace("{silence_ms}", &silence_ms.to_string())
        .replace("{picture}", &drawn(picture))
}

/// What is inside the page's `main`, on one line: an event's data may not break.
pub(super) fn drawn(picture: &Picture) -> String {
    let mut html = String::with_capacity(4096);
    html.push_str("<header><span>");
    html.push_str(&escaped(&picture.game));
    html.push_str("</span><span>");
    html.push_str(&escaped(&picture.table));
    html.push_str("</span></header>");
    now(&mut html, &picture.moment, picture.spun.as_ref());
    html.push_str("<ol>");
    for round in &picture.rounds {
        ended(&mut html, round);
    }
    html.push_str("</ol>");
    html
}

fn now(html: &mut String, moment: &Moment, spun: Option<&Spun>) {
    html.push_str("<section class=\"now ");
    html.push_str(moment.class());
    html.push_str("\"><div class=\"words\">");
    html.push_str(moment.words());
    html.push_str("</div>");
    if let Moment::Result { faces } | Moment::LastResult { faces } = moment {
        html.push_str("<div class=\"dice\">");
        for face in faces {
            die(html, *face);
        }
        html.push_str("</div>");
        push(html, format_args!("<div class=\"total\">{}</div>", total(*faces)));
        if let Some(kind) = kind(*faces) {
            push(html, format_args!("<div class=\"kind\">{kind}</div>"));
        }
    }
    if let Some(spun) = spun {
        spins(html, spun);
    }
    html.push_str("</section>");
}

/// The last result of two-up, and the rows of its lights.
fn spins(html: &mut String, spun: &Spun) {
    if let Some(outcome) = spun.outcome {
        push(
            html,
            format_args!("<div class=\"outcome\">{}</div>", outcome_words(outcome)),
        );
    }
    html.push_str("<div class=\"lights\">");
    for row in &spun.rows {
        lights(html, row);
    }
    html.push_str("</div>");
    for card in &spun.cards {
        push(html, format_args!("<div class=\"card\">card: {}</div>", escaped(card)));
    }
}

fn lights(html: &mut String, row: &Lights) {
    push(html, format_args!("<div class=\"row\"><span>{}</span>", row.name));
    for place in 1..=row.of {
        let class = if place <= row.on { "light on" } else { "light" };
        push(html, format_args!("<i class=\"{class}\"></i>"));
    }
    html.push_str("</div>");
}

fn ended(html: &mut String, round: &Round) {
    match round.shown {
        Shown::Result { faces, amended } => {
            let [a, b, c] = faces;
            let mark = if amended { " *" } else { "" };
            push(
                html,
                format_args!(
                    "<li data-round=\"{}\"><b>{}</b><small>{a} {b} {c}{mark}</small></li>",
                    round.round_id,
                    total(faces)
                ),
            );
        }
        Shown::Game { end, last } => {
            let (class, words) = match end {
                GameEnd::Won => (" class=\"won\"", "won"),
                GameEnd::Lost => ("", "lost"),
                GameEnd::House => ("", "house"),
            };
            push(
                html,
                format_args!(
                    "<li{class} data-round=\"{}\"><b>{words}</b><small>{}</small></li>",
                    round.round_id,
                    last.map_or("", outcome_words)
                ),
            );
        }
        Shown::Void => push(
            html,
            format_args!(
                "<li class=\"no-spin\" data-round=\"{}\"><b>NO SPIN</b><small>void</small></li>",
                round.round_id
            ),
        ),
    }
}

/// Where a die's pips are, in a grid of 3 by 3 read row by row, one bit each, the first cell lowest.
const PIPS: [u16; 7] = [
    0,
    0b000_010_000,
    0b100_000_001,
    0b100_010_001,
    0b101_000_101,
    0b101_010_101,
    0b101_101_101,
];

fn die(html: &mut String, face: u8) {
    push(
        html,
        format_args!("<svg class=\"die\" viewBox=\"0 0 40 40\" role=\"img\" aria-label=\"{face}\">"),
    );
    let pips = PIPS.get(usize::from(face)).copied().unwrap_or(0);
    for cell in (0..9u16).filter(|cell| pips & (1 << cell) != 0) {
        let (x, y) = (9 + 11 * (cell % 3), 9 + 11 * (cell / 3));
        push(html, format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"4\"/>"));
    }
    html.push_str("</svg>");
}

fn total(faces: [u8; 3]) -> u16 {
    faces.iter().map(|face| u16::from(*face)).sum()
}

/// What players look for besides the total.
fn kind([a, b, c]: [u8; 3]) -> Option<&'static str> {
    if a == b && b == c {
        Some("triple")
    } else if a == b || b == c || a == c {
        Some("double")
    } else {
        None
    }
}

fn push(html: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String can't fail.
    let _ = html.write_fmt(text);
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // A line break would end the event's data; braces are places to fill.
            '{' => out.push_str("&#123;"),
            '}' => out.push_str("&#125;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(moment: Moment) -> Picture {
        Picture {
            table: "TS-07".into(),
            game: "Tai-sai".into(),
            moment,
            spun: None,
            rounds: vec![
                Round {
                    round_id: 9,
                    shown: Shown::Void,
                },
                Round {
                    round_id: 8,
                    shown: Shown::Result {
                        faces: [1, 3, 6],
                        amended: true,
                    },
                },
            ],
        }
    }

    #[test]
    fn a_result_shows_dice_total_and_kind() {
        let html = drawn(&picture(Moment::Result { faces: [3, 3, 4] }));
        assert!(html.contains("<div class=\"total\">10</div>"), "{html}");
        assert!(html.contains("double"), "{html}");
        assert_eq!(html.matches("<circle").count(), 3 + 3 + 4, "{html}");
    }

    #[test]
    fn every_face_has_as_many_pips_as_it_says() {
        for face in 1..=6u8 {
            assert_eq!(PIPS[usize::from(face)].count_ones(), u32::from(face));
        }
    }

    #[test]
    fn only_an_entered_result_shows_a_die() {
        for moment in [
            Moment::OutOfOrder,
            Moment::Closed,
            Moment::Opening,
            Moment::Test,
            Moment::Waiting,
            Moment::Tumbling,
            Moment::BetsOpen,
            Moment::NoMoreBets,
            Moment::Void,
            Moment::Held,
            Moment::Stopped,
            Moment::Offered,
            Moment::SpinnerChooses,
            Moment::SpinnerDecides,
        ] {
            let html = drawn(&picture(moment.clone()));
            assert!(!html.contains("class=\"die\""), "{moment:?}: {html}");
            assert!(html.contains(moment.words()), "{html}");
        }
    }

    #[test]
    fn void_and_amended_rounds_are_shown_as_such() {
        let html = drawn(&picture(Moment::BetsOpen));
        assert!(
            html.contains("<li class=\"no-spin\" data-round=\"9\"><b>NO SPIN</b>"),
            "{html}"
        );
        assert!(html.contains("<b>10</b><small>1 3 6 *</small>"), "{html}");
    }

    #[test]
    fn two_up_shows_its_last_result_lights_and_cards() {
        use crate::table::input::Outcome;
        let mut picture = picture(Moment::NoMoreBets);
        picture.spun = Some(Spun {
            outcome: Some(Outcome::TripleTails),
            rows: vec![Lights {
                name: "Heads",
                of: 3,
                on: 2,
            }],
            cards: vec!["heads_2".into()],
        });
        picture.rounds = vec![Round {
            round_id: 4,
            shown: Shown::Game {
                end: GameEnd::Won,
                last: Some(Outcome::Heads),
            },
        }];
        let html = drawn(&picture);
        assert!(html.contains("<div class=\"outcome\">Triple tails</div>"), "{html}");
        assert_eq!(html.matches("class=\"light on\"").count(), 2);
        assert_eq!(html.matches("class=\"light\"").count(), 1);
        assert!(html.contains("card: heads_2"), "{html}");
        assert!(
            html.contains("data-round=\"4\"><b>won</b><small>Heads</small>"),
            "{html}"
        );
    }

    #[test]
    fn names_from_outside_are_escaped_and_stay_on_one_line() {
        let mut picture = picture(Moment::Closed);
        picture.table = "<script>\n{picture}&\"'".into();
        let html = whole(&picture, 5000);
        assert!(html.contains("&lt;script&gt; &#123;picture&#125;&amp;&quot;&#39;"));
        assert_eq!(html.matches("id=\"picture\"").count(), 1);
        assert!(!drawn(&picture).contains('\n'));
    }

    #[test]
    fn the_page_refers_to_no_other_host() {
        let html = whole(&picture(Moment::Closed), 5000);
        for forbidden in ["http://", "https://", "//cdn", "@import", "url("] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        assert!(!html.contains("{silence_ms}"));
    }
}
