//! Locks a child process down; probes and publishes the tier. No SQL in here.
//!
//! A worker is the program itself, started again in two stages that [`enter`] walks:
//!
//! ```text
//! Sandbox::spawn ─► outer: join the cgroup, stage the files, drop to an unprivileged user
//!                     T1 ─► bubblewrap: namespaces, read-only mounts, private /tmp
//!                 ─► inner: rlimits, Landlock, seccomp, one byte to say so, then work
//! ```
//!
//! The tier says what holds a worker. **T1**: namespaces, Landlock and seccomp. **T2**: no
//! namespaces; Landlock of ABI 6 or later, and seccomp that refuses `socket()`. Below that nothing
//! is started. What a machine can't enforce on top (it may have no cgroups) is listed in the
//! [`Report`], never passed over. T2 also shows a little more: a worker there can't open a file that
//! it was not given, but can ask whether one exists and how large it is.
//!
//! Who names an image gets **containers** instead: the walls of a container engine, and inside them
//! seccomp, and Landlock where the engine's kernel has it. There is no falling back from one to the
//! other.
//!
//! A jail is for a worker (an engine: no other programs, no network) or for a script ([`ScriptProfile`]: the machine's
//! programs, read-only, and what it was granted; T1 only).

mod account;
mod cgroup;
mod container;
mod error;
mod handshake;
mod host;
mod jail;
mod jailed;
mod owned_name;
mod probe;
mod scratch;
mod spawn;
mod spec;
mod stage;
mod window;
mod write_probe;

pub use account::worker_owner;
pub use cgroup::Weight;
pub use container::Container;
pub use error::{SpawnError, Unavailable};
pub use host::Host;
pub use jail::{Jail, JailLimits, Profile, Program, ScriptProfile};
pub use jailed::{Death, Jailed};
pub use probe::{Report, Sandbox, Tier};
pub use stage::{Refused, enter};
pub use window::{PANE, View, Window, WindowInside};
