//! Everything that wakes the loop, in order of arrival. Knows nothing of what the inputs mean.
//!
//! Each source is a bounded queue with a slot for its oldest entry; the oldest of the slots goes first, and a deadline goes
//! before every input that is younger than it and after every input that is older.

use super::Refusal;
use crate::table::Table;
use crate::table::input::{Arrival, Input};
use crate::time::{Clock, Uptime};
use crate::uplink::Notice;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// An act of a person, and where the answer goes.
pub(crate) struct Asked {
    pub(crate) arrival: Arrival,
    /// Nobody waits for the answer of an input like "the connection is gone".
    pub(super) reply: Option<oneshot::Sender<Result<String, Refusal>>>,
}

/// Somebody wants a copy of the table, to try on it what would happen: what is possible now is found out on that copy, by whoever asked,
/// and the loop gives it away only while nothing else waits for it. No entry, and no lamp, waits for a menu.
pub(crate) struct Peek(pub(super) oneshot::Sender<Result<Table, Refusal>>);

impl Peek {
    /// Answers; whoever asked may have gone.
    pub(super) fn answer(self, table: Result<Table, Refusal>) {
        let _gone = self.0.send(table);
    }
}

/// What woke the loop.
pub(super) enum Wake {
    /// Something came in.
    Input(Asked),
    /// The uplink needs something of the journal's owner.
    Notice(Uptime, Notice),
    /// Somebody wants a copy of the table.
    Peek(Peek),
    /// Nothing came for a while: time for housekeeping, and a sign of life.
    Idle(Uptime),
    /// Stop cleanly.
    Stop,
}

/// A queue and its oldest entry.
struct Queue<T> {
    receiver: mpsc::Receiver<T>,
    oldest: Option<T>,
}

impl Asked {
    /// Answers, when somebody waits.
    pub(crate) fn answer(self, answer: Result<String, Refusal>) {
        if let Some(reply) = self.reply {
            // Whoever asked may have gone.
            let _gone = reply.send(answer);
        }
    }
}

impl<T> Queue<T> {
    fn new(receiver: mpsc::Receiver<T>) -> Self {
        Queue { receiver, oldest: None }
    }

    fn fill(&mut self) {
        if self.oldest.is_none() {
            self.oldest = self.receiver.try_recv().ok();
        }
    }

    /// Waits until there is one. Losing this future loses nothing. A queue whose senders are gone never wakes anybody.
    async fn wait(&mut self) {
        match self.receiver.recv().await {
            Some(entry) => self.oldest = Some(entry),
            None => std::future::pending().await,
        }
    }
}

/// The loop's sources.
pub(super) struct Inputs {
    clock: Arc<dyn Clock>,
    devices: Queue<Arrival>,
    people: Queue<Asked>,
    notices: Queue<Notice>,
    /// Only looked at when nothing else waits.
    peeks: Queue<Peek>,
    /// What was kept while nothing could be recorded; goes before everything else.
    kept: VecDeque<Wake>,
    stop: watch::Receiver<bool>,
    /// How often housekeeping is due, and when next.
    idle: Duration,
    idle_at: Uptime,
}

