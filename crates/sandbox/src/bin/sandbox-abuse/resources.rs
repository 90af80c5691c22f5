//! Taking more than is given.

use crate::{Attempt, Case, Scene, called};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const MIB: usize = 1024 * 1024;

pub const CASES: &[Case] = &[
    ("threads_work", |_| threads(8)),
    ("thread_bomb", |_| threads(5_000)),
    ("fork", |_| fork()),
    ("fork_bomb", |_| forks(5_000)),
    ("vfork", |_| {
        // SAFETY: without CLONE_THREAD the call is refused; a child would share nothing.
        called(unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) })
    }),
    ("open_files", |_| open_files()),
    ("allocate_2_gb", |_| allocate(2048)),
    ("allocate_100_mb", |_| allocate(100)),
    ("outgrow_group_memory", |_| allocate(400)),
    ("outgrow_group_memory_by_threads", |_| allocate_in_threads()),
    ("outgrow_group_memory_by_files", |s| fill_in_parts(s, 12)),
    ("outgrow_group_memory_by_mapping", |s| map_shared(&s.tmp.join("map"), 60)),
    ("huge_mapping", |s| map_shared(&s.tmp.join("map"), 100_000)),
    ("huge_stack", |_| thread::Builder::new().stack_size(8192 * MIB).spawn(|| ()).map(|_| "started".into())),
    ("deep_recursion", |_| Ok(dive(0).to_string())),
    ("fill_tmp", fill_tmp),
    ("sparse_file", |s| File::create(s.tmp.join("sparse"))?.set_len(1 << 40).map(|()| "made".into())),
    ("reserve_space", |s| reserve(&s.tmp.join("big"))),
    ("fill_with_unlinked_files", fill_with_unlinked),
    ("fill_tmp_with_directories", nest),
    ("long_path", long_path),
    ("fill_tmp_with_one_file", |s| fill(s.tmp.join("big"), 500)),
    ("fill_tmp_with_files", fill_with_files),
    ("spin", |_| spin()),
    ("spin_on_all_threads", |_| {
        for _ in 0..16 {
            thread::Builder::new().spawn(spin_forever::<()>)?;
        }
        spin_forever()
    }),
    ("ignore_signals_and_sleep", |_| {
        for signal in 1..32 {
            // SAFETY: ignoring a signal installs no handler.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        loop {
            thread::sleep(Duration::from_secs(3600));
        }
    }),
    ("write_300_mb", |_| {
        for _ in 0..300 {
            io::stdout().write_all(&vec![b'x'; MIB])?;
        }
        Ok("300".into())
    }),
    ("complain_300_mb", |_| {
        for _ in 0..300 {
            io::stderr().write_all(&vec![b'x'; MIB])?;
        }
        Ok("300".into())
    }),
    ("close_pipes_and_sleep", |_| {
        for pipe in 0..3 {
            // SAFETY: nothing in this process uses it again.
            unsafe { libc::close(pipe) };
        }
        loop {
            thread::sleep(Duration::from_secs(3600));
        }
    }),
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

/// How many children could live at the same time.
fn forks(wanted: usize) -> Attempt {
    let start = |_: &usize| {
        // SAFETY: one thread runs, and a child does nothing but wait for its end.
        match unsafe { libc::fork() } {
            0 => loop {
                // SAFETY: waits for a signal.
                unsafe { libc::pause() };
            },
            pid => pid > 0,
        }
    };
    Ok((0..wanted).take_while(start).count().to_string())
}

fn open_files() -> Attempt {
    let opened: Vec<File> = (0..100_000).map_while(|_| File::open("/dev/null").ok()).collect();
    Ok(opened.len().to_string())
}

fn allocate(mib: usize) -> Attempt {
    touched(mib).map(|memory| memory.len().to_string())
}

/// Not only reserved.
fn touched(mib: usize) -> io::Result<Vec<u8>> {
    let mut memory: Vec<u8> = Vec::new();
    memory.try_reserve_exact(mib * MIB).map_err(io::Error::other)?;
    memory.resize(mib * MIB, 1);
    Ok(std::hint::black_box(memory))
}

fn fill(path: PathBuf, mib: usize) -> Attempt {
    let mut file = File::create(path)?;
    let block = vec![0; MIB];
    for _ in 0..mib {
        file.write_all(&block)?;
    }
    Ok(mib.to_string())
}

