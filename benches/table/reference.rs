//! The references: the least that anything between two serial lines and a disk has to do.

use crate::ends::raw_pty;
use crate::subscriber::{Subscriber, options};
use rumqttc::v5::AsyncClient;
use rumqttc::v5::mqttbytes::QoS;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes on the line of an `EntryPressed` and of a `SetLamps`, about.
const FRAME: [u8; 24] = [0x5a; 24];

/// Bytes written for each entry.
const RECORD: [u8; 512] = [0xa5; 512];

/// Records that the preallocated file takes before it is written over.
const RECORDS: u64 = 2_048;

fn preallocated(folder: &Path) -> File {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(folder.join("reference"))
        .unwrap();
    for at in 0..RECORDS {
        file.write_all_at(&RECORD, at * RECORD.len() as u64).unwrap();
    }
    file.sync_all().unwrap();
    file
}

/// pty read, write, fdatasync, pty write.
pub struct Lamps {
    terminal: File,
    lamps: File,
}

impl Lamps {
    pub fn start(folder: &Path) -> Lamps {
        let (terminal, terminal_far, _) = raw_pty();
        let (lamps, lamps_far, _) = raw_pty();
        let file = preallocated(folder);
        let (mut reading, mut writing) = (File::from(terminal_far), File::from(lamps_far));
        std::thread::spawn(move || {
            let mut buffer = [0u8; 256];
            for at in 0.. {
                let Ok(1..) = reading.read(&mut buffer) else { return };
                file.write_all_at(&RECORD, at % RECORDS * RECORD.len() as u64).unwrap();
                file.sync_data().unwrap();
                if writing.write_all(&FRAME).is_err() {
                    return;
                }
            }
        });
        Lamps { terminal, lamps }
    }

    pub fn once(&mut self) -> Duration {
        let mut buffer = [0u8; 256];
        self.terminal.write_all(&FRAME).unwrap();
        let began = Instant::now();
        let _count = self.lamps.read(&mut buffer).unwrap();
        began.elapsed()
    }
}

/// The same, and one QoS 1 publish by the bare client; the time ends at a subscriber.
pub struct Floor {
    terminal: File,
    floor: Subscriber,
}

impl Floor {
    pub fn start(folder: &Path, port: u16) -> Floor {
        let (terminal, terminal_far, _) = raw_pty();
        let file = preallocated(folder);
        let topic = format!("bench/reference/{}", std::process::id());
        let floor = Subscriber::start(port, &topic);
        let mut reading = File::from(terminal_far);
        let (client, mut connection) = AsyncClient::new(options("bench-publisher", port), 64);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async { while connection.poll().await.is_ok() {} });
        });
        std::thread::spawn(move || {
            let mut buffer = [0u8; 256];
            for at in 0.. {
                let Ok(1..) = reading.read(&mut buffer) else { return };
                file.write_all_at(&RECORD, at % RECORDS * RECORD.len() as u64).unwrap();
                file.sync_data().unwrap();
                if client
                    .try_publish(&topic, QoS::AtLeastOnce, false, RECORD.to_vec())
                    .is_err()
                {
                    return;
                }
            }
        });
        Floor { terminal, floor }
    }

    pub fn once(&mut self) -> Duration {
        self.floor.forget();
        self.terminal.write_all(&FRAME).unwrap();
        let began = Instant::now();
        let (_, arrived) = self.floor.next(Duration::from_secs(10));
        arrived.saturating_duration_since(began)
    }
}
