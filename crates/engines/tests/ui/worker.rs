//! The way around the pool: a worker of one's own.

fn main() {
    let _ = engines::client::Worker::start;
}
