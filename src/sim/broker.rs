//! The demo's embedded MQTT broker: rumqttd on a free loopback port. The only file that names rumqttd.

use rumqttd::{Broker, Config, ConnectionSettings, RouterConfig, ServerSettings};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// A message may be this large; events are at most 8 KiB, and a gateway refuses brokers that take less than 16 KiB.
const MAX_MESSAGE_BYTES: usize = 256 * 1024;

/// Unacknowledged messages towards one subscriber.
const MAX_IN_FLIGHT: usize = 100;

/// The broker keeps two segments of this size for each topic: enough for the demo's subscribers, small in memory.
const SEGMENT_BYTES: usize = 1024 * 1024;

/// How long the broker's listener may take to answer.
const START_WITHIN: Duration = Duration::from_secs(5);

/// Starts a broker for this process's life and returns its address once it accepts connections.
///
/// # Errors
/// When no loopback port is free, its thread can't start, or it doesn't answer within 5 s.
pub fn start() -> io::Result<SocketAddr> {
    // Asking for port 0 and letting it go again is how a free port is found for a listener that somebody else opens.
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let mut broker = Broker::new(config(address));
    thread::Builder::new().name("demo-broker".to_owned()).spawn(move || {
        // Whoever waits below sees that nothing answers.
        let _ = broker.start();
    })?;
    let began = Instant::now();
    loop {
        match TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
            Ok(_) => return Ok(address),
            Err(error) if began.elapsed() > START_WITHIN => return Err(error),
            Err(_) => thread::yield_now(),
        }
    }
}

fn config(listen: SocketAddr) -> Config {
    let connections = ConnectionSettings {
        connection_timeout_ms: 5_000,
        max_payload_size: MAX_MESSAGE_BYTES,
        max_inflight_count: MAX_IN_FLIGHT,
        auth: None,
        external_auth: None,
        dynamic_filters: true,
    };
    let server = ServerSettings {
        name: "demo".to_owned(),
        listen,
        tls: None,
        next_connection_delay_ms: 1,
        connections,
    };
    let router = RouterConfig {
        max_connections: 64,
        max_outgoing_packet_count: 200,
        max_segment_size: SEGMENT_BYTES,
        max_segment_count: 2,
        ..RouterConfig::default()
    };
    Config {
        router,
        v5: Some(HashMap::from([("demo".to_owned(), server)])),
        ..Config::default()
    }
}
