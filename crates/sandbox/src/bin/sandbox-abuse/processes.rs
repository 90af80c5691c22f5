//! Reaching for other processes, and out of the own place among them.

use crate::{Attempt, Case, called, raw};
use libc::*;

const NOTHING: usize = 0;
const BEST_EFFORT_HIGHEST: c_int = 2 << 13;

pub const CASES: &[Case] = &[
    // looking into others
    ("ptrace", raw!(SYS_ptrace, PTRACE_TRACEME, 0, NOTHING, NOTHING)),
    ("ptrace_parent", |_| {
        // SAFETY: names a process; no memory of ours.
        called(unsafe { syscall(SYS_ptrace, PTRACE_SEIZE, getppid(), NOTHING, NOTHING) })
    }),
    ("read_parents_memory", raw!(SYS_process_vm_readv, 1, NOTHING, 0, NOTHING, 0, 0)),
    ("write_parents_memory", raw!(SYS_process_vm_writev, 1, NOTHING, 0, NOTHING, 0, 0)),
    ("compare_with_parent", raw!(SYS_kcmp, 1, 1, 0, 0, 0)),
    ("pidfd", raw!(SYS_pidfd_open, 1, 0)),
    ("take_file_of_other", raw!(SYS_pidfd_getfd, 0, 0, 0)),
    ("advise_other", raw!(SYS_process_madvise, 0, NOTHING, 0, 0, 0)),
    ("reap_other", raw!(SYS_process_mrelease, 0, 0)),
    ("robust_list_of_parent", raw!(SYS_get_robust_list, 1, NOTHING, NOTHING)),
    ("wait_for_children", raw!(SYS_wait4, -1, NOTHING, 0, NOTHING)),
    // signals
    ("signal_parent", |_| {
        // SAFETY: names a process.
        called(unsafe { kill(getppid(), SIGSTOP) })
    }),
    ("signal_everybody", raw!(SYS_kill, -1, 0)),
    ("signal_group", raw!(SYS_kill, 0, 0)),
    ("signal_first_thread", raw!(SYS_tkill, 1, 0)),
    ("thread_signal_to_parent", raw!(SYS_tgkill, 1, 1, 0)),
    ("queue_signal", raw!(SYS_rt_sigqueueinfo, 1, 0, NOTHING)),
    ("queue_thread_signal", raw!(SYS_rt_tgsigqueueinfo, 1, 1, 0, NOTHING)),
    ("signal_by_pidfd", raw!(SYS_pidfd_send_signal, 0, 0, NOTHING, 0)),
    // who it is
    ("set_uid", raw!(SYS_setuid, 0)),
    ("set_all_uids", raw!(SYS_setresuid, 0, 0, 0)),
    ("set_gid", raw!(SYS_setgid, 0)),
    ("set_uid_for_files", raw!(SYS_setfsuid, 0)),
    ("set_groups", raw!(SYS_setgroups, 0, NOTHING)),
    ("set_capabilities", raw!(SYS_capset, NOTHING, NOTHING)),
    ("ambient_capabilities", raw!(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 0, 0, 0)),
    ("keep_capabilities", raw!(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0)),
    ("become_dumpable", raw!(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)),
    ("invite_tracer", raw!(SYS_prctl, PR_SET_PTRACER, -1, 0, 0, 0)),
    ("new_privileges", raw!(SYS_prctl, PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0)),
    ("seccomp_by_prctl", raw!(SYS_prctl, PR_SET_SECCOMP, 0, NOTHING, 0, 0)),
    ("forge_memory_map", raw!(SYS_prctl, PR_SET_MM, 1, NOTHING, 0, 0)),
    // staying behind
    ("outlive_the_server", raw!(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0)),
    ("adopt_orphans", raw!(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)),
    ("own_session", raw!(SYS_setsid)),
    ("own_group", raw!(SYS_setpgid, 0, 0)),
    ("daemon", |_| {
        // SAFETY: forks, which is refused.
        called(unsafe { daemon(1, 1) })
    }),
    // more than its share
    ("raise_limits", |_| set_limit(RLIMIT_AS)),
    ("raise_files", |_| set_limit(RLIMIT_NOFILE)),
    ("raise_file_size", |_| set_limit(RLIMIT_FSIZE)),
    ("limits_of_parent", raw!(SYS_prlimit64, 1, RLIMIT_AS, NOTHING, NOTHING)),
    ("priority", raw!(SYS_setpriority, 0, 0, -20)),
    ("lower_priority_of_others", raw!(SYS_setpriority, 2, 65534, 19)),
    ("real_time", raw!(SYS_sched_setscheduler, 0, SCHED_FIFO, NOTHING)),
    ("deadline", raw!(SYS_sched_setattr, 0, NOTHING, 0)),
    ("processors", raw!(SYS_sched_setaffinity, 0, 0, NOTHING)),
    ("disk_priority", raw!(SYS_ioprio_set, 1, 0, BEST_EFFORT_HIGHEST)),
    // other programs
    ("exec", raw!(SYS_execve, c"/bin/sh".as_ptr(), NOTHING, NOTHING)),
    ("exec_by_descriptor", raw!(SYS_execveat, 0, c"".as_ptr(), NOTHING, NOTHING, AT_EMPTY_PATH)),
];

fn set_limit(resource: __rlimit_resource_t) -> Attempt {
    let limit = rlimit { rlim_cur: RLIM_INFINITY, rlim_max: RLIM_INFINITY };
    // SAFETY: a limit that outlives the call.
    called(unsafe { setrlimit(resource, &limit) })
}
