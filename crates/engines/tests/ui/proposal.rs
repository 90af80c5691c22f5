//! A proposal: untrusted, whoever wrote it.

async fn run(engines: engines::Engines, source: engines::Source) {
    let proposal = domain::Proposal::Sql { source: "shop".into(), text: "SELECT 1".into() };
    let _ = engines.run(&source, &proposal, ()).await;
}

fn main() {}
