//! Serves the page: `/` the page, `/events` its pictures as they change, `/health` one word. Looks at a latest-value slot and
//! never holds up whoever fills it.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::serve::Listener;
use futures_util::stream::{self, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::page;
use super::picture::Picture;

/// `[display]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DisplayConfig {
    /// Where to listen; loopback by default, because the page has no login.
    pub listen: SocketAddr,
    /// How many ended rounds are shown.
    pub results: usize,
}

/// Why there is no display.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can't be listened on.
    #[error("the results display can't listen on {listen}")]
    Listen {
        /// As configured.
        listen: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The server ended by itself.
    #[error("the results display on {listen} ended")]
    Ended {
        /// As configured.
        listen: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Connections at a time. A table has one or two screens; the next one waits until another goes.
const MOST_CONNECTIONS: usize = 32;

/// A sign of life goes out this often while nothing changes, so that a page knows that it is heard.
const BEAT: Duration = Duration::from_secs(5);

/// A page that has heard nothing for this long says that it is not current: two beats and a moment.
const SILENCE: Duration = Duration::from_millis(11_000);

/// The next picture leaves this long after the one before it at the earliest: a person sees no more, and a busy table must not
/// spend its time drawing.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens and serves until the process ends or `pictures` loses its sender; the address that was bound (port 0 asks for a free
/// one) goes to `bound`.
///
/// # Errors
/// [`ServeError`].
pub async fn serve(
    config: &DisplayConfig,
    pictures: watch::Receiver<Arc<Picture>>,
    bound: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let listen = config.listen;
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|source| ServeError::Listen { listen, source })?;
    bound(listener.local_addr().unwrap_or(listen));
    let listener = Bounded {
        listener,
        room: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
    };
    let mut ended = pictures.clone();
    axum::serve(listener, routes(pictures))
        .with_graceful_shutdown(async move { while ended.changed().await.is_ok() {} })
        .await
        .map_err(|source| ServeError::Ended { listen, source })
}

fn routes(pictures: watch::Receiver<Arc<Picture>>) -> Router {
    Router::new()
        .route("/", get(whole_page))
        .route("/events", get(events))
        .route("/health", get(async || "ok\n"))
        .with_state(pictures)
}

async fn whole_page(State(pictures): State<watch::Receiver<Arc<Picture>>>) -> Response {
    let picture = Arc::clone(&pictures.borrow());
    uncached(Html(page::whole(&picture, SILENCE.as_millis())))
}

async fn events(State(pictures): State<watch::Receiver<Arc<Picture>>>) -> Response {
    uncached(Sse::new(changes(pictures)))
}

fn uncached(body: impl IntoResponse) -> Response {
    (StatusCode::OK, [(header::CACHE_CONTROL, "no-store")], body).into_response()
}

/// Where a watcher of `/events` stands.
enum Watching {
    /// It has nothing yet.
    New(watch::Receiver<Arc<Picture>>),
    /// It has the newest picture that it was told of.
    Told(watch::Receiver<Arc<Picture>>),
    /// It was told that the daemon ends.
    Over,
}

/// The picture at once, then each that differs, a beat in between, and a word at the end.
fn changes(pictures: watch::Receiver<Arc<Picture>>) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(Watching::New(pictures), |watching| async move {
        let mut pictures = match watching {
            Watching::New(mut pictures) => {
                let event = drawn(&mut pictures);
                return Some((Ok(event), Watching::Told(pictures)));
            }
            Watching::Told(pictures) => pictures,
            Watching::Over => return None,
        };
        let event = match tokio::time::timeout(BEAT, pictures.changed()).await {
            Ok(Ok(())) => {
                tokio::time::sleep(PAUSE).await;
                drawn(&mut pictures)
            }
            Ok(Err(_)) => return Some((Ok(Event::default().event("end").data("")), Watching::Over)),
            Err(_) => Event::default().event("beat").data(""),
        };
        Some((Ok(event), Watching::Told(pictures)))
    })
}

fn drawn(pictures: &mut watch::Receiver<Arc<Picture>>) -> Event {
    let picture = Arc::clone(&pictures.borrow_and_update());
    Event::default().event("picture").data(page::drawn(&picture))
}

/// A listener that accepts nobody while too many are there.
struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

/// A connection with its place.
struct Placed {
    stream: TcpStream,
    _place: Option<OwnedSemaphorePermit>,
}

impl Listener for Bounded {
    type Io = Placed;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Placed, SocketAddr) {
        // The semaphore is never closed, so a place always comes.
        let place = Arc::clone(&self.room).acquire_owned().await.ok();
        let (stream, from) = Listener::accept(&mut self.listener).await;
        (Placed { stream, _place: place }, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl AsyncRead for Placed {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Placed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
