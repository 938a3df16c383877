//! One run of the gateway, as a process: its tasks, the steps that it takes towards the world, and its end between any two of them.
//!
//! A step is anything that the world could notice: an append begun, an append that became durable, a publish handed over, a signal of
//! the broker taken, bytes written to a port. A run that is to die at a step does nothing after it: whatever its tasks go on to
//! do before they are dropped never reaches the world, as if the process had been killed there.

use super::eyes::hold;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Whether a run goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pulse {
    /// It does.
    Alive,
    /// Nothing that it does has any effect.
    Dead,
}

/// One run of the gateway.
#[derive(Debug, Default)]
pub(super) struct Life {
    dead: AtomicBool,
    /// Steps until death; 0: nobody has asked for it.
    left: AtomicU64,
    died: Notify,
    tasks: Mutex<Vec<tokio::task::AbortHandle>>,
}

impl Life {
    /// Takes a step; the answer says whether it still has an effect.
    pub(super) fn step(&self) -> Pulse {
        if self.pulse() == Pulse::Dead {
            return Pulse::Dead;
        }
        match self.left.load(Ordering::Relaxed) {
            0 => Pulse::Alive,
            1 => {
                self.die();
                Pulse::Dead
            }
            left => {
                self.left.store(left - 1, Ordering::Relaxed);
                Pulse::Alive
            }
        }
    }

    /// Whether it is alive, without a step.
    pub(super) fn pulse(&self) -> Pulse {
        if self.dead.load(Ordering::Relaxed) {
            Pulse::Dead
        } else {
            Pulse::Alive
        }
    }

    /// It dies at the step after this many others.
    pub(super) fn die_after(&self, steps: u64) {
        self.left.store(steps.saturating_add(1), Ordering::Relaxed);
    }

    /// It is dead from here on.
    pub(super) fn die(&self) {
        self.dead.store(true, Ordering::Relaxed);
        self.died.notify_one();
    }

    /// Waits for its death.
    pub(super) async fn died(&self) {
        if self.pulse() == Pulse::Alive {
            self.died.notified().await;
        }
    }

    /// Runs one of its tasks.
    pub(super) fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        let running = tokio::spawn(task);
        hold(&self.tasks).push(running.abort_handle());
        running
    }

    /// Drops all its tasks, as the kernel does with a dead process. Returns when they are gone.
    pub(super) async fn bury(&self) {
        self.dead.store(true, Ordering::Relaxed);
        let tasks = std::mem::take(&mut *hold(&self.tasks));
        for task in &tasks {
            task.abort();
        }
        while tasks.iter().any(|task| !task.is_finished()) {
            tokio::task::yield_now().await;
        }
    }
}
