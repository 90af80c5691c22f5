//! Real jails for real workers.

use engines::{Engines, Settings};
use sandbox::{Host, JailLimits, Program, Sandbox};

/// How this machine holds workers; `None` where it does not offer the tier.
pub fn sandbox(tier: &str, work: &str) -> Option<Sandbox> {
    let mut host = Host::detect(None).unwrap();
    if tier == "T2" {
        host.bwrap = "/nonexistent/bwrap".into();
    }
    let path = env!("CARGO_BIN_EXE_engines-abuse").into();
    let program = Program { path, args: vec![work.into()], libraries: engines::duckdb_libraries() };
    let sandbox = Sandbox::probe(host, program).inspect_err(|e| eprintln!("{tier}: {e}")).ok()?;
    (sandbox.report().tier.to_string() == tier).then_some(sandbox)
}

/// The pool as the server has it, in the best tier that there is.
pub fn engines(settings: Settings) -> Engines {
    let sandbox = sandbox("T1", "runner").or_else(|| sandbox("T2", "runner"));
    Engines::new(sandbox.unwrap(), settings)
}

/// A pool that is not slowed down by a small share of the processor.
pub fn quick_engines() -> Engines {
    engines(Settings { jail: JailLimits { cpus: 2.0, ..JailLimits::default() }, ..Settings::default() })
}
