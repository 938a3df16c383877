//! One connection to a broker, and the one file that names the MQTT client.
//!
//! The client is disposable: its own reconnect loses what was unacknowledged, mixes up acknowledgements of two connections
//! and keeps a list without bound, so a connection here is made once and dropped at the first doubt. One task owns the
//! client's `poll`; nobody cancels it but the end of the connection, and it never waits for the publishing side's hand-over.
//! `poll` has a time limit from outside, because the client has none while the peer doesn't read.

use super::address::Transport;
use super::exchange::{
    Brokers, ConnectError, ConnectOptions, Connected, KeptMessages, Loss, Message, Publication, Quality, ReasonName,
    Retention, Signal, Stuck, Subscription, Terms, Verdict,
};
use super::reading::Reads;
use super::tls::{self, Witness};
use rumqttc::v5::mqttbytes::Error as PacketError;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{
    ConnAck, ConnectProperties, ConnectReturnCode, DisconnectReasonCode, Filter, LastWill, Packet, PubAckReason,
    Publish, PublishProperties, RetainForwardRule, SubscribeReasonCode,
};
use rumqttc::v5::{AsyncClient, ConnectionError, Event, EventLoop, MqttOptions, StateError};
use rumqttc::{NetworkOptions, Outgoing, TlsConfiguration};
use std::future::{Future, poll_fn};
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Name look-up, TCP, TLS and CONNACK together. A broker on a floor's network answers in a fraction of this.
pub const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Asked of the broker; it may ask for less. The client pings this often and takes a missing answer to a ping for the end at
/// the next, so a broker that accepts bytes and says nothing is noticed within twice this.
pub const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// The client's `poll` yields at least at every ping. When it doesn't, it hangs in a write to a peer that doesn't read.
pub const POLL_GRACE: Duration = Duration::from_secs(5);
/// The client keeps a slot for every packet id it may use: with its default of 65535 these alone are 13 MB.
const IN_FLIGHT_UPPER_LIMIT: u16 = 64;
/// The window, the subscriptions and the disconnect: the hand-over to the client never waits, and is an error when it would.
const HAND_OVER: usize = 32;
/// What the client said and nobody has looked at yet. When it is full, reading from the broker pauses.
const SIGNALS: usize = 32;
/// Messages that the broker may send before the first is acknowledged.
const RECEIVE_MAXIMUM: u16 = 16;
/// Largest packet the broker may send; a broker drops what is larger. A request that is too large for us but not for this
/// gets an answer that says so.
pub const MAX_PACKET: u32 = 256 * 1024;

/// Real brokers, real chance.
#[derive(Clone, Copy, Debug)]
pub struct MqttBrokers;

impl Brokers for MqttBrokers {
    fn connect(&self, options: &ConnectOptions) -> Result<Box<dyn Connected>, ConnectError> {
        Ok(Box::new(Connection::open(options)?))
    }

    fn chance(&self) -> f64 {
        rand::random()
    }

    fn reads(&self) -> Reads {
        Reads::OnAThread
    }

    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        tokio::spawn(task)
    }
}

/// One connection. Dropped, it is cut without a DISCONNECT, and the broker publishes the last will.
pub struct Connection {
    client: AsyncClient,
    signals: mpsc::Receiver<Signal>,
    polling: JoinHandle<()>,
}

impl Connection {
    /// Begins to connect. Must be called within a runtime; [`Signal::Connected`] or [`Signal::Lost`] follows within
    /// [`CONNECT_WITHIN`] and [`POLL_GRACE`].
    ///
    /// # Errors
    ///
    /// When the TLS texts are unusable.
    pub fn open(options: &ConnectOptions) -> Result<Self, ConnectError> {
        let (options, witness) = mqtt_options(options)?;
        let (client, event_loop) = AsyncClient::new(options, HAND_OVER);
        let (say, signals) = mpsc::channel(SIGNALS);
        let polling = tokio::spawn(poll(event_loop, witness, say));
        Ok(Connection {
            client,
            signals,
            polling,
        })
    }

    /// What happened next. After the end it says that the connection is lost, again and again.
    pub async fn next(&mut self) -> Signal {
        poll_fn(|cx| self.poll_next(cx)).await
    }
}

impl Connected for Connection {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Signal> {
        self.signals
            .poll_recv(cx)
            .map(|signal| signal.unwrap_or_else(|| Signal::Lost(Loss::Broken("the MQTT client ended".to_owned()))))
    }

