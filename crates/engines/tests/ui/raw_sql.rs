//! A statement that nobody has checked.

async fn run(engines: engines::Engines, source: engines::Source) {
    let _ = engines.run(&source, "SELECT 1", ()).await;
}

fn main() {}
