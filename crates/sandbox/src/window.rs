//! Memory that a worker and the server share, so that large results need not be copied through a pipe.
//!
//! A window has panes. The worker fills one and says over its pipe which; the server reads it and gives it back. Until then the
//! worker waits for it: a reader that is slow holds up the engine, as a full pipe would.
//!
//! The worker is not trusted. It can write to a pane while the server reads it, so that what is in there is bytes to be sent
//! and nothing that is decided by. It cannot make the memory smaller, and never says where a pane is.

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::FdFlags;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

/// What one pane holds.
pub const PANE: usize = 1024 * 1024;
/// One is filled, one is sent, two are on the way between.
const PANES: usize = 4;
/// Before the panes: whose each of them is, in a line of the processor's cache of its own.
const HEAD: usize = 4096;
const LINE: usize = 64;
const SIZE: usize = HEAD + PANES * PANE;

/// Where this process, a worker, has been given its window.
static GIVEN: AtomicI32 = AtomicI32::new(NONE);
const NONE: RawFd = -1;

/// Whose a pane is: the worker's, or the server's.
const EMPTY: u32 = 0;
const FILLED: u32 = 1;

/// The server's side.
#[derive(Debug)]
pub struct Window {
    memory: Memory,
    /// Panes that somebody here still reads. What the shared memory says of them is the worker's word.
    lent: [AtomicBool; PANES],
}

impl Window {
    /// A new one, and what to give to the worker.
    pub(crate) fn open() -> io::Result<(Arc<Self>, OwnedFd)> {
        let memory = rustix::fs::memfd_create("window", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&memory, SIZE as u64)?;
        // Who cannot cut it cannot make the server touch memory that is not there.
        rustix::fs::fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok((Arc::new(Self { memory: Memory::map(&memory)?, lent: Default::default() }), memory))
    }

    /// Whether all panes are the worker's to fill.
    pub fn is_clear(&self) -> bool {
        self.lent.iter().all(|lent| !lent.load(Ordering::Acquire))
    }

    /// What the worker says that it has put into a pane. None if that cannot be.
    pub fn look(self: &Arc<Self>, pane: u32, length: u32) -> Option<View> {
        let (pane, length) = (usize::try_from(pane).ok()?, usize::try_from(length).ok()?);
        let lent = self.lent.get(pane).filter(|_| length <= PANE)?;
        let taken = lent.swap(true, Ordering::AcqRel);
        (!taken).then(|| View { window: self.clone(), pane, length })
    }
}

/// What a pane holds, until it is dropped.
pub struct View {
    window: Arc<Window>,
    pane: usize,
    length: usize,
}

impl AsRef<[u8]> for View {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the pane is inside the mapping, which lives as long as the window, and `length` is at most a pane. The
        // worker may write to it meanwhile, against the rules: whoever has a view copies bytes out of it, into a socket or a
        // buffer, and decides nothing by them.
        unsafe { std::slice::from_raw_parts(self.window.memory.pane(self.pane), self.length) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let (window, flag) = (&self.window, self.window.memory.flag(self.pane));
        if let Some(lent) = window.lent.get(self.pane) {
            lent.store(false, Ordering::Release);
        }
        flag.store(EMPTY, Ordering::Release);
        // Nobody may be waiting, or be there any more.
        let _ = futex::wake(flag, futex::Flags::empty(), 1);
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("pane", &self.pane).field("length", &self.length).finish()
    }
}

/// The worker's side.
#[derive(Debug)]
pub struct WindowInside {
    memory: Memory,
    next: usize,
}

impl WindowInside {
    /// The window that this worker was given, if it was. The first to ask has it.
    pub fn find() -> io::Result<Option<Self>> {
        let given = match GIVEN.swap(NONE, Ordering::AcqRel) {
            NONE => return Ok(None),
            // SAFETY: `enter` kept this descriptor open, for the one who takes it here.
            given => unsafe { OwnedFd::from_raw_fd(given) },
        };
        if usize::try_from(rustix::fs::fstat(&given)?.st_size).ok() != Some(SIZE) {
            return Err(io::Error::other("the window of a worker has another size"));
        }
        Ok(Some(Self { memory: Memory::map(&given)?, next: 0 }))
    }