impl Inputs {
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        devices: mpsc::Receiver<Arrival>,
        people: mpsc::Receiver<Asked>,
        notices: mpsc::Receiver<Notice>,
        stop: watch::Receiver<bool>,
        idle: Duration,
    ) -> Self {
        Inputs {
            clock,
            devices: Queue::new(devices),
            people: Queue::new(people),
            notices: Queue::new(notices),
            peeks: Queue::new(mpsc::channel(1).1),
            kept: VecDeque::new(),
            stop,
            idle,
            idle_at: Uptime::ZERO,
        }
    }

    /// Copies of the table are asked for here.
    pub(super) fn with_peeks(mut self, peeks: mpsc::Receiver<Peek>) -> Self {
        self.peeks = Queue::new(peeks);
        self
    }

    /// Comes next, in this order, stamped as arriving now.
    pub(super) fn keep(&mut self, inputs: impl Iterator<Item = Input>, notices: impl Iterator<Item = Notice>) {
        let at = self.clock.uptime();
        let inputs = inputs.map(|input| {
            Wake::Input(Asked {
                arrival: Arrival { at, input },
                reply: None,
            })
        });
        self.kept
            .extend(inputs.chain(notices.map(|notice| Wake::Notice(at, notice))));
    }

    /// The next thing to look at. Losing this future loses nothing.
    pub(super) async fn next(&mut self, deadline: Option<Uptime>) -> Wake {
        let mut settled = false;
        loop {
            if *self.stop.borrow_and_update() {
                return Wake::Stop;
            }
            if let Some(kept) = self.kept.pop_front() {
                return kept;
            }
            let now = self.clock.uptime();
            if let Some(wake) = self.take_oldest(deadline, now) {
                return wake;
            }
            match deadline {
                // Whoever was woken together with this loop stamps and queues its input first.
                Some(at) if at <= now && !settled => {
                    settled = true;
                    tokio::task::yield_now().await;
                    continue;
                }
                Some(at) if at <= now => return deadline_reached(at),
                Some(_) | None => {}
            }
            let until = deadline.map_or(self.idle_at, |at| at.min(self.idle_at)).since(now);
            // Whoever wakes the loop, it looks at every queue, oldest first: no order here can make anybody wait for ever.
            tokio::select! {
                biased;
                () = self.devices.wait() => {}
                () = self.people.wait() => {}
                () = self.notices.wait() => {}
                () = self.peeks.wait() => {}
                stopped = self.stop.changed() => if stopped.is_err() { return Wake::Stop },
                () = tokio::time::sleep(until) => {}
            }
        }
    }

    /// `at`, or when the oldest input that waits arrived, if that was earlier: no time may pass for the table that something waiting to be
    /// heard belongs before.
    pub(super) fn not_past_what_waits(&mut self, at: Uptime) -> Uptime {
        self.devices.fill();
        self.people.fill();
        let device = self.devices.oldest.as_ref().map(|arrival| arrival.at);
        let person = self.people.oldest.as_ref().map(|asked| asked.arrival.at);
        [device, person].into_iter().flatten().fold(at, Uptime::min)
    }

    /// The oldest entry of all queues; the deadline or housekeeping when that is older still; `None` when nothing is due.
    fn take_oldest(&mut self, deadline: Option<Uptime>, now: Uptime) -> Option<Wake> {
        self.devices.fill();
        self.people.fill();
        self.notices.fill();
        self.peeks.fill();
        let device = self.devices.oldest.as_ref().map(|arrival| arrival.at);
        let person = self.people.oldest.as_ref().map(|asked| asked.arrival.at);
        let queued = [device, person].into_iter().flatten().min();
        let older_than_queued = |at: Uptime| queued.is_none_or(|oldest| at < oldest);
        if let (Some(at), Some(_)) = (deadline.filter(|at| older_than_queued(*at)), queued) {
            return Some(deadline_reached(at));
        }
        if self.idle_at <= now && older_than_queued(self.idle_at) {
            self.idle_at = now + self.idle;
            return Some(Wake::Idle(now));
        }
        match (device, person) {
            (Some(device), Some(person)) if person < device => self.people.oldest.take().map(Wake::Input),
            (Some(_), _) => {
                let arrival = self.devices.oldest.take()?;
                Some(Wake::Input(Asked { arrival, reply: None }))
            }
            (None, Some(_)) => self.people.oldest.take().map(Wake::Input),
            (None, None) => match self.notices.oldest.take() {
                Some(notice) => Some(Wake::Notice(now, notice)),
                None => self.peeks.oldest.take().map(Wake::Peek),
            },
        }
    }
}