    fn publish(&self, publication: Publication) -> Result<(), Stuck> {
        let properties = PublishProperties {
            response_topic: publication.response_topic,
            correlation_data: publication.correlation,
            ..PublishProperties::default()
        };
        let retain = publication.retained == Retention::Kept;
        let (topic, payload) = (publication.topic, publication.payload);
        let handed = if properties == PublishProperties::default() {
            self.client.try_publish(topic, QoS::AtLeastOnce, retain, payload)
        } else {
            self.client
                .try_publish_with_properties(topic, QoS::AtLeastOnce, retain, payload, properties)
        };
        handed.map_err(|_| Stuck)
    }

    fn subscribe(&self, subscriptions: &[Subscription]) -> Result<(), Stuck> {
        let filters = subscriptions.iter().map(|subscription| {
            let quality = match subscription.quality {
                Quality::AtMostOnce => QoS::AtMostOnce,
                Quality::AtLeastOnce => QoS::AtLeastOnce,
            };
            let mut filter = Filter::new(&subscription.filter, quality);
            match subscription.retained {
                KeptMessages::Wanted => {}
                KeptMessages::Never => {
                    filter.retain_forward_rule = RetainForwardRule::Never;
                    // Else a broker hides from those who are connected that a message was sent to be kept.
                    filter.preserve_retain = true;
                    filter.nolocal = true;
                }
            }
            filter
        });
        self.client.try_subscribe_many(filters).map_err(|_| Stuck)
    }

    fn disconnect(&self) -> Result<(), Stuck> {
        self.client.try_disconnect().map_err(|_| Stuck)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.polling.abort();
    }
}

fn mqtt_options(options: &ConnectOptions) -> Result<(MqttOptions, Option<Arc<Witness>>), ConnectError> {
    let address = &options.address;
    let host = match address.transport {
        Transport::Plain if address.host.contains(':') => format!("[{}]", address.host),
        Transport::Plain | Transport::Tls => address.host.clone(),
    };
    let mut mqtt = MqttOptions::new(&options.client_id, host, address.port);
    mqtt.set_clean_start(true)
        .set_keep_alive(KEEP_ALIVE)
        .set_connection_timeout(CONNECT_WITHIN.as_secs())
        .set_outgoing_inflight_upper_limit(IN_FLIGHT_UPPER_LIMIT);
    let mut properties = ConnectProperties::new();
    properties.receive_maximum = Some(RECEIVE_MAXIMUM);
    properties.max_packet_size = Some(MAX_PACKET);
    mqtt.set_connect_properties(properties);
    let mut network = NetworkOptions::new();
    network.set_tcp_nodelay(true);
    mqtt.set_network_options(network);
    if let Some((name, password)) = &options.login {
        mqtt.set_credentials(name, password);
    }
    if let Some((topic, payload)) = &options.will {
        mqtt.set_last_will(LastWill::new(topic, payload.clone(), QoS::AtLeastOnce, true, None));
    }
    let mut witness = None;
    if address.transport == Transport::Tls {
        let texts = options.tls.as_ref().ok_or_else(|| ConnectError::NoCa {
            address: address.clone(),
        })?;
        let secured = tls::secure(texts)?;
        let config = TlsConfiguration::Rustls(secured.config);
        mqtt.set_transport(rumqttc::Transport::tls_with_config(config));
        witness = Some(secured.witness);
    }
    Ok((mqtt, witness))
}

/// Polls to the end of the connection, and says what happened.
async fn poll(mut event_loop: EventLoop, witness: Option<Arc<Witness>>, say: mpsc::Sender<Signal>) {
    // Of use until the broker has taken the connection.
    let mut witness = witness;
    let mut limit = CONNECT_WITHIN.saturating_add(POLL_GRACE);
    loop {
        let signal = match tokio::time::timeout(limit, event_loop.poll()).await {
            Ok(Ok(event)) => signal_of(event),
            Ok(Err(error)) => {
                let secured = witness.as_deref().and_then(|witness| not_secured(witness, &error));
                Some(Signal::Lost(secured.unwrap_or_else(|| loss_of(&error))))
            }
            Err(_) => {
                let text = format!("the broker read nothing for {} s", limit.as_secs());
                Some(Signal::Lost(Loss::Broken(text)))
            }
        };
        let Some(signal) = signal else { continue };
        if matches!(signal, Signal::Connected(_)) {
            witness = None;
            // A broker may ask for fewer pings, or none: then a dead peer would be noticed late, or never.
            let asked = event_loop.options.keep_alive();
            if asked.is_zero() || asked > KEEP_ALIVE {
                event_loop.options.set_keep_alive(KEEP_ALIVE);
            }
            // The client's first ping still comes at the time that the broker asked for.
            limit = asked.max(KEEP_ALIVE).saturating_add(POLL_GRACE);
        }
        let is_over = matches!(signal, Signal::Lost(_));
        if say.send(signal).await.is_err() || is_over {
            return;
        }
    }
}

