//! What a shell and the programs that it starts need: more than an engine, and nothing that leads out.

use super::lists::{ALWAYS, FCNTL, PRCTL};
use super::{Error, Len, Op, Rules, namespaces, one_of, rule};
use libc::*;
use seccompiler::{SeccompCondition as Condition, SeccompRule as Rule};

/// Allowed with any arguments, besides [`ALWAYS`].
#[rustfmt::skip]
const MORE: &[c_long] = &[
    // other programs
    SYS_execve, SYS_wait4, SYS_waitid, SYS_exit_group, SYS_pipe2, SYS_kill, SYS_tgkill, SYS_tkill,
    SYS_setpgid, SYS_getpgid, SYS_getsid, SYS_setsid, SYS_chdir, SYS_fchdir,
    // their code
    SYS_mmap, SYS_mprotect,
    // files of its own
    SYS_fchmod, SYS_fchmodat, SYS_utimensat, SYS_symlinkat, SYS_linkat, SYS_truncate, SYS_flock, SYS_fchown, SYS_fchownat,
    SYS_sendfile, SYS_copy_file_range, SYS_splice, SYS_sync, SYS_syncfs, SYS_preadv2, SYS_pwritev2,
    SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr, SYS_flistxattr,
    // waiting
    SYS_rt_sigsuspend, SYS_rt_sigpending, SYS_setitimer, SYS_getitimer, SYS_timer_create, SYS_timer_settime, SYS_timer_delete,
    SYS_timer_gettime, SYS_timerfd_create, SYS_timerfd_settime, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_eventfd2,
    // who it is; limits can only be lowered
    SYS_getgroups, SYS_getresuid, SYS_getresgid, SYS_capget, SYS_getpriority, SYS_setpriority, SYS_ioprio_get, SYS_ioprio_set,
    SYS_prlimit64, SYS_setrlimit, SYS_sched_getattr,
    // older names of the above
    #[cfg(target_arch = "x86_64")] SYS_arch_prctl,
    #[cfg(target_arch = "x86_64")] SYS_fork,
    #[cfg(target_arch = "x86_64")] SYS_vfork,
    #[cfg(target_arch = "x86_64")] SYS_pipe,
    #[cfg(target_arch = "x86_64")] SYS_getpgrp,
    #[cfg(target_arch = "x86_64")] SYS_alarm,
    #[cfg(target_arch = "x86_64")] SYS_pause,
    #[cfg(target_arch = "x86_64")] SYS_chmod,
    #[cfg(target_arch = "x86_64")] SYS_chown,
    #[cfg(target_arch = "x86_64")] SYS_symlink,
    #[cfg(target_arch = "x86_64")] SYS_link,
    #[cfg(target_arch = "x86_64")] SYS_creat,
    #[cfg(target_arch = "x86_64")] SYS_utime,
    #[cfg(target_arch = "x86_64")] SYS_utimes,
    #[cfg(target_arch = "x86_64")] SYS_getdents,
    #[cfg(target_arch = "x86_64")] SYS_epoll_create,
    #[cfg(target_arch = "x86_64")] SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")] SYS_eventfd,
];

/// On sockets that it may have. Never `listen` and `accept`: nobody connects to a script.
#[rustfmt::skip]
const SOCKETS: &[c_long] = &[
    SYS_connect, SYS_bind, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_getsockname,
    SYS_getpeername, SYS_setsockopt, SYS_getsockopt, SYS_shutdown,
];

/// Asking about a file or a terminal, and about interfaces.
const IOCTL: &[c_int] = &[
    0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x8910, 0x8912, 0x8913, 0x8915, 0x8919, 0x891b, 0x8921, 0x8927,
    0x8933, 0x8942,
];

/// Tables of the kernel about the network that it is in: routes, and sockets.
const NETLINK_PROTOCOLS: [u64; 2] = [0, 4];

pub(super) fn rules(network: bool) -> Result<Rules, Error> {
    let mut rules: Rules = ALWAYS.iter().chain(MORE).map(|call| (*call, Vec::new())).collect();
    rules.insert(SYS_clone, vec![Rule::new(vec![Condition::new(0, Len::Dword, Op::MaskedEq(namespaces()), 0)?])?]);
    rules.insert(SYS_ioctl, one_of(1, IOCTL)?);
    rules.insert(SYS_fcntl, one_of(1, &[FCNTL, &[F_SETLK, F_SETLKW, F_GETPIPE_SZ]].concat())?);
    rules.insert(SYS_prctl, one_of(0, &[PRCTL, &[PR_GET_DUMPABLE, PR_SET_PDEATHSIG, PR_CAPBSET_READ]].concat())?);
    if network {
        rules.extend(SOCKETS.iter().map(|call| (*call, Vec::new())));
        rules.insert(SYS_socket, sockets()?);
    }
    Ok(rules)
}

/// Families of the internet, and netlink for looking.
fn sockets() -> Result<Vec<Rule>, Error> {
    let mut rules = vec![rule(0, Op::Eq, AF_INET as u64)?, rule(0, Op::Eq, AF_INET6 as u64)?];
    for protocol in NETLINK_PROTOCOLS {
        let netlink = Condition::new(0, Len::Dword, Op::Eq, AF_NETLINK as u64)?;
        rules.push(Rule::new(vec![netlink, Condition::new(2, Len::Dword, Op::Eq, protocol)?])?);
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of what must never come onto an engine's list, this much is needed to run programs; the rest stays away.
    #[test]
    fn nothing_that_leads_out_is_on_the_list() {
        for network in [false, true] {
            let rules = rules(network).unwrap();
            for call in [
                SYS_ptrace,
                SYS_unshare,
                SYS_setns,
                SYS_mount,
                SYS_umount2,
                SYS_pivot_root,
                SYS_chroot,
                SYS_bpf,
                SYS_io_uring_setup,
                SYS_perf_event_open,
                SYS_userfaultfd,
                SYS_memfd_create,
                SYS_execveat,
                SYS_mknodat,
                SYS_init_module,
                SYS_finit_module,
                SYS_reboot,
                SYS_keyctl,
                SYS_add_key,
                SYS_process_vm_readv,
                SYS_setuid,
                SYS_setgid,
                SYS_capset,
                SYS_personality,
                SYS_listen,
                SYS_accept4,
                SYS_open_by_handle_at,
                SYS_swapon,
                SYS_settimeofday,
                SYS_clock_settime,
                SYS_sethostname,
                SYS_syslog,
                SYS_quotactl,
                SYS_acct,
                SYS_pidfd_getfd,
            ] {
                assert!(!rules.contains_key(&call), "{call}");
            }
            assert_eq!(rules.contains_key(&SYS_socket), network);
        }
    }
}
