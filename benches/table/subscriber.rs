//! A subscriber on a thread of its own, as bare as the client allows: each message with the time of its arrival.

use prost::Message;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{AsyncClient, Event as Happening, MqttOptions};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tablegate::table::event::{Body, Event, Status};

/// Receives one topic.
pub struct Subscriber {
    messages: mpsc::Receiver<(Vec<u8>, Instant)>,
}

/// Options of a client on the loopback broker.
pub fn options(name: &str, port: u16) -> MqttOptions {
    let mut options = MqttOptions::new(format!("{name}-{}", std::process::id()), "127.0.0.1", port);
    options.set_keep_alive(Duration::from_secs(60));
    options
}

impl Subscriber {
    pub fn start(port: u16, topic: &str) -> Subscriber {
        let (sender, messages) = mpsc::channel();
        let (ready, subscribed) = mpsc::channel();
        let topic = topic.to_owned();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let name = format!("bench-subscriber-{}", topic.replace('/', "-"));
                let (client, mut connection) = AsyncClient::new(options(&name, port), 64);
                client.subscribe(topic, QoS::AtLeastOnce).await.unwrap();
                while let Ok(event) = connection.poll().await {
                    match event {
                        Happening::Incoming(Packet::SubAck(_)) => ready.send(()).unwrap(),
                        Happening::Incoming(Packet::Publish(publish)) => {
                            let sent = sender.send((publish.payload.to_vec(), Instant::now()));
                            if sent.is_err() {
                                return;
                            }
                        }
                        _ => {}
                    }
                }
            });
        });
        subscribed.recv_timeout(Duration::from_secs(5)).expect("subscribed");
        Subscriber { messages }
    }

    /// Drops what has arrived so far.
    pub fn forget(&mut self) {
        while self.messages.try_recv().is_ok() {}
    }

    /// When the next message arrived.
    pub fn next(&mut self, within: Duration) -> (Vec<u8>, Instant) {
        self.messages.recv_timeout(within).expect("a message")
    }

    /// When the event of an entered result arrived.
    pub fn arrival_of_result(&mut self, within: Duration) -> Instant {
        loop {
            let (bytes, at) = self.next(within);
            if matches!(
                Event::decode(bytes.as_slice()).unwrap().body,
                Some(Body::ResultEntered(_))
            ) {
                return at;
            }
        }
    }

    /// When an online status arrived, and the newest event that it names. The retained one of the run before is offline.
    pub fn arrival_of_online(&mut self, within: Duration) -> (Instant, u64) {
        loop {
            let (bytes, at) = self.next(within);
            let status = Status::decode(bytes.as_slice()).unwrap();
            if status.online {
                return (at, status.head.map_or(0, |head| head.seqno));
            }
        }
    }
}
