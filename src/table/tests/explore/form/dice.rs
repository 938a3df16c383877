//! The canonical form of dice in play.

use super::{Form, Formed, NO_WAIT};
use crate::table::dice::phase::{
    After, BetsShut, Betting, Entered, Held, InSight, Landed, Phase, Proof, Ready, Round, Tumbling,
};
use crate::table::event::Area;
use crate::table::input::Contact;

impl Formed for Phase {
    fn form(&self, f: &mut Form<'_>) {
        match self {
            Phase::Ready(ready) => {
                f.byte(10);
                ready.form(f);
            }
            Phase::Tumbling(tumbling) => {
                f.byte(11);
                let Tumbling {
                    round,
                    base,
                    quiet_since,
                } = tumbling;
                round.form(f);
                f.byte(u8::from(base.is_some()));
                base.iter().for_each(|base| f.count(*base));
                f.age(*quiet_since, 3_000);
            }
            Phase::Betting(betting) => {
                f.byte(12);
                let Betting {
                    round,
                    opened_at,
                    bell,
                    unbroken,
                } = betting;
                round.form(f);
                f.age(*opened_at, 2_000);
                f.contact(Contact::Bell, *bell);
                unbroken.form(f);
            }
            Phase::Closed(shut) => {
                f.byte(13);
                let BetsShut { round, closed_at, open } = shut;
                round.form(f);
                f.age(*closed_at, NO_WAIT);
                f.byte(u8::from(open.is_some()));
                if let Some(InSight { base, quiet_since }) = open {
                    f.byte(u8::from(base.is_some()));
                    base.iter().for_each(|base| f.count(*base));
                    f.age(*quiet_since, 3_000);
                }
            }
            Phase::Landed(landed) => {
                f.byte(14);
                let Landed { round, uncovered_at } = landed;
                round.form(f);
                f.age(*uncovered_at, 300);
            }
            Phase::Entered(entered) => {
                f.byte(15);
                entered.form(f);
            }
        }
    }
}

impl Formed for Ready {
    fn form(&self, f: &mut Form<'_>) {
        let Ready { base, watched, after } = self;
        f.byte(u8::from(base.is_some()));
        base.iter().for_each(|base| f.count(*base));
        watched.form(f);
        match after {
            After::Nothing => f.byte(0),
            After::Settled => f.byte(1),
            After::Provisional(entered) => {
                f.byte(2);
                f.over(|f| entered.form(f));
            }
            After::Voided => f.byte(3),
            After::Withdrawable { reason, before } => {
                f.byte(4);
                f.byte(*reason as u8);
                if self.after.wants_a_bell() {
                    before.form(f);
                } else {
                    f.over(|f| before.form(f));
                }
            }
            After::Abandoned => f.byte(5),
        }
    }
}

impl Formed for Round {
    fn form(&self, f: &mut Form<'_>) {
        let Round {
            id,
            game,
            style,
            layout,
            counters,
            spins,
            held,
            resumed,
        } = self;
        f.round(*id);
        f.text(game);
        f.text(style);
        f.text(layout);
        f.byte(u8::from(counters.is_some()));
        counters.iter().for_each(|count| f.count(*count));
        f.spins(*spins);
        f.byte(u8::from(held.is_some()));
        if let Some(Held {
            cause,
            pressed,
            read_faces,
        }) = held
        {
            cause.form(f);
            pressed.form(f);
            read_faces.form(f);
        }
        resumed.form(f);
    }
}

impl Formed for Entered {
    fn form(&self, f: &mut Form<'_>) {
        let Entered {
            round,
            pressed,
            faces,
            areas,
            lit,
            call,
            entered_at,
            proof,
            fault_declared,
            lamps_settled_at,
            reopened,
        } = self;
        round.form(f);
        pressed.form(f);
        faces.form(f);
        areas.len().form(f);
        for Area { id, pays: _, per: _ } in areas {
            f.text(id);
        }
        f.slice(lit);
        f.text(call);
        f.age(*entered_at, 5_000);
        match proof {
            Proof::Waiting(since) => {
                f.byte(0);
                f.age(*since, 5_000);
            }
            Proof::Lit => f.byte(1),
        }
        fault_declared.form(f);
        f.byte(u8::from(lamps_settled_at.is_some()));
        reopened.form(f);
    }
}
