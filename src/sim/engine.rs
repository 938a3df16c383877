//! What every simulated device has in common: its task, its plug and its link. What scripts hold of it is in [`handle`](super::handle).

use super::handle::{Act, Common, Handle, Hearing, LineView, Setup, Traffic};
use super::line::Line;
use super::plug::{Ear, Eye, Place, Plug, Socket};
use crate::time::Uptime;
use crate::wire::message::{DeviceFault, DeviceKind, DigestReply, FaultState, from_device, to_device};
use crate::wire::session::{Device, DeviceConfig, DeviceEvent};
use sha2::{Digest, Sha256};
use std::io;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Acts that wait for their device. A script waits for each; only several scripts at once get here.
const MAX_ACTS: usize = 16;
/// What the engine's clock shows when it starts: things can have happened before.
const BEGAN: Uptime = Uptime::from_millis(24 * 3_600_000);
/// Bytes read at once; a frame is at most 209.
const READ_AT_ONCE: usize = 1024;

/// What a device of one kind does.
pub(super) trait Model: Send + Sync + 'static {
    type Act: Send + Sync + std::fmt::Debug;
    type View: Clone + PartialEq + Send + Sync + std::fmt::Debug;

    /// What it truly is, and how many lamps it drives.
    fn kind(&self) -> (DeviceKind, u32);
    /// Power came on.
    fn boot(&mut self);
    /// The host's word, other than a request for status or digest.
    fn accept(&mut self, link: &mut Link<'_>, body: to_device::Body);
    /// The script's word.
    fn act(&mut self, link: &mut Link<'_>, act: Self::Act);
    /// No session any more: ignore keys, show `---`.
    fn session_ended(&mut self);
    /// No host for the hold time: blank, lift the inhibit.
    fn host_gone(&mut self);
    /// The whole status.
    fn status(&self, link: &Link<'_>) -> from_device::Body;
    /// Does what is due.
    fn run(&mut self, link: &mut Link<'_>);
    /// When [`Self::run`] must be called next.
    fn deadline(&self) -> Option<Uptime>;
    /// What can be seen.
    fn view(&self, line: LineView) -> Self::View;
}

/// A device's link, at one moment.
pub(super) struct Link<'a> {
    pub(super) now: Uptime,
    device: &'a mut Device,
    ear: Option<&'a mut Ear>,
}

impl Link<'_> {
    pub(super) fn has_session(&self) -> bool {
        self.device.has_session()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.device.is_idle()
    }

    /// The device's clock now.
    pub(super) fn uptime_ms(&self) -> u32 {
        self.device.uptime_ms(self.now)
    }

    /// Reports something that happens now.
    pub(super) fn report(&mut self, body: from_device::Body) {
        if let Some(ear) = &mut self.ear {
            ear(&body);
        }
        self.device.report(self.now, self.now, body);
    }

    /// Reports something that happened before.
    pub(super) fn report_of(&mut self, happened: Uptime, body: from_device::Body) {
        self.device.report(self.now, happened, body);
    }
}

/// Starts a device's task behind a pty.
pub(super) fn start<M: Model>(setup: Setup, model: M) -> io::Result<Handle<M::Act, M::View>> {
    start_at(Place::behind_a_pty(), setup, model)
}

/// Starts a device's task in a place.
pub(super) fn start_at<M: Model>(
    place: Place<M::View>,
    setup: Setup,
    mut model: M,
) -> io::Result<Handle<M::Act, M::View>> {
    let Place {
        mut socket,
        mut eye,
        ear,
    } = place;
    let plug = socket.plug_in(&setup.link)?;
    let (acts, inbox) = mpsc::channel(MAX_ACTS);
    model.boot();
    let mut engine = Engine {
        line: Line::new(setup.seed),
        device: Device::new(config(&setup, &model, 1), BEGAN),
        setup,
        model,
        socket,
        plug: Some(plug),
        ear,
        began: Instant::now(),
        boots: 1,
        sessions: 0,
        host_gone: 0,
        faults: Vec::new(),
    };
    engine.turn();
    let first = engine.view();
    if let Some(eye) = &mut eye {
        eye(&first);
    }
    let (show, view) = watch::channel(first);
    let task = tokio::spawn(engine.run(inbox, show, eye));
    Ok(Handle { acts, view, task })
}

fn config<M: Model>(setup: &Setup, model: &M, boots: u32) -> DeviceConfig {
    let (kind, lamp_count) = model.kind();
    // Differs at each boot of each device and at each start of the simulator; what it is decides nothing, so it needs no seed.
    let boot_id = boots.wrapping_mul(0x9e37_79b9) ^ setup.power_on;
    DeviceConfig {
        kind: setup.pretends.unwrap_or(kind),
        serial_number: setup.serial_number.clone(),
        firmware: setup.firmware.clone(),
        boot_id,
        lamp_count,
        firmware_digest: Sha256::digest(&setup.image).to_vec(),
        baud: setup.baud,
        uptime_ms: 0,
    }
}

struct Engine<M: Model> {
    setup: Setup,
    model: M,
    device: Device,
    line: Line,
    socket: Socket,
    plug: Option<Plug>,
    ear: Option<Ear>,
    began: Instant,
    boots: u32,
    sessions: u64,
    host_gone: u64,
    faults: Vec<DeviceFault>,
}

/// What a turn of the engine waits for.
enum Woken<A> {
    Act(Act<A>, oneshot::Sender<()>),
    Bytes(io::Result<usize>),
    Time,
    Ended,
}

impl<M: Model> Engine<M> {
    async fn run(
        mut self,
        mut inbox: mpsc::Receiver<(Act<M::Act>, oneshot::Sender<()>)>,
        show: watch::Sender<M::View>,
        mut eye: Option<Eye<M::View>>,
    ) {
        let mut buffer = [0; READ_AT_ONCE];
        loop {
            let woken = self.wait(&mut inbox, &mut buffer).await;
            let mut done = None;
            match woken {
                Woken::Act(act, reply) => {
                    self.act(act);
                    done = Some(reply);
                }
                Woken::Bytes(Ok(length)) => {
                    let now = self.now();
                    let heard = self.line.hear(now, buffer.get(..length).unwrap_or_default());
                    self.device.handle_bytes(now, &heard);
                }
                // A pty that can't be read is as good as unplugged.
                Woken::Bytes(Err(_)) => self.plug = None,
                Woken::Time => {}
                Woken::Ended => return,
            }
            self.turn();
            let view = self.view();
            show.send_if_modified(|shown| {
                let changed = *shown != view;
                if changed {
                    if let Some(eye) = &mut eye {
                        eye(&view);
                    }
                    *shown = view;
                }
                changed
            });
            if let Some(reply) = done {
                let _ = reply.send(());
            }
        }
    }

    async fn wait(
        &mut self,
        inbox: &mut mpsc::Receiver<(Act<M::Act>, oneshot::Sender<()>)>,
        buffer: &mut [u8],
    ) -> Woken<M::Act> {
        let deadlines = [self.device.deadline(), self.model.deadline(), self.line.deadline()];
        let due = deadlines.into_iter().flatten().min();
        let alarm = async {
            match due {
                Some(at) => tokio::time::sleep_until(self.began + at.since(BEGAN)).await,
                None => std::future::pending().await,
            }
        };
        let bytes = async {
            match &mut self.plug {
                Some(plug) => plug.read(buffer).await,
                None => std::future::pending().await,
            }
        };
        // In this order, so that a seed replays; everything that is due is done whatever woke the engine.
        tokio::select! {
            biased;
            act = inbox.recv() => match act {
                Some((act, reply)) => Woken::Act(act, reply),
                None => Woken::Ended,
            },
            read = bytes => Woken::Bytes(read),
            () = alarm => Woken::Time,
        }
    }

    fn now(&self) -> Uptime {
        BEGAN + self.began.elapsed()
    }

    /// Everything that is due now.
    fn turn(&mut self) {
        let now = self.now();
        self.device.handle_deadline(now);
        self.model.run(&mut Link {
            now,
            device: &mut self.device,
            ear: self.ear.as_mut(),
        });
        while let Some(event) = self.device.poll_event() {
            self.take(now, event);
        }
        let mut frames = Vec::new();
        while self.device.poll_transmit(&mut frames) {}
        self.line.say(now, &frames);
        let arrived = self.line.arrived(now);
        if let Some(plug) = &mut self.plug
            && !arrived.is_empty()
        {
            plug.write(&arrived);
        }
    }

    fn take(&mut self, now: Uptime, event: DeviceEvent) {
        let mut link = Link {
            now,
            device: &mut self.device,
            ear: self.ear.as_mut(),
        };
        match event {
            DeviceEvent::Greeted { .. } => self.sessions += 1,
            DeviceEvent::Accepted(to_device::Body::Status(_)) => {
                let status = self.model.status(&link);
                link.device.answer_status(now, status, self.faults.clone());
            }
            DeviceEvent::Accepted(to_device::Body::Digest(request)) => {
                let mut digest = Sha256::new();
                digest.update(&request.seed);
                digest.update(&self.setup.image);
                link.report(from_device::Body::Digest(DigestReply {
                    seed: request.seed,
                    sha256: digest.finalize().to_vec(),
                }));
            }
            DeviceEvent::Acknowledged(_) => {}
            DeviceEvent::Accepted(body) => self.model.accept(&mut link, body),
            DeviceEvent::SessionEnded => self.model.session_ended(),
            DeviceEvent::HostGone => {
                self.host_gone += 1;
                self.model.host_gone();
            }
        }
    }

    fn act(&mut self, act: Act<M::Act>) {
        let now = self.now();
        let mut link = Link {
            now,
            device: &mut self.device,
            ear: self.ear.as_mut(),
        };
        match act {
            Act::Own(act) => self.model.act(&mut link, act),
            Act::Common(Common::Unplug) => self.plug = None,
            Act::Common(Common::Replug) => {
                if self.plug.is_none() {
                    self.plug = self.socket.plug_in(&self.setup.link).ok();
                }
            }
            Act::Common(Common::Faults(faults)) => self.line.faults = faults,
            Act::Common(Common::Noise(bytes)) => self.line.noise(now, bytes),
            Act::Common(Common::Reboot) => {
                self.boots += 1;
                self.model.boot();
                self.device = Device::new(config(&self.setup, &self.model, self.boots), now);
            }
            Act::Common(Common::Renumber(serial_number)) => self.setup.serial_number = serial_number,
            Act::Common(Common::Install(firmware)) => {
                self.setup.image = firmware.clone().into_bytes();
                self.setup.firmware = firmware;
            }
            Act::Common(Common::Pretend(kind)) => self.setup.pretends = kind,
            Act::Common(Common::RaiseFault { code, text }) => {
                let fault = DeviceFault {
                    code,
                    text,
                    state: FaultState::Raised.into(),
                };
                self.faults.retain(|known| known.code != code);
                self.faults.push(fault.clone());
                link.report(from_device::Body::Fault(fault));
            }
            Act::Common(Common::ClearFault { code }) => {
                self.faults.retain(|known| known.code != code);
                let state = FaultState::Cleared.into();
                link.report(from_device::Body::Fault(DeviceFault {
                    code,
                    text: String::new(),
                    state,
                }));
            }
        }
    }

    fn view(&self) -> M::View {
        let counters = self.device.counters();
        self.model.view(LineView {
            plugged: self.plug.is_some(),
            hearing: if self.device.has_session() {
                Hearing::Session
            } else {
                Hearing::NoSession
            },
            sessions: self.sessions,
            host_gone: self.host_gone,
            boot_id: self.device.config().boot_id,
            faults: self.line.faults,
            traffic: Traffic {
                frames_in: counters.seen.frames,
                frames_out: counters.frames_out,
                repeats_out: counters.repeats_out,
            },
        })
    }
}