fn signal_of(event: Event) -> Option<Signal> {
    match event {
        Event::Incoming(packet) => signal_of_packet(packet),
        Event::Outgoing(outgoing) => match outgoing {
            Outgoing::Publish(pkid) => Some(Signal::Sent(pkid)),
            Outgoing::AwaitAck(pkid) => Some(Signal::Lost(Loss::Broken(format!("packet id {pkid} is still in use")))),
            Outgoing::Disconnect => Some(Signal::Disconnected),
            Outgoing::Subscribe(_)
            | Outgoing::Unsubscribe(_)
            | Outgoing::PubAck(_)
            | Outgoing::PubRec(_)
            | Outgoing::PubRel(_)
            | Outgoing::PubComp(_)
            | Outgoing::PingReq
            | Outgoing::PingResp => None,
        },
    }
}

fn signal_of_packet(packet: Packet) -> Option<Signal> {
    match packet {
        Packet::ConnAck(connack) => Some(Signal::Connected(terms_of(&connack))),
        Packet::PubAck(puback) => Some(Signal::Acknowledged(puback.pkid, verdict_of(puback.reason))),
        Packet::SubAck(suback) => Some(Signal::Subscribed(
            suback.return_codes.iter().filter_map(subscription_refused).collect(),
        )),
        Packet::Publish(publish) => Some(Signal::Message(message_of(publish))),
        // The client ends the connection after this one, and says why.
        Packet::Disconnect(_)
        | Packet::Auth(_)
        | Packet::Connect(..)
        | Packet::PubRec(_)
        | Packet::PubRel(_)
        | Packet::PubComp(_)
        | Packet::Subscribe(_)
        | Packet::Unsubscribe(_)
        | Packet::UnsubAck(_)
        | Packet::PingReq(_)
        | Packet::PingResp(_) => None,
    }
}

fn terms_of(connack: &ConnAck) -> Terms {
    let properties = connack.properties.as_ref();
    Terms {
        receive_maximum: properties.and_then(|p| p.receive_max).unwrap_or(u16::MAX),
        max_packet: properties.and_then(|p| p.max_packet_size),
        retains: properties.and_then(|p| p.retain_available) != Some(0),
        takes_qos1: properties.and_then(|p| p.max_qos) != Some(0),
    }
}

fn message_of(publish: Publish) -> Message {
    let (response_topic, correlation) = match publish.properties {
        Some(properties) => (properties.response_topic, properties.correlation_data),
        None => (None, None),
    };
    Message {
        topic: String::from_utf8_lossy(&publish.topic).into_owned(),
        retained: publish.retain,
        payload: publish.payload,
        response_topic,
        correlation,
    }
}

fn verdict_of(reason: PubAckReason) -> Verdict {
    match reason {
        PubAckReason::Success => Verdict::Taken,
        PubAckReason::NoMatchingSubscribers => Verdict::Unheard,
        PubAckReason::PayloadFormatInvalid => Verdict::PayloadRefused,
        PubAckReason::PacketIdentifierInUse => Verdict::Confused,
        PubAckReason::UnspecifiedError => Verdict::Refused("unspecified error"),
        PubAckReason::ImplementationSpecificError => Verdict::Refused("implementation specific error"),
        PubAckReason::NotAuthorized => Verdict::Refused("not authorized"),
        PubAckReason::TopicNameInvalid => Verdict::Refused("topic name invalid"),
        PubAckReason::QuotaExceeded => Verdict::Refused("quota exceeded"),
    }
}