    /// Puts these one behind the other into the next pane, as soon as it is empty. They must fit.
    ///
    /// Gives what to tell the server: the pane, and how much is in it.
    pub fn fill(&mut self, pieces: &[&[u8]]) -> io::Result<(u32, u32)> {
        let length = pieces.iter().map(|piece| piece.len()).sum::<usize>();
        if length > PANE {
            return Err(io::Error::other("more than a pane holds"));
        }
        let pane = self.next;
        self.next = (pane + 1) % PANES;
        let flag = self.memory.flag(pane);
        while flag.load(Ordering::Acquire) == FILLED {
            match futex::wait(flag, futex::Flags::empty(), FILLED, None) {
                Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut to = self.memory.pane(pane);
        for piece in pieces {
            // SAFETY: all of them fit into the pane, which is inside the mapping and not the server's now; the mapping is
            // nobody's Rust value, so that no piece lies in it.
            unsafe {
                ptr::copy_nonoverlapping(piece.as_ptr(), to, piece.len());
                to = to.add(piece.len());
            }
        }
        flag.store(FILLED, Ordering::Release);
        Ok((pane as u32, length as u32))
    }
}

/// Leaves the window open, under its number, in the process that a command starts, and in no other.
pub(crate) fn hand_over(window: OwnedFd, command: &mut Command) {
    let keep = move || Ok(rustix::io::fcntl_setfd(&window, FdFlags::empty())?);
    // SAFETY: between fork and exec it makes one system call, which is safe to make there, and allocates nothing.
    unsafe { command.pre_exec(keep) };
}

/// In the worker: where its window is, for [`WindowInside::find`].
pub(crate) fn received(window: Option<RawFd>) {
    GIVEN.store(window.unwrap_or(NONE), Ordering::Release);
}

/// The mapping, the same on both sides.
struct Memory(NonNull<u8>);

// SAFETY: it is plain memory. What is shared in it is reached through atomics, or by whoever a pane belongs to.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn map(file: &impl AsFd) -> io::Result<Self> {
        // SAFETY: a new mapping at a place that the kernel chooses.
        let start = unsafe {
            rustix::mm::mmap(ptr::null_mut(), SIZE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)?
        };
        NonNull::new(start.cast()).map(Self).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    fn flag(&self, pane: usize) -> &AtomicU32 {
        // SAFETY: inside the mapping, aligned, and only ever reached as an atomic. `PANES` lines are fewer than the head has.
        unsafe { AtomicU32::from_ptr(self.0.as_ptr().add(pane.min(PANES - 1) * LINE).cast()) }
    }

    fn pane(&self, pane: usize) -> *mut u8 {
        // SAFETY: inside the mapping.
        unsafe { self.0.as_ptr().add(HEAD + pane.min(PANES - 1) * PANE) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: this mapping, of which nothing is left that points into it.
        let _ = unsafe { rustix::mm::munmap(self.0.as_ptr().cast(), SIZE) };
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Arc<Window>, WindowInside, OwnedFd) {
        let (window, file) = Window::open().unwrap();
        let inside = WindowInside { memory: Memory::map(&file).unwrap(), next: 0 };
        (window, inside, file)
    }

    #[test]
    fn what_is_put_in_is_seen() {
        let (window, mut inside, _file) = pair();
        for round in 0..3 * PANES {
            let text = format!("round {round}");
            let (pane, length) = inside.fill(&[text.as_bytes(), b"", b"!"]).unwrap();
            assert!(window.is_clear());
            let view = window.look(pane, length).unwrap();
            assert_eq!(view.as_ref(), format!("{text}!").as_bytes());
            assert!(!window.is_clear());
        }
        let whole = vec![7; PANE];
        let (pane, length) = inside.fill(&[&whole]).unwrap();
        assert_eq!(window.look(pane, length).unwrap().as_ref(), whole);
        assert!(inside.fill(&[&whole, b"x"]).is_err());
    }

    /// A worker that lies gets nothing for it.
    #[test]
    fn what_cannot_be_is_not_looked_at() {
        let (window, mut inside, _file) = pair();
        let (pane, length) = inside.fill(&[b"text"]).unwrap();
        assert!(window.look(PANES as u32, 1).is_none());
        assert!(window.look(u32::MAX, 1).is_none());
        assert!(window.look(pane, PANE as u32 + 1).is_none());
        let view = window.look(pane, length).unwrap();
        assert!(window.look(pane, length).is_none(), "the same pane twice");
        drop(view);
        assert!(window.look(pane, length).is_some());
    }

    #[test]
    fn who_fills_waits_for_who_reads() {
        let (window, mut inside, _file) = pair();
        let views: Vec<View> = (0..PANES)
            .map(|_| inside.fill(&[b"first"]).unwrap())
            .map(|(pane, length)| window.look(pane, length).unwrap())
            .collect();
        let filling = std::thread::spawn(move || inside.fill(&[b"second"]).unwrap());
        assert!(!filling.is_finished());
        assert!(views.iter().all(|view| view.as_ref() == b"first"));
        drop(views);
        let (pane, length) = filling.join().unwrap();
        assert_eq!(window.look(pane, length).unwrap().as_ref(), b"second");
    }

    #[test]
    fn nobody_makes_it_smaller() {
        let (_window, _inside, file) = pair();
        assert!(rustix::fs::ftruncate(&file, 0).is_err());
        assert!(rustix::fs::ftruncate(&file, SIZE as u64 * 2).is_err());
        assert!(rustix::fs::fcntl_add_seals(&file, SealFlags::WRITE).is_err());
    }
}
