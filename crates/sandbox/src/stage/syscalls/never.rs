//! What must never come onto the list, whatever an engine may want: the calls behind most escapes, by family.
//!
//! That the list is long enough is shown where engines work behind it: every test of the house with a real server.

use super::{Profile, rules};
use libc::*;
use std::collections::BTreeSet;

macro_rules! families {
    ($($family:literal: $($call:ident)+;)+) => {
        const FAMILIES: &[(&str, &[(&str, c_long)])] = &[$(($family, &[$((stringify!($call), $call)),+])),+];
    };
}

families! {
    "other programs": SYS_execve SYS_execveat SYS_memfd_create SYS_memfd_secret;
    "sockets": SYS_socket SYS_socketpair SYS_connect SYS_bind SYS_listen SYS_accept4 SYS_sendto SYS_sendmsg
        SYS_sendmmsg SYS_recvfrom SYS_recvmsg SYS_recvmmsg SYS_setsockopt SYS_getsockopt;
    "namespaces": SYS_unshare SYS_setns SYS_chroot SYS_pivot_root SYS_chdir SYS_fchdir;
    "mounts": SYS_mount SYS_umount2 SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_move_mount SYS_open_tree
        SYS_mount_setattr SYS_swapon SYS_swapoff SYS_quotactl SYS_quotactl_fd;
    "other processes": SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_kcmp SYS_pidfd_open SYS_pidfd_getfd
        SYS_pidfd_send_signal SYS_process_madvise SYS_process_mrelease SYS_get_robust_list SYS_waitid SYS_wait4;
    "signals": SYS_kill SYS_tkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo;
    "who it is": SYS_setuid SYS_setgid SYS_setreuid SYS_setregid SYS_setresuid SYS_setresgid SYS_setfsuid SYS_setfsgid
        SYS_setgroups SYS_capset SYS_setsid SYS_setpgid SYS_personality;
    "locks of its own": SYS_seccomp SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self;
    "large surfaces": SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_io_setup SYS_io_submit SYS_bpf
        SYS_perf_event_open SYS_userfaultfd SYS_fanotify_init SYS_inotify_init1 SYS_splice SYS_vmsplice SYS_tee
        SYS_sendfile SYS_copy_file_range;
    "keys": SYS_add_key SYS_request_key SYS_keyctl;
    "shared between processes": SYS_shmget SYS_shmat SYS_semget SYS_semop SYS_msgget SYS_msgsnd SYS_mq_open SYS_flock;
    "handles": SYS_open_by_handle_at SYS_name_to_handle_at SYS_openat2;
    "changing files of others": SYS_linkat SYS_symlinkat SYS_mknodat SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat
        SYS_utimensat SYS_setxattr SYS_fsetxattr SYS_truncate;
    "more than its share": SYS_setrlimit SYS_setpriority SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
        SYS_sched_setaffinity SYS_ioprio_set SYS_mlock SYS_mlock2 SYS_mlockall SYS_mbind SYS_set_mempolicy
        SYS_move_pages SYS_migrate_pages;
    "code at run time": SYS_pkey_mprotect SYS_remap_file_pages;
    "the machine": SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_reboot SYS_syslog
        SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_sethostname SYS_setdomainname SYS_acct
        SYS_vhangup;
}

#[test]
fn dangerous_families_are_absent() {
    let allowed: BTreeSet<i64> = rules(Profile::Live).unwrap().into_keys().collect();
    let found: Vec<String> = FAMILIES
        .iter()
        .flat_map(|(family, calls)| calls.iter().map(move |(name, call)| (family, name, call)))
        .filter(|(_, _, call)| allowed.contains(call))
        .map(|(family, name, _)| format!("{name} ({family})"))
        .collect();
    assert!(found.is_empty(), "a worker may call {found:?}");
}

/// Calls that can be harmless or not are on the list with a rule about their arguments.
#[test]
fn calls_with_two_faces_have_rules() {
    let rules = rules(Profile::Worker).unwrap();
    for call in [SYS_clone, SYS_mmap, SYS_mprotect, SYS_tgkill, SYS_prlimit64, SYS_ioctl, SYS_fcntl, SYS_prctl] {
        assert!(rules.get(&call).is_some_and(|rules| !rules.is_empty()), "{call}");
    }
}
