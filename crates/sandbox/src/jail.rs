//! What a worker is and what it may have.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

const MIB: u64 = 1024 * 1024;

/// The program that becomes the worker: it must call [`crate::enter`] with what follows `args`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Program {
    pub path: PathBuf,
    /// The words that lead to the call of `enter`, for example `runner`.
    pub args: Vec<OsString>,
    /// Directories of shared libraries that it needs, besides those of the system.
    pub libraries: Vec<PathBuf>,
}

/// What one worker may see and use. Everything else is refused.
#[derive(Debug, Clone, Default)]
pub struct Jail {
    /// Files and directories that it may read.
    pub read: Vec<PathBuf>,
    /// Directories in which it may read, write and make files.
    pub write: Vec<PathBuf>,
    /// Whether it may lock files, for data that others change while it looks, and for files of its own.
    pub locks: bool,
    pub limits: JailLimits,
    /// Whether it has a [`crate::Window`] for large results. In a container there is none.
    pub window: bool,
    /// Nobody waits for it: it starts on what others leave of the processors, until its [`crate::Weight`] is reset.
    pub unhurried: bool,
    pub profile: Profile,
}

/// What kind of work it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub enum Profile {
    /// Reads its files, computes, answers on its pipes. No sockets, no new processes, no exec.
    #[default]
    Worker,
    /// Runs programs of the machine, none of its own, and changes nothing but what it is granted. In T1 only: without
    /// namespaces nobody could end all that a script starts.
    Script(ScriptProfile),
}

/// What a script has besides the machine's programs and its readable files.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ScriptProfile {
    /// The machine's network; without it one of its own, with nothing in it.
    pub network: bool,
    /// Files and directories that it may change, where they are.
    pub writable: Vec<PathBuf>,
    /// Directories and files that it must not see although they lie where it may read.
    pub hidden: Vec<PathBuf>,
}

/// How much one worker, with everything that it starts, may use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JailLimits {
    /// Memory of the whole tree, its files in /tmp included. Needs a cgroup.
    pub memory_bytes: u64,
    /// Address space of each process: larger than its memory, since libraries and stacks are
    /// mapped but hardly touched. An allocation beyond it fails, which engines report cleanly;
    /// beyond `memory_bytes` the kernel kills.
    pub address_space_bytes: u64,
    /// Processes and threads of the tree.
    pub processes: u64,
    /// Processors, as a share: 0.5 is half of one. Needs a cgroup.
    pub cpus: f64,
    /// All files in /tmp together, and each of them.
    pub tmp_bytes: u64,
    /// Files in /tmp.
    pub tmp_files: u64,
    pub open_files: u64,
}

impl Default for JailLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 512 * MIB,
            address_space_bytes: 768 * MIB,
            processes: 64,
            cpus: 0.5,
            tmp_bytes: 64 * MIB,
            tmp_files: 1024,
            open_files: 256,
        }
    }
}