/// 50 threads of 8 MB each.
fn allocate_in_threads() -> Attempt {
    let start = |_| thread::Builder::new().spawn(|| touched(8)).ok();
    let started: Vec<_> = (0..50).map_while(start).collect();
    let held: Vec<Vec<u8>> = started.into_iter().filter_map(|t| t.join().ok()?.ok()).collect();
    Ok(held.len().to_string())
}

fn fill_in_parts(scene: &Scene, parts: usize) -> Attempt {
    for part in 0..parts {
        fill(scene.tmp.join(part.to_string()), 5)?;
    }
    Ok((parts * 5).to_string())
}

fn map_shared(path: &Path, mib: usize) -> Attempt {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    file.set_len((mib * MIB) as u64)?;
    let (null, rw, fd) = (std::ptr::null_mut(), libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
    // SAFETY: a fresh mapping of our own file, as long as the file.
    let memory = unsafe { libc::mmap(null, mib * MIB, rw, libc::MAP_SHARED, fd, 0) };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    for page in (0..mib * MIB).step_by(4096) {
        // SAFETY: inside the mapping, which nobody else has.
        unsafe { memory.cast::<u8>().add(page).write_volatile(1) };
    }
    Ok(mib.to_string())
}

#[allow(unconditional_recursion, reason = "as told")]
fn dive(depth: u64) -> u64 {
    let here = std::hint::black_box([depth; 128]);
    dive(depth + 1) + std::hint::black_box(here).iter().sum::<u64>()
}

fn reserve(path: &Path) -> Attempt {
    let file = File::create(path)?;
    // SAFETY: names a descriptor.
    called(unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, 1 << 30) })
}

/// Files that nobody can see any more, held open.
fn fill_with_unlinked(scene: &Scene) -> Attempt {
    let path = scene.tmp.join("gone");
    let mut held = Vec::new();
    while held.len() < 10 && fill(path.clone(), 10).is_ok() {
        held.push(File::open(&path)?);
        fs::remove_file(&path)?;
    }
    Ok((held.len() * 10).to_string())
}

/// Directories take inodes too.
fn nest(scene: &Scene) -> Attempt {
    let made = (0..2_000).take_while(|n| fs::create_dir(scene.tmp.join(n.to_string())).is_ok()).count();
    Ok(made.to_string())
}

fn long_path(scene: &Scene) -> Attempt {
    fs::create_dir_all(scene.tmp.join(vec!["d".repeat(200); 50].join("/"))).map(|()| "made".into())
}

fn spin_forever<T>() -> T {
    loop {
        std::hint::spin_loop();
    }
}

/// Megabytes in /tmp over many files.
fn fill_tmp(scene: &Scene) -> Attempt {
    let written = (0..10).take_while(|n| fill(scene.tmp.join(n.to_string()), 10).is_ok()).count() * 10;
    Ok(written.to_string())
}

fn fill_with_files(scene: &Scene) -> Attempt {
    let made = (0..2_000).take_while(|n| fs::write(scene.tmp.join(n.to_string()), "").is_ok()).count();
    Ok(made.to_string())
}

/// Percent of a processor that a busy loop gets, counted over two whole periods of the kernel's: the share of a part of one
/// says little, since a group has all of a processor until its share of the period is used up. Where the machine is too
/// busy to let it come so far, over as long a time; all of it ends before its supervisor loses patience.
fn spin() -> Attempt {
    const PERIODS: Duration = Duration::from_millis(1_900);
    const A_BIT: Duration = Duration::from_millis(200);
    until_let_go_on(Instant::now() + PERIODS / 2 + A_BIT);
    let (start, before) = (Instant::now(), processor_time()?);
    while start.elapsed() < PERIODS {
        until_let_go_on(start + PERIODS + A_BIT);
    }
    let used = processor_time()? - before;
    Ok((used.as_secs_f64() / start.elapsed().as_secs_f64() * 100.0).round().to_string())
}

/// Busy until it was held up for longer than other work of the machine explains, or until then.
fn until_let_go_on(latest: Instant) {
    let mut last = Instant::now();
    while last < latest {
        let now = Instant::now();
        if now - last > Duration::from_millis(250) {
            break;
        }
        last = now;
    }
}

fn processor_time() -> io::Result<Duration> {
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a structure that outlives the call.
    called(unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) })?;
    let time = usage.ru_utime;
    Ok(Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs()))
}
