//! Reaching for the kernel.

use crate::{Attempt, Case, called};
use libc::*;
use std::ptr::null_mut;

/// Raw system calls that must not get as far as looking at their arguments.
macro_rules! raw {
    ($call:expr $(, $argument:expr)*) => {
        // SAFETY: refused before the kernel looks at the arguments; none of them points to our memory.
        |_| called(unsafe { syscall($call $(, $argument)*) })
    };
}

const NOTHING: usize = 0;

pub const CASES: &[Case] = &[
    ("ptrace", raw!(SYS_ptrace, PTRACE_TRACEME, 0, NOTHING, NOTHING)),
    ("ptrace_parent", |_| {
        // SAFETY: names a process; no memory of ours.
        called(unsafe { syscall(SYS_ptrace, PTRACE_SEIZE, getppid(), NOTHING, NOTHING) })
    }),
    ("read_parents_memory", raw!(SYS_process_vm_readv, 1, NOTHING, 0, NOTHING, 0, 0)),
    ("user_namespace", raw!(SYS_unshare, CLONE_NEWUSER)),
    ("mount_namespace", raw!(SYS_unshare, CLONE_NEWNS)),
    ("clone_user_namespace", raw!(SYS_clone, CLONE_NEWUSER | SIGCHLD, NOTHING, NOTHING, NOTHING, NOTHING)),
    ("clone3", raw!(SYS_clone3, NOTHING, NOTHING)),
    ("set_namespace", raw!(SYS_setns, 0, 0)),
    ("mount", raw!(SYS_mount, NOTHING, NOTHING, NOTHING, 0, NOTHING)),
    ("new_mount_api", raw!(SYS_fsopen, NOTHING, 0)),
    ("open_tree", raw!(SYS_open_tree, AT_FDCWD, NOTHING, 1)),
    ("chroot", raw!(SYS_chroot, NOTHING)),
    ("pivot_root", raw!(SYS_pivot_root, NOTHING, NOTHING)),
    ("io_uring", raw!(SYS_io_uring_setup, 8, NOTHING)),
    ("bpf", raw!(SYS_bpf, 0, NOTHING, 0)),
    ("perf_event", raw!(SYS_perf_event_open, NOTHING, 0, -1, -1, 0)),
    ("userfaultfd", raw!(SYS_userfaultfd, 0)),
    ("keyring", raw!(SYS_keyctl, 0, -3, 0)),
    ("add_key", raw!(SYS_add_key, NOTHING, NOTHING, NOTHING, 0, 0)),
    ("open_by_handle", raw!(SYS_open_by_handle_at, 0, NOTHING, 0)),
    ("kernel_module", raw!(SYS_finit_module, 0, NOTHING, 0)),
    ("kexec", raw!(SYS_kexec_load, 0, 0, NOTHING, 0)),
    ("reboot", raw!(SYS_reboot, 0, 0, 0, NOTHING)),
    ("kernel_log", raw!(SYS_syslog, 3, NOTHING, 0)),
    ("set_clock", raw!(SYS_clock_settime, 0, NOTHING)),
    ("set_uid", raw!(SYS_setuid, 0)),
    ("set_groups", raw!(SYS_setgroups, 0, NOTHING)),
    ("set_capabilities", raw!(SYS_capset, NOTHING, NOTHING)),
    ("own_seccomp", raw!(SYS_seccomp, 1, 0, NOTHING)),
    ("pidfd", raw!(SYS_pidfd_open, 1, 0)),
    ("signal_parent", |_| {
        // SAFETY: names a process.
        called(unsafe { kill(getppid(), SIGSTOP) })
    }),
    ("signal_everybody", raw!(SYS_kill, -1, 0)),
    ("thread_signal_to_parent", raw!(SYS_tgkill, 1, 1, 0)),
    ("raise_limits", |_| {
        let limit = rlimit { rlim_cur: RLIM_INFINITY, rlim_max: RLIM_INFINITY };
        // SAFETY: a limit that outlives the call.
        called(unsafe { setrlimit(RLIMIT_AS, &limit) })
    }),
    ("become_dumpable", raw!(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)),
    ("executable_memory", |_| executable_memory()),
    ("type_into_terminal", raw!(SYS_ioctl, 0, TIOCSTI, NOTHING)),
    ("personality", raw!(SYS_personality, 0x0040_0000)),
    #[cfg(target_arch = "x86_64")]
    ("x32_call", raw!(0x4000_0000_i64 | SYS_getpid)),
    #[cfg(target_arch = "x86_64")]
    ("i386_call", |_| i386_getpid()),
];

fn executable_memory() -> Attempt {
    let (size, rwx) = (4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    // SAFETY: a fresh anonymous mapping; nothing is run in it.
    let memory = unsafe { mmap(null_mut(), size, rwx, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
    called(if memory == MAP_FAILED { -1 } else { 0 })
}

/// The 32-bit way in, past a filter that knows only 64-bit numbers.
#[cfg(target_arch = "x86_64")]
fn i386_getpid() -> Attempt {
    let pid: i64;
    // SAFETY: `getpid` of the 32-bit table; it reads and writes no memory.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("rax") 20_i64 => pid, out("r8") _, out("r9") _, out("r10") _, out("r11") _)
    };
    Ok(pid.to_string())
}
