//! Answers `GET /metrics` and nothing else. A few lines of HTTP/1.1 by hand, because what matters is that a client that is slow,
//! silent or hostile costs a bounded time and a bounded room, whatever it does.

use super::exposition::CONTENT_TYPE;
use super::families;
use crate::gateway::Handle;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// `[metrics]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetricsConfig {
    /// Where to listen.
    pub listen: SocketAddr,
}

/// Why there are no metrics.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can't be listened on.
    #[error("the metrics can't be offered on {listen}")]
    Listen {
        /// As configured.
        listen: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Scrapes at a time. A house has one or two Prometheus servers; further clients wait until one is served.
const MOST_CLIENTS: usize = 4;

/// A client gets this long from its first byte to our last: a scrape takes milliseconds, and Prometheus itself waits 10 s.
const SERVED_WITHIN: Duration = Duration::from_secs(5);

/// A request's head at most: a scraper sends some hundred bytes.
const MOST_HEAD: usize = 4 * 1024;

/// After an `accept` that failed (no descriptors left): not at once again.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Listens and serves until it is dropped; the address that was bound (port 0 asks for a free one) goes to `bound`.
///
/// # Errors
/// [`ServeError`].
pub async fn serve(config: MetricsConfig, table: Handle, bound: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    serve_within(SERVED_WITHIN, config, table, bound).await
}

async fn serve_within(
    limit: Duration,
    config: MetricsConfig,
    table: Handle,
    bound: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let listen = config.listen;
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|source| ServeError::Listen { listen, source })?;
    bound(listener.local_addr().unwrap_or(listen));
    let room = Arc::new(Semaphore::new(MOST_CLIENTS));
    let mut clients = tokio::task::JoinSet::new();
    loop {
        // The semaphore is never closed, so a place always comes.
        let place = Arc::clone(&room).acquire_owned().await.ok();
        while clients.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let table = table.clone();
                clients.spawn(async move {
                    // Whoever is too slow, or goes away, has cost this long at most; nobody need know.
                    let _ = tokio::time::timeout(limit, answer(stream, &table)).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a scrape could not be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

async fn answer(mut stream: TcpStream, table: &Handle) -> io::Result<()> {
    let head = read_head(&mut stream).await?;
    let (status, body) = match asked(&head) {
        Asked::Metrics => ("200 OK", families::page(&table.look(), &table.counts())),
        Asked::Elsewhere => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        Asked::OtherMethod => ("405 Method Not Allowed", "only GET\n".to_owned()),
        Asked::Nonsense => ("400 Bad Request", "no request\n".to_owned()),
    };
    let content_type = CONTENT_TYPE;
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Everything up to the empty line, or as much of it as a request may have.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; 512];
    while head.len() < MOST_HEAD && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await?;
        match piece.get(..read) {
            Some([]) | None => break,
            Some(bytes) => head.extend_from_slice(bytes),
        }
    }
    Ok(head)
}

/// What a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    Metrics,
    Elsewhere,
    OtherMethod,
    Nonsense,
}

fn asked(head: &[u8]) -> Asked {
    if !head.windows(4).any(|end| end == b"\r\n\r\n") {
        return Asked::Nonsense;
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some(b"GET"), Some(target), Some(b"HTTP/1.1" | b"HTTP/1.0"), None) => {
            let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
            if path == b"/metrics" {
                Asked::Metrics
            } else {
                Asked::Elsewhere
            }
        }
        (Some(_), Some(_), Some(b"HTTP/1.1" | b"HTTP/1.0"), None) => Asked::OtherMethod,
        (_, _, _, _) => Asked::Nonsense,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::testing;

    #[test]
    fn only_one_thing_can_be_asked() {
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", Asked::Metrics),
            ("GET /metrics?x=1 HTTP/1.0\r\n\r\n", Asked::Metrics),
            ("GET / HTTP/1.1\r\n\r\n", Asked::Elsewhere),
            ("GET /metrics/../../etc/passwd HTTP/1.1\r\n\r\n", Asked::Elsewhere),
            ("POST /metrics HTTP/1.1\r\n\r\n", Asked::OtherMethod),
            ("GET /metrics\r\n\r\n", Asked::Nonsense),
            ("GET /metrics HTTP/2\r\n\r\n", Asked::Nonsense),
            ("GET /metrics HTTP/1.1\r\n", Asked::Nonsense),
            ("\0\r\n\r\n", Asked::Nonsense),
            ("", Asked::Nonsense),
        ] {
            assert_eq!(asked(head.as_bytes()), expected, "{head:?}");
        }
    }

    async fn listening(limit: Duration) -> SocketAddr {
        let (handle, people, view) = testing::handle();
        let (tell, told) = tokio::sync::oneshot::channel();
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        tokio::spawn(async move {
            let _kept = (people, view);
            let bound = |address| tell.send(address).unwrap();
            serve_within(limit, MetricsConfig { listen }, handle, bound).await
        });
        told.await.unwrap()
    }

    async fn scrape(address: SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn a_scrape_is_answered_with_its_length() {
        let answer = scrape(listening(SERVED_WITHIN).await).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        assert!(body.contains("\ntablegate_inputs_total 0\n"), "{body}");
    }

    #[tokio::test]
    async fn clients_that_say_nothing_or_too_much_are_dropped_and_others_served() {
        let address = listening(Duration::from_millis(100)).await;
        let mut silent = Vec::new();
        for index in 0..MOST_CLIENTS * 3 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            if index % 2 == 0 {
                stream.write_all(b"GET /metrics HT").await.unwrap();
            }
            silent.push(stream);
        }
        // Each of them has its time, and then it is our turn.
        assert!(scrape(address).await.starts_with("HTTP/1.1 200"));
        for mut stream in silent {
            let mut rest = Vec::new();
            let end = stream.read_to_end(&mut rest).await;
            assert!(end.is_err() || rest.is_empty(), "{rest:?}");
        }
        let mut flood = TcpStream::connect(address).await.unwrap();
        let _closed_early = flood.write_all(&[b'x'; 64 * 1024]).await;
        let mut answer = Vec::new();
        let _reset = flood.read_to_end(&mut answer).await;
        assert!(scrape(address).await.starts_with("HTTP/1.1 200"));
    }
}
