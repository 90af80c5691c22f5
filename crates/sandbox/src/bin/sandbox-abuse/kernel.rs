//! Reaching for the kernel.

use crate::{Attempt, Case, called, raw};
use libc::*;
use std::ptr::null_mut;

const NOTHING: usize = 0;

pub const CASES: &[Case] = &[
    // namespaces and mounts
    ("user_namespace", raw!(SYS_unshare, CLONE_NEWUSER)),
    ("mount_namespace", raw!(SYS_unshare, CLONE_NEWNS)),
    ("network_namespace", raw!(SYS_unshare, CLONE_NEWNET)),
    ("unshare_files", raw!(SYS_unshare, CLONE_FILES)),
    ("clone_user_namespace", raw!(SYS_clone, CLONE_NEWUSER | SIGCHLD, NOTHING, NOTHING, NOTHING, NOTHING)),
    ("clone3", raw!(SYS_clone3, NOTHING, NOTHING)),
    ("set_namespace", raw!(SYS_setns, 0, 0)),
    ("mount", raw!(SYS_mount, NOTHING, NOTHING, NOTHING, 0, NOTHING)),
    ("unmount", raw!(SYS_umount2, c"/data".as_ptr(), MNT_DETACH)),
    ("new_mount_api", raw!(SYS_fsopen, NOTHING, 0)),
    ("pick_mount", raw!(SYS_fspick, AT_FDCWD, NOTHING, 0)),
    ("move_mount", raw!(SYS_move_mount, AT_FDCWD, NOTHING, AT_FDCWD, NOTHING, 0)),
    ("make_mount_writable", raw!(SYS_mount_setattr, AT_FDCWD, NOTHING, 0, NOTHING, 0)),
    ("open_tree", raw!(SYS_open_tree, AT_FDCWD, NOTHING, 1)),
    ("chroot", raw!(SYS_chroot, NOTHING)),
    ("pivot_root", raw!(SYS_pivot_root, NOTHING, NOTHING)),
    ("change_directory", raw!(SYS_chdir, c"/".as_ptr())),
    // large surfaces
    ("io_uring", raw!(SYS_io_uring_setup, 8, NOTHING)),
    ("asynchronous_io", raw!(SYS_io_setup, 8, NOTHING)),
    ("bpf", raw!(SYS_bpf, 0, NOTHING, 0)),
    ("perf_event", raw!(SYS_perf_event_open, NOTHING, 0, -1, -1, 0)),
    ("userfaultfd", raw!(SYS_userfaultfd, 0)),
    ("file_events", raw!(SYS_inotify_init1, 0)),
    ("file_events_of_all", raw!(SYS_fanotify_init, 0, 0)),
    ("event_poll", raw!(SYS_epoll_create1, 0)),
    ("event_file", raw!(SYS_eventfd2, 0, 0)),
    ("signal_file", raw!(SYS_signalfd4, -1, NOTHING, 8, 0)),
    ("timer_file", raw!(SYS_timerfd_create, 1, 0)),
    ("timer", raw!(SYS_timer_create, 1, NOTHING, NOTHING)),
    ("interval_timer", raw!(SYS_setitimer, 0, NOTHING, NOTHING)),
    ("pipe", raw!(SYS_pipe2, NOTHING, 0)),
    ("splice", raw!(SYS_splice, 0, NOTHING, 1, NOTHING, 1, 0)),
    ("splice_memory", raw!(SYS_vmsplice, 1, NOTHING, 0, 0)),
    ("send_file", raw!(SYS_sendfile, 1, 0, NOTHING, 1)),
    ("copy_range", raw!(SYS_copy_file_range, 0, NOTHING, 1, NOTHING, 1, 0)),
    // keys, handles and shared memory
    ("keyring", raw!(SYS_keyctl, 0, -3, 0)),
    ("add_key", raw!(SYS_add_key, NOTHING, NOTHING, NOTHING, 0, 0)),
    ("request_key", raw!(SYS_request_key, NOTHING, NOTHING, NOTHING, 0)),
    ("open_by_handle", raw!(SYS_open_by_handle_at, 0, NOTHING, 0)),
    ("secret_memory", raw!(SYS_memfd_secret, 0)),
    ("shared_memory", raw!(SYS_shmget, IPC_PRIVATE, 4096, IPC_CREAT | 0o666)),
    ("attach_shared_memory", raw!(SYS_shmat, 0, NOTHING, 0)),
    ("semaphores", raw!(SYS_semget, IPC_PRIVATE, 1, IPC_CREAT | 0o666)),
    ("messages", raw!(SYS_msgget, IPC_PRIVATE, IPC_CREAT | 0o666)),
    ("message_queue", raw!(SYS_mq_open, c"abuse".as_ptr(), O_CREAT | O_RDWR, 0o666, NOTHING)),
    // the machine itself
    ("kernel_module", raw!(SYS_finit_module, 0, NOTHING, 0)),
    ("kernel_module_from_memory", raw!(SYS_init_module, NOTHING, 0, NOTHING)),
    ("unload_module", raw!(SYS_delete_module, NOTHING, 0)),
    ("kexec", raw!(SYS_kexec_load, 0, 0, NOTHING, 0)),
    ("reboot", raw!(SYS_reboot, 0, 0, 0, NOTHING)),
    ("kernel_log", raw!(SYS_syslog, 3, NOTHING, 0)),
    ("set_clock", raw!(SYS_clock_settime, 0, NOTHING)),
    ("adjust_clock", raw!(SYS_clock_adjtime, 0, NOTHING)),
    ("host_name", raw!(SYS_sethostname, c"x".as_ptr(), 1)),
    ("swap", raw!(SYS_swapon, NOTHING, 0)),
    ("accounting", raw!(SYS_acct, NOTHING)),
    ("quotas", raw!(SYS_quotactl, 0, NOTHING, 0, NOTHING)),
    ("hang_up_terminal", raw!(SYS_vhangup)),
    // its own locks and memory
    ("own_seccomp", raw!(SYS_seccomp, 1, 0, NOTHING)),
    ("own_landlock", raw!(SYS_landlock_create_ruleset, NOTHING, 0, 0)),
    ("restrict_itself_again", raw!(SYS_landlock_restrict_self, 0, 0)),
    ("executable_memory", |_| executable_memory()),
    ("executable_memory_by_key", raw!(SYS_pkey_mprotect, NOTHING, 4096, PROT_EXEC, -1)),
    ("executable_memory_later", |_| executable_later()),
    ("remap_pages", raw!(SYS_remap_file_pages, NOTHING, 0, 0, 0, 0)),
    ("lock_memory", raw!(SYS_mlockall, 3)),
    ("place_memory", raw!(SYS_mbind, NOTHING, 0, 0, NOTHING, 0, 0)),
    ("move_memory", raw!(SYS_move_pages, 0, 0, NOTHING, NOTHING, NOTHING, 0)),
    ("personality", raw!(SYS_personality, 0x0040_0000)),
    ("type_into_terminal", raw!(SYS_ioctl, 0, TIOCSTI, NOTHING)),
    ("take_terminal", raw!(SYS_ioctl, 0, TIOCSCTTY, 1)),
    ("console_selection", raw!(SYS_ioctl, 0, TIOCLINUX, NOTHING)),
    ("flags_of_inode", raw!(SYS_ioctl, 0, 0x4008_6602, NOTHING)),
    ("size_of_pipe", |_| {
        // SAFETY: names a descriptor.
        called(unsafe { fcntl(1, F_SETPIPE_SZ, 1 << 20) })
    }),
    ("own_signals_from_pipe", |_| {
        // SAFETY: names a descriptor and a process.
        called(unsafe { fcntl(0, F_SETOWN, getppid()) })
    }),
    ("unknown_call", raw!(9_999)),
    #[cfg(target_arch = "x86_64")]
    ("io_ports", raw!(SYS_ioperm, 0, 1, 1)),
    #[cfg(target_arch = "x86_64")]
    ("io_level", raw!(SYS_iopl, 3)),
    #[cfg(target_arch = "x86_64")]
    ("descriptor_table", raw!(SYS_modify_ldt, 0, NOTHING, 0)),
    #[cfg(target_arch = "x86_64")]
    ("thread_base", raw!(SYS_arch_prctl, 0x1003, NOTHING)),
    #[cfg(target_arch = "x86_64")]
    ("x32_call", raw!(0x4000_0000_i64 | SYS_getpid)),
    #[cfg(target_arch = "x86_64")]
    ("x32_open", raw!(0x4000_0000_i64 | SYS_open, c"/etc/passwd".as_ptr(), 0)),
    #[cfg(target_arch = "x86_64")]
    ("i386_call", |_| i386_getpid()),
];

fn map(protection: c_int) -> *mut c_void {
    // SAFETY: a fresh anonymous mapping; nothing is run in it.
    unsafe { mmap(null_mut(), 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) }
}

fn executable_memory() -> Attempt {
    called(if map(PROT_READ | PROT_WRITE | PROT_EXEC) == MAP_FAILED { -1 } else { 0 })
}

/// First written, then run.
fn executable_later() -> Attempt {
    let memory = map(PROT_READ | PROT_WRITE);
    // SAFETY: our own mapping of this size.
    called(unsafe { mprotect(memory, 4096, PROT_READ | PROT_EXEC) })
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
