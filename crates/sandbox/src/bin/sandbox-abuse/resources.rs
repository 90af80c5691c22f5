//! Taking more than is given.

use crate::{Attempt, Case, Scene, called};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const MIB: usize = 1024 * 1024;

pub const CASES: &[Case] = &[
    ("threads_work", |_| threads(8)),
    ("thread_bomb", |_| threads(5_000)),
    ("fork", |_| fork()),
    ("vfork", |_| {
        // SAFETY: without CLONE_THREAD the call is refused; a child would share nothing.
        called(unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) })
    }),
    ("open_files", |_| open_files()),
    ("allocate_2_gb", |_| allocate(2048)),
    ("allocate_100_mb", |_| allocate(100)),
    ("outgrow_group_memory", |_| allocate(400)),
    ("fill_tmp", fill_tmp),
    ("fill_tmp_with_one_file", |s| fill(s.tmp.join("big"), 500)),
    ("fill_tmp_with_files", fill_with_files),
    ("spin", |_| spin()),
    ("sleep_forever", |_| {
        loop {
            thread::sleep(Duration::from_secs(3600));
        }
    }),
    ("write_forever", |_| {
        loop {
            io::stdout().write_all(&[b'x'; 65536])?;
        }
    }),
    ("abort", |_| std::process::abort()),
    ("panic", |_| unreachable!("as told")),
    ("exit_7", |_| std::process::exit(7)),
];

/// How many threads could live at the same time.
fn threads(wanted: usize) -> Attempt {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().map_err(|e| io::Error::other(e.to_string()))?;
    let wait = |gate: Arc<Mutex<()>>| move || drop(gate.lock());
    // A small stack, so that memory is not what stops it.
    let start = |_| thread::Builder::new().stack_size(16 * 1024).spawn(wait(gate.clone())).ok();
    let started: Vec<_> = (0..wanted).map_while(start).collect();
    drop(closed);
    Ok(started.into_iter().filter_map(|t| t.join().ok()).count().to_string())
}

fn fork() -> Attempt {
    // SAFETY: one thread runs, and a child would do nothing but end.
    match unsafe { libc::fork() } {
        // SAFETY: ends the child at once.
        0 => unsafe { libc::_exit(0) },
        pid => called(pid),
    }
}

fn open_files() -> Attempt {
    let opened: Vec<File> = (0..100_000).map_while(|_| File::open("/dev/null").ok()).collect();
    Ok(opened.len().to_string())
}

fn allocate(mib: usize) -> Attempt {
    let mut memory: Vec<u8> = Vec::new();
    memory.try_reserve_exact(mib * MIB).map_err(io::Error::other)?;
    // Touched, not only reserved.
    memory.resize(mib * MIB, 1);
    Ok(std::hint::black_box(memory).len().to_string())
}

fn fill(path: PathBuf, mib: usize) -> Attempt {
    let mut file = File::create(path)?;
    let block = vec![0; MIB];
    for _ in 0..mib {
        file.write_all(&block)?;
    }
    Ok(mib.to_string())
}

/// Megabytes in /tmp over many files.
fn fill_tmp(scene: &Scene) -> Attempt {
    let written = (0..50).take_while(|n| fill(scene.tmp.join(n.to_string()), 10).is_ok()).count() * 10;
    Ok(written.to_string())
}

fn fill_with_files(scene: &Scene) -> Attempt {
    let made = (0..20_000).take_while(|n| fs::write(scene.tmp.join(n.to_string()), "").is_ok()).count();
    Ok(made.to_string())
}

/// Percent of a processor that a busy loop gets.
fn spin() -> Attempt {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        std::hint::spin_loop();
    }
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a structure that outlives the call.
    called(unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) })?;
    let used = usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6;
    Ok(((used / start.elapsed().as_secs_f64()) * 100.0).round().to_string())
}
