//! The gateway's end of its connections to the simulated broker.

use super::{Broker, Client, Deed, NETWORK_MS, Standing};
use crate::sim::faults::eyes::hold;
use crate::sim::faults::life::{Life, Pulse};
use crate::sim::faults::trace::Connection;
use crate::uplink::exchange::{ConnectError, ConnectOptions, Loss, Publication, Signal, Stuck, Subscription};
use crate::uplink::{Brokers, Connected, Reads};
use prost::bytes::Bytes;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Publishes that a client's queue takes while the broker reads none.
const HAND_OVER: usize = 32;

/// The way to the broker, for one run of the gateway.
pub(in super::super) struct Ways {
    broker: Arc<Broker>,
    life: Arc<Life>,
}

impl Ways {
    pub(in super::super) fn new(broker: Arc<Broker>, life: Arc<Life>) -> Self {
        Ways { broker, life }
    }
}

impl Brokers for Ways {
    fn connect(&self, options: &ConnectOptions) -> Result<Box<dyn Connected>, ConnectError> {
        let (say, signals) = mpsc::unbounded_channel();
        let inner = &mut *hold(&self.broker.inner);
        inner.connections += 1;
        let connection = inner.connections;
        if self.life.step() == Pulse::Alive {
            let will = options.will.clone();
            inner.clients.insert(
                connection,
                Client {
                    say,
                    will: will.map(|(topic, payload)| (topic, Bytes::from(payload))),
                    topics: BTreeSet::new(),
                    standing: Standing::Knocking,
                    acknowledged: Instant::now(),
                    mute: false,
                },
            );
            let at = inner.later(NETWORK_MS);
            inner.put(at, Deed::Accept(connection));
        }
        self.broker.stir.notify_one();
        Ok(Box::new(Way {
            connection,
            signals,
            broker: Arc::clone(&self.broker),
            life: Arc::clone(&self.life),
            packets: Mutex::new(Packets {
                next: 1,
                arrives: Instant::now(),
            }),
        }))
    }

    fn chance(&self) -> f64 {
        let drawn = hold(&self.broker.inner).chance.below(1000);
        f64::from(u16::try_from(drawn).unwrap_or(0)) / 1000.0
    }

    fn reads(&self) -> Reads {
        Reads::AtOnce
    }

    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        self.life.run(task)
    }
}

/// What a client's end knows of its packets.
struct Packets {
    next: u16,
    /// When the newest arrives: they keep their order.
    arrives: Instant,
}

/// The gateway's end of a connection.
struct Way {
    connection: Connection,
    signals: mpsc::UnboundedReceiver<Signal>,
    broker: Arc<Broker>,
    life: Arc<Life>,
    packets: Mutex<Packets>,
}

impl Way {
    /// Sends a packet; the broker does this when it arrives.
    fn send(&self, deed: Deed) {
        let inner = &mut *hold(&self.broker.inner);
        let mut packets = hold(&self.packets);
        let at = inner.later(NETWORK_MS).max(packets.arrives);
        packets.arrives = at;
        inner.put(at, deed);
        self.broker.stir.notify_one();
    }
}

impl Connected for Way {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Signal> {
        if self.life.pulse() == Pulse::Dead {
            return Poll::Pending;
        }
        let signal = std::task::ready!(self.signals.poll_recv(cx));
        if self.life.step() == Pulse::Dead {
            return Poll::Pending;
        }
        let ended = || Signal::Lost(Loss::Broken("the connection has ended".to_owned()));
        Poll::Ready(signal.unwrap_or_else(ended))
    }

    fn publish(&self, publication: Publication) -> Result<(), Stuck> {
        if self.life.step() == Pulse::Dead {
            return Ok(());
        }
        let pkid = {
            let mut packets = hold(&self.packets);
            let pkid = packets.next;
            packets.next = pkid.checked_add(1).unwrap_or(1);
            pkid
        };
        {
            let inner = hold(&self.broker.inner);
            let under_way = inner
                .deeds
                .values()
                .filter(|deed| matches!(deed, Deed::Take(of, ..) if *of == self.connection));
            if under_way.count() >= HAND_OVER {
                return Err(Stuck);
            }
            if let Some(client) = inner.clients.get(&self.connection) {
                let _ = client.say.send(Signal::Sent(pkid));
            }
        }
        self.send(Deed::Take(self.connection, pkid, publication));
        Ok(())
    }

    fn subscribe(&self, subscriptions: &[Subscription]) -> Result<(), Stuck> {
        if self.life.step() == Pulse::Alive {
            let filters = subscriptions.iter().map(|subscription| subscription.filter.clone());
            self.send(Deed::Subscribe(self.connection, filters.collect()));
        }
        Ok(())
    }

    fn disconnect(&self) -> Result<(), Stuck> {
        if self.life.step() == Pulse::Alive {
            self.send(Deed::Bye(self.connection));
        }
        Ok(())
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.broker.dropped(self.connection);
    }
}
