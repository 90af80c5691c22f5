//! Variables of the environment that a script may not set.

/// Code to run, or where to look for it.
const NAMES: &str = "\
    PATH IFS ENV BASH_ENV BASH_FUNC SHELLOPTS BASHOPTS PROMPT_COMMAND PS0 PS1 PS2 PS4 GLOBIGNORE CDPATH \
    HOME SHELL EDITOR VISUAL PAGER LESSOPEN LESSCLOSE MANPAGER SYSTEMD_PAGER SYSTEMD_EDITOR GREP_OPTIONS \
    GIT_SSH PYTHONPATH PERL5LIB PERL5OPT RUBYOPT NODE_OPTIONS HOSTALIASES LOCPATH TMPDIR GETCONF_DIR GREP MAGIC";

/// Libraries and configuration to load, proxies to go through, buses to start.
const BEGINNINGS: &str = "\
    LD_ BASH_ DYLD_ GCONV_ MALLOC_ GLIBC_ _RLD DBUS_ SYSTEMD_ OPENSSL_ CURL_ XDG_ DOCKER_ CONTAINER AWK \
    GAWK PYTHON PERL RUBY NODE_ GIT_ LESS TERMINFO XZ_ APT_ DPKG_ PODMAN_ JQ_";

/// The same, in whatever case they are written.
const OTHERS: &str = "\
    NLSPATH WGETRC GZIP BZIP2 TAR_OPTIONS RES_OPTIONS LOCALDOMAIN HTTP_PROXY HTTPS_PROXY ALL_PROXY \
    FTP_PROXY RESOLV_HOST_CONF";

/// A name that a program takes code or a place to load code from.
pub fn is_dangerous_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    OTHERS.split(' ').any(|other| other == upper)
        || NAMES.split(' ').any(|known| known == name)
        || BEGINNINGS.split(' ').any(|beginning| name.starts_with(beginning))
}