fn subscription_refused(code: &SubscribeReasonCode) -> Option<ReasonName> {
    match code {
        SubscribeReasonCode::Success(_) => None,
        SubscribeReasonCode::Failure | SubscribeReasonCode::Unspecified => Some("unspecified error"),
        SubscribeReasonCode::ImplementationSpecific => Some("implementation specific error"),
        SubscribeReasonCode::NotAuthorized => Some("not authorized"),
        SubscribeReasonCode::TopicFilterInvalid => Some("topic filter invalid"),
        SubscribeReasonCode::PkidInUse => Some("packet identifier in use"),
        SubscribeReasonCode::QuotaExceeded => Some("quota exceeded"),
        SubscribeReasonCode::SharedSubscriptionsNotSupported => Some("shared subscriptions not supported"),
        SubscribeReasonCode::SubscriptionIdNotSupported => Some("subscription identifiers not supported"),
        SubscribeReasonCode::WildcardSubscriptionsNotSupported => Some("wildcard subscriptions not supported"),
    }
}

/// A connection that TLS ended before the broker took it, or that the broker refused whatever its certificate says.
fn not_secured(witness: &Witness, error: &ConnectionError) -> Option<Loss> {
    let io = match error {
        ConnectionError::ConnectionRefused(code) => {
            return match connection_refused(*code) {
                Loss::Refused(text) => Some(Loss::Refused(match witness.own() {
                    Some(own) => format!("{text}; the table showed {}", own.replacen("the table's", "its", 1)),
                    None => text,
                })),
                Loss::Broken(_) | Loss::Certificate(_) | Loss::HungUp(_) | Loss::TakenOver(_) | Loss::TooLarge(_) => {
                    None
                }
            };
        }
        ConnectionError::Tls(rumqttc::TlsError::TLS(error)) => return witness.explain(error).map(Loss::Certificate),
        ConnectionError::Tls(rumqttc::TlsError::Io(io))
        | ConnectionError::Io(io)
        | ConnectionError::MqttState(StateError::Io(io) | StateError::Deserialization(PacketError::Io(io))) => io,
        ConnectionError::MqttState(StateError::ConnectionAborted) => {
            return witness.hung_up().map(Loss::HungUp);
        }
        ConnectionError::MqttState(_)
        | ConnectionError::Tls(_)
        | ConnectionError::Timeout(_)
        | ConnectionError::NotConnAck(_)
        | ConnectionError::RequestsDone => return None,
    };
    let tls = io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let cut = matches!(
        io.kind(),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof
    );
    match tls {
        Some(error) => witness.explain(error).map(Loss::Certificate),
        None if cut => witness.hung_up().map(Loss::HungUp),
        None => None,
    }
}

/// Reason code "packet too large", which the client knows in a DISCONNECT and not in a PUBACK.
const PACKET_TOO_LARGE: u8 = 0x95;

fn loss_of(error: &ConnectionError) -> Loss {
    match error {
        ConnectionError::ConnectionRefused(code) => connection_refused(*code),
        ConnectionError::MqttState(StateError::ServerDisconnect {
            reason_code,
            reason_string,
        }) => disconnected(*reason_code, reason_string.as_deref()),
        // The client reports an unknown reason in a PUBACK as one or the other, depending on the packet.
        ConnectionError::MqttState(StateError::Deserialization(
            PacketError::InvalidReason(PACKET_TOO_LARGE) | PacketError::InvalidConnectReturnCode(PACKET_TOO_LARGE),
        )) => Loss::TooLarge("packet too large".to_owned()),
        ConnectionError::MqttState(StateError::AwaitPingResp) => {
            Loss::Broken(format!("the broker did not answer for {} s", KEEP_ALIVE.as_secs()))
        }
        ConnectionError::Timeout(_) => Loss::Broken(format!("no connection within {} s", CONNECT_WITHIN.as_secs())),
        ConnectionError::Io(error) => Loss::Broken(io_in_words(error)),
        ConnectionError::Tls(error) => Loss::Broken(format!("TLS: {error}")),
        ConnectionError::MqttState(StateError::ConnectionAborted) => {
            Loss::Broken("the broker closed the connection".to_owned())
        }
        ConnectionError::MqttState(StateError::Deserialization(PacketError::Io(error))) => {
            Loss::Broken(io_in_words(error))
        }
        // A web server, or another service, on the port that was meant to be the broker's.
        ConnectionError::MqttState(StateError::Deserialization(error)) => Loss::Broken(format!(
            "what answers there speaks no MQTT 5, or breaks its rules: {error}"
        )),
        ConnectionError::MqttState(error) => Loss::Broken(error.to_string()),
        ConnectionError::NotConnAck(_) => Loss::Broken("the peer did not answer as an MQTT 5 broker".to_owned()),
        ConnectionError::RequestsDone => Loss::Broken("the MQTT client ended".to_owned()),
    }
}

