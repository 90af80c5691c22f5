//! What an engine with threads needs once its code is loaded. Which files a call may touch is
//! Landlock's to say; what a call may do at all is said here.

use libc::*;

/// Allowed with any arguments. Not `flock` (see [`LOCKS`]) and not `fchmod`: a worker that could open its scratch
/// directory to others could leave them a program that runs as its user.
#[rustfmt::skip]
pub(super) const ALWAYS: &[c_long] = &[
    // open files
    SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_write, SYS_writev, SYS_pwrite64, SYS_pwritev,
    SYS_lseek, SYS_close, SYS_fstat, SYS_fstatfs, SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync,
    SYS_fadvise64, SYS_readahead, SYS_dup, SYS_dup3, SYS_getdents64,
    // files by name
    SYS_openat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
    SYS_getcwd, SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_umask,
    // memory
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mincore, SYS_msync,
    // threads (clone has a rule of its own)
    SYS_clone3, SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_set_tid_address, SYS_gettid, SYS_sched_yield,
    SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getscheduler, SYS_getcpu, SYS_membarrier,
    // signals of its own
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall,
    // time and waiting
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_times,
    SYS_ppoll, SYS_pselect6,
    // who and where it is
    SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_uname, SYS_sysinfo,
    SYS_getrusage, SYS_getrandom, SYS_getrlimit,
    // the end
    SYS_exit, SYS_exit_group,
    // older names of the above
    #[cfg(target_arch = "x86_64")] SYS_open,
    #[cfg(target_arch = "x86_64")] SYS_stat,
    #[cfg(target_arch = "x86_64")] SYS_lstat,
    #[cfg(target_arch = "x86_64")] SYS_access,
    #[cfg(target_arch = "x86_64")] SYS_readlink,
    #[cfg(target_arch = "x86_64")] SYS_mkdir,
    #[cfg(target_arch = "x86_64")] SYS_rmdir,
    #[cfg(target_arch = "x86_64")] SYS_unlink,
    #[cfg(target_arch = "x86_64")] SYS_rename,
    #[cfg(target_arch = "x86_64")] SYS_dup2,
    #[cfg(target_arch = "x86_64")] SYS_poll,
    #[cfg(target_arch = "x86_64")] SYS_select,
    #[cfg(target_arch = "x86_64")] SYS_time,
];

/// Commands of fcntl: flags and copies. Not F_SETOWN, which sends signals.
pub(super) const FCNTL: &[c_int] = &[F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC, F_GETLK];

/// Commands of fcntl that lock. Few workers may: a lock on a data file, which needs no right to write it, would stall
/// whoever keeps the data up to date.
pub(super) const LOCKS: &[c_int] = &[F_SETLK];

/// Options of prctl: names of threads and of anonymous memory.
pub(super) const PRCTL: &[c_int] = &[PR_SET_NAME, PR_GET_NAME, PR_SET_VMA];
