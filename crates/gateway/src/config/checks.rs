//! What only shows when settings are looked at together.

use super::error::Problems;
use super::show::Shown;
use super::types::Config;

/// `shown` says where each setting comes from. Settings that could not be read are left alone: what
/// was meant is not known.
pub fn check(config: &Config, shown: &[Shown], problems: &mut Problems) {
    if !problems.with_any(&["tls.cert", "tls.key"]) {
        tls_is_whole(config, shown, problems);
    }
    if !problems.with_any(&["tls.cert", "tls.key", "server.listen", "server.behind_proxy"]) {
        reachable_is_protected(config, shown, problems);
    }
    if config.ledger.url.is_some() && config.ledger.url_file.is_some() {
        let message = "is set besides `ledger.url`: unset one of them".to_owned();
        problems.add(origin(shown, "ledger.url_file"), "ledger.url_file", message);
    }
}

fn tls_is_whole(config: &Config, shown: &[Shown], problems: &mut Problems) {
    let Some(tls) = &config.tls else { return };
    for (missing, key, other) in [(&tls.cert, "tls.cert", "tls.key"), (&tls.key, "tls.key", "tls.cert")] {
        if missing.as_os_str().is_empty() {
            problems.add(origin(shown, other), other, format!("is set without `{key}`: TLS needs both"));
        }
    }
}

fn reachable_is_protected(config: &Config, shown: &[Shown], problems: &mut Problems) {
    let listen = config.server.listen;
    if listen.ip().to_canonical().is_loopback() || config.tls.is_some() || config.server.behind_proxy {
        return;
    }
    let message = format!(
        "`{listen}` can be reached from other machines without TLS: set `tls.cert` and `tls.key`, \
         or say `--behind-proxy` (`server.behind_proxy = true`) if a proxy in front ends TLS"
    );
    problems.add(origin(shown, "server.listen"), "server.listen", message);
}

fn origin<'a>(shown: &'a [Shown], key: &str) -> &'a str {
    shown.iter().find(|setting| setting.key == key).map_or("default", |setting| &setting.origin)
}
