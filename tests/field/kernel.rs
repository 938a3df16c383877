//! Steers `kernel.c`, which stands between the real binary and the system.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio::time::Instant;

use crate::daemon_support::PATIENCE;

/// The words of the file that steers it, in its order.
#[derive(Clone, Copy, Debug)]
pub enum Word {
    /// Microseconds that the wall clock is off.
    WallMoved,
    /// The journal's files answer a sync with EIO.
    SyncFails,
    /// ... a write.
    WriteFails,
    /// ... a read.
    ReadFails,
    /// A sync of the journal's files doesn't return.
    SyncHangs,
    /// The daemon's only thread doesn't go on.
    LoopHangs,
    /// Serial lines have DTR and RTS; a pty has none.
    ModemAnswers,
    /// How often a disk call was answered with EIO.
    Failed,
    /// Something hangs now.
    Hangs,
}

/// A table's PC that does what it is told.
pub struct Kernel {
    control: std::fs::File,
    trace: PathBuf,
    environment: Vec<(&'static str, String)>,
}

impl Kernel {
    /// For the table in this folder.
    pub fn new(folder: &Path) -> Kernel {
        let at = |name: &str| folder.join(name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/field/kernel.c");
        let library = at("kernel.so");
        let compiled = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .output()
            .unwrap_or_else(|error| panic!("needs a C compiler, `cc` ({error}): install the package 'gcc'"));
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(
            compiled.status.success(),
            "{} can't be compiled: {said}",
            source.display()
        );
        let control = std::fs::File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(at("control"))
            .unwrap();
        control.set_len(4096).unwrap();
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        Kernel {
            control,
            trace: at("trace"),
            environment: vec![
                ("LD_PRELOAD", text(library)),
                ("TABLEGATE_TEST_CONTROL", text(at("control"))),
                ("TABLEGATE_TEST_JOURNAL", text(at("journal"))),
                ("TABLEGATE_TEST_TRACE", text(at("trace"))),
            ],
        }
    }

    /// What a program under it is started with, and these besides.
    pub fn with<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let own = self.environment.iter().map(|(name, value)| (*name, value.as_str()));
        own.chain(more.iter().copied()).collect()
    }

    pub fn set(&self, word: Word, value: i64) {
        self.control
            .write_all_at(&value.to_ne_bytes(), word as u64 * 8)
            .unwrap();
    }

    pub fn get(&self, word: Word) -> i64 {
        let mut bytes = [0; 8];
        self.control.read_exact_at(&mut bytes, word as u64 * 8).unwrap();
        i64::from_ne_bytes(bytes)
    }

    /// Waits until a word is at least so much.
    pub async fn until(&self, word: Word, value: i64) {
        let until = Instant::now() + PATIENCE;
        while self.get(word) < value {
            assert!(Instant::now() < until, "{word:?} is {}", self.get(word));
            // Look again: a word in a file tells nobody that it has changed.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// What was done to serial lines: the line, a number of the opening, what.
    pub fn trace(&self) -> Vec<(String, String, String)> {
        let text = std::fs::read_to_string(&self.trace).unwrap_or_default();
        let words = |line: &str| {
            let mut parts = line.splitn(3, ' ').map(str::to_owned);
            Some((parts.next()?, parts.next()?, parts.next()?))
        };
        text.lines().map(|line| words(line).expect("three words")).collect()
    }

    pub fn forget_trace(&self) {
        std::fs::write(&self.trace, "").unwrap();
    }
}
