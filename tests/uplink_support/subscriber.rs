//! A floor's subscriber for tests.

use super::within;
use tablegate::uplink::Connected as _;
use tablegate::uplink::broker::Connection;
use tablegate::uplink::exchange::{
    ConnectOptions, KeptMessages, Message, Publication, Quality, Retention, Signal, Subscription, TlsTexts, Verdict,
};

/// Connects and subscribes to these filters with QoS 1.
pub struct Subscriber {
    connection: Connection,
}

impl Subscriber {
    pub async fn new(broker: &str, client_id: &str, filters: &[&str]) -> Self {
        Self::with(broker, client_id, None, filters).await
    }

    /// The same, with certificates.
    pub async fn with(broker: &str, client_id: &str, tls: Option<TlsTexts>, filters: &[&str]) -> Self {
        let connection = Connection::open(&ConnectOptions {
            address: broker.parse().unwrap(),
            client_id: client_id.to_owned(),
            login: None,
            tls,
            will: None,
        });
        let mut subscriber = Subscriber {
            connection: connection.unwrap(),
        };
        let wanted = |filter: &&str| Subscription {
            filter: (*filter).to_owned(),
            retained: KeptMessages::Wanted,
            quality: Quality::AtLeastOnce,
        };
        if filters.is_empty() {
            return subscriber;
        }
        let filters: Vec<Subscription> = filters.iter().map(wanted).collect();
        subscriber.connection.subscribe(&filters).unwrap();
        loop {
            match subscriber.signal().await {
                Signal::Subscribed(refused) => {
                    assert_eq!(refused, Vec::<&str>::new());
                    return subscriber;
                }
                Signal::Lost(loss) => panic!("{loss:?}"),
                _ => {}
            }
        }
    }

    pub async fn signal(&mut self) -> Signal {
        within("a signal", self.connection.next()).await
    }

    /// The next message; `None` when the connection is lost.
    pub async fn message(&mut self) -> Option<Message> {
        loop {
            match self.signal().await {
                Signal::Message(message) => return Some(message),
                Signal::Lost(_) => return None,
                _ => {}
            }
        }
    }

    /// The next message on a topic that ends so.
    pub async fn message_on(&mut self, ending: &str) -> Option<Message> {
        loop {
            let message = self.message().await?;
            if message.topic.ends_with(ending) {
                return Some(message);
            }
        }
    }

    /// Publishes and waits for the broker's answer.
    pub async fn publish(&mut self, publication: Publication) -> Verdict {
        self.connection.publish(publication).unwrap();
        loop {
            match self.signal().await {
                Signal::Acknowledged(_, verdict) => return verdict,
                Signal::Lost(loss) => panic!("{loss:?}"),
                _ => {}
            }
        }
    }

    /// Publishes without waiting.
    pub fn send(&self, publication: Publication) {
        self.connection.publish(publication).unwrap();
    }
}

/// A publication as a request.
pub fn request(prefix: &str, response_topic: &str, correlation: &[u8], payload: Vec<u8>) -> Publication {
    Publication {
        topic: format!("{prefix}/requests"),
        retained: Retention::Passing,
        payload: payload.into(),
        response_topic: Some(response_topic.to_owned()),
        correlation: Some(correlation.to_vec().into()),
    }
}
