//! A broker that a test scripts packet by packet: MQTT 5 bytes over TCP, made by hand, with every fault a test can think of.

use super::within;
use std::collections::VecDeque;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Listens on a free port.
pub struct Fake {
    listener: TcpListener,
    pub url: String,
}

impl Fake {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("mqtt://{}", listener.local_addr().unwrap());
        Fake { listener, url }
    }

    /// The next connection, nothing read from it yet.
    pub async fn accept(&self) -> Peer {
        let (stream, _) = within("a connection", self.listener.accept()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Peer {
            stream,
            bytes: Vec::new(),
            publishes: VecDeque::new(),
            connect: None,
        }
    }

    /// The next connection, taken, with the subscriptions answered.
    pub async fn greet(&self, receive_maximum: u16) -> Peer {
        let mut peer = self.accept().await;
        peer.take(&receive_maximum_property(receive_maximum)).await;
        peer.answer_subscriptions(&[]).await;
        peer
    }
}

/// CONNACK property "Receive Maximum".
pub fn receive_maximum_property(maximum: u16) -> Vec<u8> {
    [&[0x21][..], &maximum.to_be_bytes()].concat()
}

/// CONNACK property "Maximum Packet Size".
pub fn maximum_packet_property(maximum: u32) -> Vec<u8> {
    [&[0x27][..], &maximum.to_be_bytes()].concat()
}

/// A CONNECT as far as tests look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect {
    pub clean_start: bool,
    pub client_id: String,
    pub will: Option<(String, Vec<u8>)>,
}

/// A PUBLISH from the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    pub topic: String,
    pub pkid: u16,
    pub retained: bool,
    pub correlation: Option<Vec<u8>>,
    pub payload: Vec<u8>,
}

/// A packet from the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    Connect(Connect),
    Subscribe { pkid: u16, filters: Vec<(String, u8)> },
    Publish(Published),
    PubAck(u16),
    Ping,
    Disconnect,
    Closed,
}

/// One connection, from the broker's side.
pub struct Peer {
    pub stream: TcpStream,
    bytes: Vec<u8>,
    publishes: VecDeque<Published>,
    pub connect: Option<Connect>,
}

impl Peer {
    /// The next packet; pings are answered and not shown.
    pub async fn next(&mut self) -> Packet {
        loop {
            if let Some(packet) = self.parse() {
                if packet == Packet::Ping {
                    let _ = self.stream.write_all(&[0xd0, 0]).await;
                    continue;
                }
                return packet;
            }
            let mut buffer = [0; 4096];
            match within("bytes", self.stream.read(&mut buffer)).await {
                Ok(0) | Err(_) => return Packet::Closed,
                Ok(n) => self.bytes.extend_from_slice(&buffer[..n]),
            }
        }
    }

    /// Takes the connection with these CONNACK properties.
    pub async fn take(&mut self, properties: &[u8]) {
        match self.next().await {
            Packet::Connect(connect) => self.connect = Some(connect),
            other => panic!("{other:?} instead of CONNECT"),
        }
        self.connack(0, properties).await;
    }

    pub async fn connack(&mut self, reason: u8, properties: &[u8]) {
        let body = [&[0, reason, u8::try_from(properties.len()).unwrap()][..], properties].concat();
        self.send(0x20, &body).await;
    }

    /// Answers both subscriptions; `kept` are sent after the first as kept messages.
    pub async fn answer_subscriptions(&mut self, kept: &[(&str, Vec<u8>)]) {
        for round in 0..2 {
            match self.next().await {
                Packet::Subscribe { pkid, filters } => {
                    self.suback(pkid, &vec![1; filters.len()]).await;
                }
                other => panic!("{other:?} instead of SUBSCRIBE"),
            }
            if round == 0 {
                for (topic, payload) in kept {
                    self.publish(topic, payload, 1, &[]).await;
                }
            }
        }
    }

    pub async fn suback(&mut self, pkid: u16, codes: &[u8]) {
        self.send(0x90, &[&pkid.to_be_bytes()[..], &[0], codes].concat()).await;
    }

    pub async fn puback(&mut self, pkid: u16, reason: u8) {
        let body = [&pkid.to_be_bytes()[..], &[reason, 0]].concat();
        let body = if reason == 0 { &body[..2] } else { &body[..] };
        self.send(0x40, body).await;
    }