fn deadline_reached(at: Uptime) -> Wake {
    Wake::Input(Asked {
        arrival: Arrival {
            at,
            input: Input::Deadline,
        },
        reply: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::clock::SystemClock;

    struct Sources {
        inputs: Inputs,
        clock: Arc<dyn Clock>,
        devices: mpsc::Sender<Arrival>,
        people: mpsc::Sender<Asked>,
        stop: watch::Sender<bool>,
        _notices: mpsc::Sender<Notice>,
    }

    fn sources() -> Sources {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let (devices, from_devices) = mpsc::channel(8);
        let (people, from_people) = mpsc::channel(8);
        let (notices, from_notices) = mpsc::channel(8);
        let (stop, stopped) = watch::channel(false);
        let idle = Duration::from_secs(5);
        let inputs = Inputs::new(clock.clone(), from_devices, from_people, from_notices, stopped, idle);
        Sources {
            inputs,
            clock,
            devices,
            people,
            stop,
            _notices: notices,
        }
    }

    fn arrival(ms: u64, connection: u64) -> Arrival {
        Arrival {
            at: Uptime::from_millis(ms),
            input: Input::OperatorGone { connection },
        }
    }

    async fn next(sources: &mut Sources, deadline: Option<u64>) -> String {
        match sources.inputs.next(deadline.map(Uptime::from_millis)).await {
            Wake::Input(asked) => {
                if let Input::OperatorGone { connection } = asked.arrival.input {
                    return format!("input {connection}");
                }
                assert_eq!(asked.arrival.input, Input::Deadline);
                format!("deadline {}", asked.arrival.at.as_micros() / 1000)
            }
            Wake::Notice(..) => "notice".into(),
            Wake::Peek(_) => "peek".into(),
            Wake::Idle(_) => "idle".into(),
            Wake::Stop => "stop".into(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn inputs_and_deadlines_go_in_the_order_of_their_times_whatever_queue_they_are_in() {
        let mut all = sources();
        tokio::time::advance(Duration::from_secs(1)).await;
        all.devices.send(arrival(30, 3)).await.unwrap();
        all.devices.send(arrival(50, 5)).await.unwrap();
        let asked = Asked {
            arrival: arrival(20, 2),
            reply: None,
        };
        all.people.send(asked).await.unwrap();
        assert_eq!(
            next(&mut all, Some(40)).await,
            "idle",
            "housekeeping is due since the start"
        );
        assert_eq!(next(&mut all, Some(40)).await, "input 2");
        assert_eq!(next(&mut all, Some(40)).await, "input 3");
        assert_eq!(next(&mut all, Some(40)).await, "deadline 40");
        assert_eq!(
            next(&mut all, Some(50)).await,
            "input 5",
            "an input as old as the deadline goes first"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_fires_at_its_time_when_nothing_comes() {
        let mut all = sources();
        assert_eq!(next(&mut all, None).await, "idle");
        assert_eq!(next(&mut all, Some(3000)).await, "deadline 3000");
        assert!(all.clock.uptime() >= Uptime::from_millis(3000));
        assert!(all.clock.uptime() < Uptime::from_millis(3010));
    }

    #[tokio::test(start_paused = true)]
    async fn an_input_stamped_before_the_deadline_by_a_task_that_wakes_with_it_goes_first() {
        let mut all = sources();
        let devices = all.devices.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(3000)).await;
            devices.send(arrival(2999, 7)).await.unwrap();
        });
        assert_eq!(next(&mut all, None).await, "idle");
        assert_eq!(next(&mut all, Some(3000)).await, "input 7");
        assert_eq!(next(&mut all, Some(3000)).await, "deadline 3000");
    }

    #[tokio::test(start_paused = true)]
    async fn the_gateways_own_time_does_not_pass_what_waits() {
        let mut all = sources();
        let ms = Uptime::from_millis;
        assert_eq!(all.inputs.not_past_what_waits(ms(40)), ms(40));
        all.devices.send(arrival(30, 3)).await.unwrap();
        assert_eq!(all.inputs.not_past_what_waits(ms(40)), ms(30));
        assert_eq!(all.inputs.not_past_what_waits(ms(20)), ms(20));
        let asked = Asked {
            arrival: arrival(25, 2),
            reply: None,
        };
        all.people.send(asked).await.unwrap();
        assert_eq!(all.inputs.not_past_what_waits(ms(40)), ms(25));
        assert_eq!(next(&mut all, None).await, "idle");
        assert_eq!(next(&mut all, None).await, "input 2", "nothing was taken");
    }

    #[tokio::test(start_paused = true)]
    async fn a_copy_of_the_table_is_given_away_when_nothing_else_waits() {
        let mut all = sources();
        assert_eq!(next(&mut all, None).await, "idle");
        let (ask, asked) = mpsc::channel(8);
        all.inputs = all.inputs.with_peeks(asked);
        for _ in 0..3 {
            ask.send(Peek(oneshot::channel().0)).await.unwrap();
        }
        for connection in 1..=3 {
            all.devices.send(arrival(30, connection)).await.unwrap();
        }
        let mut order = Vec::new();
        for _ in 0..4 {
            order.push(next(&mut all, None).await);
        }
        assert_eq!(order, ["input 1", "input 2", "input 3", "peek"]);
        // One that comes between two of them goes before the second.
        all.devices.send(arrival(40, 4)).await.unwrap();
        assert_eq!(next(&mut all, None).await, "input 4");
        assert_eq!(next(&mut all, None).await, "peek");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_wakes_the_loop_for_housekeeping_and_stop_wakes_it_at_once() {
        let mut all = sources();
        assert_eq!(next(&mut all, None).await, "idle");
        all.devices.send(arrival(1, 1)).await.unwrap();
        all.stop.send(true).unwrap();
        assert_eq!(next(&mut all, None).await, "stop");
    }
}
