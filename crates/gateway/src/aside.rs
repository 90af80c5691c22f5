//! Work on much text or many rows: on a thread where it keeps no other request waiting.

use domain::Fault;
use std::num::NonZero;
use std::sync::LazyLock;
use std::thread;
use tokio::sync::{Semaphore, oneshot};

/// Where processors are short, threads that serve everybody go first.
const NICENESS: i32 = 10;

/// On half of the processors at most.
static PLACES: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    Semaphore::new((processors / 2).max(1))
});

/// Its own thread each time: what gives way once can never be hurried again, so it is not the runtime's to share. The work is
/// long beside the start of a thread.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    let failed = || Fault::internal("path.aside");
    let _place = PLACES.acquire().await.map_err(|_| failed())?;
    let (done, result) = oneshot::channel();
    let work = move || {
        // Without a process this is the calling thread. It may always give way.
        let _ = rustix::process::setpriority_process(None, NICENESS);
        // Whoever waited may have gone.
        drop(done.send(work()));
    };
    thread::Builder::new().name("aside".into()).spawn(work).map_err(|error| {
        tracing::error!(%error, "no thread for large work");
        failed()
    })?;
    result.await.map_err(|_| failed())
}