    /// A message to the client, QoS 0; `retain` is 0 or 1.
    pub async fn publish(&mut self, topic: &str, payload: &[u8], retain: u8, properties: &[u8]) {
        let length = u16::try_from(topic.len()).unwrap().to_be_bytes();
        let body = [
            &length[..],
            topic.as_bytes(),
            &varint(properties.len()),
            properties,
            payload,
        ]
        .concat();
        self.send(0x30 | retain, &body).await;
    }

    pub async fn disconnect(&mut self, reason: u8) {
        self.send(0xe0, &[reason, 0]).await;
    }

    /// Sends a packet; a client that has gone away doesn't matter.
    pub async fn send(&mut self, first: u8, body: &[u8]) {
        let packet = [&[first][..], &varint(body.len()), body].concat();
        let _ = self.stream.write_all(&packet).await;
    }

    /// The next PUBLISH, whatever its topic, not acknowledged; `None` when the client has closed the connection.
    pub async fn published(&mut self) -> Option<Published> {
        loop {
            match self.next().await {
                Packet::Publish(publish) => return Some(publish),
                Packet::Closed => return None,
                Packet::Disconnect | Packet::PubAck(_) => {}
                other => panic!("{other:?} instead of PUBLISH"),
            }
        }
    }

    /// The next PUBLISH on a topic that ends so; others are acknowledged.
    pub async fn published_on(&mut self, ending: &str) -> Option<Published> {
        loop {
            let publish = self.published().await?;
            if publish.topic.ends_with(ending) {
                return Some(publish);
            }
            self.puback(publish.pkid, 0).await;
        }
    }

    fn parse(&mut self) -> Option<Packet> {
        let (length, header) = remaining_length(self.bytes.get(1..)?)?;
        let total = 1 + header + length;
        if self.bytes.len() < total {
            return None;
        }
        let packet: Vec<u8> = self.bytes.drain(..total).collect();
        Some(packet_of(packet[0], &packet[1 + header..]))
    }
}

fn remaining_length(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(4).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value % 128).unwrap();
        value /= 128;
        bytes.push(if value > 0 { low | 0x80 } else { low });
        if value == 0 {
            return bytes;
        }
    }
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn u8(&mut self) -> u8 {
        let value = self.0[0];
        self.0 = &self.0[1..];
        value
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = usize::from(self.u16());
        let value = self.0[..length].to_vec();
        self.0 = &self.0[length..];
        value
    }

    fn text(&mut self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    /// Properties; the correlation data among them.
    fn properties(&mut self) -> Option<Vec<u8>> {
        let (length, header) = remaining_length(self.0).unwrap();
        let mut properties = Cursor(&self.0[header..header + length]);
        let mut correlation = None;
        while !properties.0.is_empty() {
            match properties.u8() {
                0x09 => correlation = Some(properties.bytes()),
                0x08 => drop(properties.bytes()),
                0x21 => drop(properties.u16()),
                0x11 | 0x27 => drop((properties.u16(), properties.u16())),
                other => panic!("property {other:#x}"),
            }
        }
        self.0 = &self.0[header + length..];
        correlation
    }
}

fn packet_of(first: u8, body: &[u8]) -> Packet {
    let mut cursor = Cursor(body);
    match first >> 4 {
        1 => {
            cursor.text();
            assert_eq!(cursor.u8(), 5, "MQTT 5");
            let flags = cursor.u8();
            cursor.u16();
            cursor.properties();
            let client_id = cursor.text();
            let will = (flags & 4 != 0).then(|| {
                cursor.properties();
                assert_eq!(flags & 0x38, 0x28, "the last will is retained, with QoS 1");
                (cursor.text(), cursor.bytes())
            });
            Packet::Connect(Connect {
                clean_start: flags & 2 != 0,
                client_id,
                will,
            })
        }
        3 => {
            let topic = cursor.text();
            assert_eq!(first & 6, 2, "everything goes out with QoS 1");
            let pkid = cursor.u16();
            let correlation = cursor.properties();
            Packet::Publish(Published {
                topic,
                pkid,
                retained: first & 1 != 0,
                correlation,
                payload: cursor.0.to_vec(),
            })
        }
        4 => Packet::PubAck(cursor.u16()),
        8 => {
            let pkid = cursor.u16();
            cursor.properties();
            let mut filters = Vec::new();
            while !cursor.0.is_empty() {
                let filter = cursor.text();
                filters.push((filter, cursor.u8()));
            }
            Packet::Subscribe { pkid, filters }
        }
        12 => Packet::Ping,
        14 => Packet::Disconnect,
        other => panic!("packet type {other}"),
    }
}