/// An end without a good-bye is told in the library's own words, with a page for programmers.
fn io_in_words(error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        "the broker closed the connection".to_owned()
    } else {
        error.to_string()
    }
}

fn connection_refused(code: ConnectReturnCode) -> Loss {
    let text = format!("connection refused: {}", in_words(&code));
    match code {
        ConnectReturnCode::ServiceUnavailable
        | ConnectReturnCode::ServerUnavailable
        | ConnectReturnCode::ServerBusy
        | ConnectReturnCode::UseAnotherServer
        | ConnectReturnCode::ServerMoved
        | ConnectReturnCode::ConnectionRateExceeded
        | ConnectReturnCode::MalformedPacket
        | ConnectReturnCode::ProtocolError
        | ConnectReturnCode::Success => Loss::Broken(text),
        ConnectReturnCode::RefusedProtocolVersion
        | ConnectReturnCode::UnsupportedProtocolVersion
        | ConnectReturnCode::BadClientId
        | ConnectReturnCode::ClientIdentifierNotValid
        | ConnectReturnCode::BadUserNamePassword
        | ConnectReturnCode::NotAuthorized
        | ConnectReturnCode::Banned
        | ConnectReturnCode::BadAuthenticationMethod
        | ConnectReturnCode::TopicNameInvalid
        | ConnectReturnCode::PacketTooLarge
        | ConnectReturnCode::QuotaExceeded
        | ConnectReturnCode::PayloadFormatInvalid
        | ConnectReturnCode::RetainNotSupported
        | ConnectReturnCode::QoSNotSupported
        | ConnectReturnCode::UnspecifiedError
        | ConnectReturnCode::ImplementationSpecificError => Loss::Refused(text),
    }
}

fn disconnected(code: DisconnectReasonCode, reason: Option<&str>) -> Loss {
    let text = match reason {
        Some(reason) => format!("the broker disconnected: {}, {}", in_words(&code), printable(reason)),
        None => format!("the broker disconnected: {}", in_words(&code)),
    };
    match code {
        DisconnectReasonCode::SessionTakenOver => Loss::TakenOver(text),
        DisconnectReasonCode::PacketTooLarge => Loss::TooLarge(text),
        DisconnectReasonCode::NotAuthorized
        | DisconnectReasonCode::QuotaExceeded
        | DisconnectReasonCode::AdministrativeAction
        | DisconnectReasonCode::MessageRateTooHigh
        | DisconnectReasonCode::TopicNameInvalid
        | DisconnectReasonCode::TopicFilterInvalid
        | DisconnectReasonCode::PayloadFormatInvalid
        | DisconnectReasonCode::RetainNotSupported
        | DisconnectReasonCode::QoSNotSupported => Loss::Refused(text),
        DisconnectReasonCode::NormalDisconnection
        | DisconnectReasonCode::DisconnectWithWillMessage
        | DisconnectReasonCode::UnspecifiedError
        | DisconnectReasonCode::MalformedPacket
        | DisconnectReasonCode::ProtocolError
        | DisconnectReasonCode::ImplementationSpecificError
        | DisconnectReasonCode::ServerBusy
        | DisconnectReasonCode::ServerShuttingDown
        | DisconnectReasonCode::KeepAliveTimeout
        | DisconnectReasonCode::ReceiveMaximumExceeded
        | DisconnectReasonCode::TopicAliasInvalid
        | DisconnectReasonCode::UseAnotherServer
        | DisconnectReasonCode::ServerMoved
        | DisconnectReasonCode::SharedSubscriptionNotSupported
        | DisconnectReasonCode::ConnectionRateExceeded
        | DisconnectReasonCode::MaximumConnectTime
        | DisconnectReasonCode::SubscriptionIdentifiersNotSupported
        | DisconnectReasonCode::WildcardSubscriptionsNotSupported => Loss::Broken(text),
    }
}

/// The client's name of a reason, `NotAuthorized`, as the standard writes it: "not authorized".
fn in_words(code: &impl std::fmt::Debug) -> String {
    let mut words = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// What a peer says is shown to people and logged: no control characters, and not without end.
fn printable(text: &str) -> String {
    let cleaned = text.chars().take(200).map(|c| if c.is_control() { '?' } else { c });
    cleaned.collect()
}
