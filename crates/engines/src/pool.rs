//! Warm workers: one per statement at a time, kept between statements, thrown away on any doubt.

use crate::change::Pens;
use crate::client::{Copies, Lost, Room, Worker};
use crate::fault;
use crate::hot::HotCopies;
use crate::places::{Attempt, Place, Places};
use crate::protocol::{Queried, Query};
use crate::remote::{Remote, Remotes};
use crate::settings::Settings;
use crate::source::{FileTable, Source};
use domain::{Fault, Rows, SourceSchema};
use policy::Approved;
use sandbox::{Report, Sandbox};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a source may take to be described.
const LOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// Whom the house's own looks at a source count for. No actor has an empty name.
const NOBODY: &str = "";

/// What a worker may be used for again: another role's statements never run in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub source: String,
    pub role: String,
    pub profile: Profile,
    /// Rows are hidden from its statements.
    pub hides_rows: bool,
}

/// What a worker is for, and with it what it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Profile {
    Usual,
    Scan,
    /// As for a scan, for one statement: what it reads besides the source is one caller's.
    Joined,
    /// Writes; one at a time for each source.
    Write,
}

/// A result, and what it took.
#[derive(Debug)]
pub struct Executed {
    pub rows: Rows,
    pub exec_ms: f64,
    pub data_version: String,
}

/// The only way from an approved statement to rows.
#[derive(Clone)]
pub struct Engines {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    sandbox: Arc<Sandbox>,
    pub settings: Settings,
    places: Places,
    scan_places: Places,
    /// Idle workers, the longest idle first.
    idle: Mutex<Vec<(Key, Worker)>>,
    hot: Option<HotCopies>,
    remotes: Remotes,
    /// Who writes to a source, writes alone.
    pub(crate) pens: Pens,
}

impl Engines {
    pub fn new(sandbox: Sandbox, settings: Settings) -> Self {
        let places = Places::new(settings.concurrency, settings.queue);
        let scan_places = Places::new(settings.scan.concurrency, settings.queue);
        let (idle, remotes, pens) = (Mutex::default(), Remotes::default(), Pens::default());
        let hot = settings.hot.clone().map(HotCopies::new);
        let sandbox = Arc::new(sandbox);
        Self { shared: Arc::new(Shared { sandbox, settings, places, scan_places, idle, hot, remotes, pens }) }
    }

    /// What holds the workers on this machine.
    pub fn sandbox(&self) -> &Report {
        self.shared.sandbox.report()
    }

    /// Runs what policy has approved. A statement that takes too long is ended by killing its
    /// worker: nothing softer is certain; on another machine it is cancelled there. So is one whose caller drops this
    /// future.
    ///
    /// `turn` is whatever says that it is the caller's turn. It comes back with the rows. Whoever costs the house a worker
    /// keeps it until there is another one: others should not find the warm workers gone.
    pub async fn run<T: Send + 'static>(
        &self,
        source: &Source,
        approved: &Approved,
        turn: T,
    ) -> Result<(Executed, T), Fault> {
        if approved.source() != source.name || approved.change().is_some() {
            // It was checked against the tables of another source, or is no read.
            return Err(Fault::internal("engine.source"));
        }
        let limits = approved.limits();
        let query = Query {
            sql: approved.sql().to_owned(),
            params: approved.params().to_vec(),
            rows: limits.rows,
            bytes: limits.bytes,
            ..Query::default()
        };
        let most = Duration::from_secs(limits.seconds);
        if let Some(remote) = self.remote(source)? {
            let told =
                remote.whole(approved, query).await.map_err(|fault| fault::on_data(approved.hides_rows(), fault));
            let (Queried { columns, row_count, truncated, exec_ms }, ipc) = told?;
            let (rows, data_version) = (Rows { columns, ipc, row_count, truncated }, source.data_version()?);
            return Ok((Executed { rows, exec_ms, data_version }, turn));
        }
        let (mut turn, mut attempt) = (turn, Attempt::First);
        loop {
            let mut work = self.work(source, approved, (Profile::Usual, attempt), turn).await?;
            let answer = tokio::select! {
                answer = tokio::time::timeout(most, work.worker.get()?.query(query.clone())) => answer,
                () = work.place.overstayed() => {
                    // Nothing of it was seen by anybody: it begins anew where it may take its time.
                    (turn, attempt) = (work.give_up()?, Attempt::Again);
                    continue;
                }
            };
            let answer = answer.map_err(|_| fault::timeout(limits.seconds))?;
            let told = work.worker.understand(answer).map_err(|fault| fault::on_data(approved.hides_rows(), fault));
            let (Queried { columns, row_count, truncated, exec_ms }, ipc) = told?;
            let (turn, data_version) = work.done()?;
            return Ok((Executed { rows: Rows { columns, ipc, row_count, truncated }, exec_ms, data_version }, turn));
        }
    }

    /// The engine of a source on another machine; none where workers read it.
    pub(crate) fn remote(&self, source: &Source) -> Result<Option<Remote>, Fault> {
        self.shared.remotes.of(source, self.shared.settings.queue)
    }

    /// Waits for a worker of this profile, and holds it.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        source: &Source,
        approved: &Approved,
        (profile, attempt): (Profile, Attempt),
        turn: T,
    ) -> Result<Work<T>, Fault> {
        let key = Key {
            source: source.name.clone(),
            role: approved.role().to_owned(),
            profile,
            hides_rows: approved.hides_rows(),
        };
        let mut place = self.places(profile).take(&approved.caller().actor, attempt).await?;
        let worker = Killing(Some(self.worker(&key, source).await?));
        place.begin();
        let place = Arc::new(place);
        Ok(Work { engines: self.clone(), key, source: source.clone(), worker, place, turn: Some(turn) })
    }

    /// What tables a source has, asked of the source itself.
    pub async fn describe(&self, source: &Source) -> Result<SourceSchema, Fault> {
        let mut schema = match self.remote(source)? {
            Some(remote) => SourceSchema { data_version: source.data_version()?, ..remote.describe().await? },
            None => {
                let (_turn, mut worker) = self.nobodys(source).await?;
                let schema = worker.look(async |w| w.describe().await).await?;
                SourceSchema { data_version: worker.get()?.data_version.clone(), ..schema }
            }
        };
        if source.is_writable() {
            // A count would be of a moment ago; it is not kept beside tables that are.
            schema.tables.iter_mut().for_each(|table| table.row_count = None);
        }
        schema.source.clone_from(&source.name);
        Ok(schema)
    }

    /// Has a writer open the source once: what one that was killed left half done is undone. Readers cannot.
    pub async fn recover(&self, source: &Source) -> Result<(), Fault> {
        self.start(source, (Profile::Write, false), false).await.map(bury)
    }

    /// Proves from inside a jail, or from where its statements run, that this source cannot be written to.
    pub async fn prove_read_only(&self, source: &Source) -> Result<(), Fault> {
        if let Some(remote) = self.remote(source)? {
            return remote.prove_read_only().await;
        }
        let (_turn, mut worker) = self.nobodys(source).await?;
        worker.look(async |w| w.try_to_write().await).await
    }

    /// Whether the workers' user could write to this source, if no jail held it.
    pub fn user_can_write(&self, source: &Source) -> std::io::Result<bool> {
        let mut writable = source.paths().into_iter().map(|path| self.shared.sandbox.user_can_write(path));
        writable.try_fold(false, |any, this| Ok(any | this?))
    }

    /// A worker for what is asked on no role's behalf. It is not used again.
    async fn nobodys(&self, source: &Source) -> Result<(Place, Killing), Fault> {
        let place = self.places(Profile::Usual).take(NOBODY, Attempt::First).await?;
        Ok((place, Killing(Some(self.start(source, (Profile::Usual, false), false).await?))))
    }

    fn places(&self, profile: Profile) -> &Places {
        match profile {
            Profile::Usual | Profile::Write => &self.shared.places,
            Profile::Scan | Profile::Joined => &self.shared.scan_places,
        }
    }

    async fn worker(&self, key: &Key, source: &Source) -> Result<Worker, Fault> {
        let data_version = source.data_version()?;
        while let Some(mut worker) = self.take_idle(key) {
            // One that opened an older state of the data would read a mixture of both; one that died
            // while nobody used it should cost nobody a request.
            let current = source.is_writable() || worker.data_version == data_version;
            if current && worker.is_alive() {
                worker.data_version = data_version;
                return Ok(worker);
            }
            bury(worker);
        }
        self.start(source, (key.profile, key.hides_rows), false).await
    }

    async fn start(
        &self,
        source: &Source,
        (profile, hides_rows): (Profile, bool),
        unhurried: bool,
    ) -> Result<Worker, Fault> {
        // Before its copies are looked for: a worker may read a newer state than it says, never an older one.
        let data_version = source.data_version()?;
        let copies = self.copies(source);
        let sandbox = self.shared.sandbox.clone();
        let room = Room { hides_rows, ..self.room(profile) };
        Worker::start(sandbox, source, (&copies, data_version), room, unhurried).await
    }

    fn room(&self, profile: Profile) -> Room {
        let settings = &self.shared.settings;
        match profile {
            Profile::Usual => Room { jail: settings.jail, threads: 1, writes: false, window: false, hides_rows: false },
            Profile::Write => Room { jail: settings.jail, threads: 1, writes: true, window: false, hides_rows: false },
            Profile::Scan | Profile::Joined => {
                let jail = settings.scan.jail;
                Room { jail, threads: threads(jail.cpus), writes: false, window: true, hides_rows: false }
            }
        }
    }

    /// The copies of hot tables that there are. Those that are missing are made while their files are read.
    fn copies(&self, source: &Source) -> Copies {
        let Some(hot) = &self.shared.hot else { return Copies::new() };
        let mut copies = Copies::new();
        for (table, copy) in hot.wanted(source) {
            if hot.begin(&copy) {
                tokio::spawn(self.clone().make_copy(source.name.clone(), table.clone(), copy));
            } else if copy.exists() {
                copies.insert(table.table.clone(), copy);
            }
        }
        copies
    }

    async fn make_copy(self, source: String, table: FileTable, copy: PathBuf) {
        let Some(hot) = &self.shared.hot else { return };
        match hot.make(self.shared.sandbox.clone(), (&source, &table), &copy, self.room(Profile::Scan)).await {
            // Workers that read the file still would go on doing so.
            Ok(()) => lock(&self.shared.idle).retain(|(key, _)| key.source != source),
            Err(fault) => tracing::warn!(source, table = table.table, reason = fault.message, "no hot copy"),
        }
    }

    fn take_idle(&self, key: &Key) -> Option<Worker> {
        let mut idle = lock(&self.shared.idle);
        // The one used last is the one whose caches are warmest.
        let position = idle.iter().rposition(|(k, worker)| k == key && !worker.is_read())?;
        Some(idle.remove(position).1)
    }

    fn put_back(&self, key: Key, mut worker: Killing) {
        let settings = &self.shared.settings;
        let Some(worker) = worker.0.take() else { return };
        let spent = worker.served >= settings.worker_max_statements || worker.born.elapsed() >= settings.worker_max_age;
        if spent || key.profile == Profile::Joined || settings.strict && worker.served > 0 {
            return bury(worker);
        }
        let mut idle = lock(&self.shared.idle);
        idle.push((key, worker));
        if idle.len() > settings.warm {
            let (_, oldest) = idle.remove(0);
            bury(oldest);
        }
    }

    /// Ends all idle workers, for a shutdown that leaves nothing behind.
    pub fn close(&self) {
        lock(&self.shared.idle).clear();
    }

    /// Idle workers older than they may get are ended; called now and then.
    pub fn sweep(&self, now: Instant) {
        let age = self.shared.settings.worker_max_age;
        lock(&self.shared.idle).retain(|(_, worker)| now.duration_since(worker.born) < age);
    }
}

/// A statement at work. Unless it is done, its worker is lost: any failure may have left something behind in it.
pub(crate) struct Work<T: Send + 'static> {
    engines: Engines,
    key: Key,
    source: Source,
    pub worker: Killing,
    pub place: Arc<Place>,
    /// The caller's turn.
    turn: Option<T>,
}

impl<T: Send + 'static> Work<T> {
    pub fn done(mut self) -> Result<(T, String), Fault> {
        let data_version = self.worker.get()?.data_version.clone();
        self.engines.put_back(self.key.clone(), Killing(self.worker.0.take()));
        Ok((self.turn()?, data_version))
    }

    /// Leaves its place to others. Its worker, which still works on the statement, is replaced.
    fn give_up(mut self) -> Result<T, Fault> {
        let turn = self.turn()?;
        self.replace(());
        Ok(turn)
    }

    fn turn(&mut self) -> Result<T, Fault> {
        self.turn.take().ok_or_else(|| Fault::internal("engine.turn"))
    }

    /// Has another worker started; what is held is let go when there is one.
    fn replace<H: Send + 'static>(&self, held: H) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.key.profile == Profile::Joined {
            return;
        }
        let (engines, key, source) = (self.engines.clone(), self.key.clone(), self.source.clone());
        runtime.spawn(async move {
            if let Ok(worker) = engines.start(&source, (key.profile, key.hides_rows), true).await {
                engines.put_back(key, Killing(Some(worker)));
            }
            drop(held);
        });
    }
}

impl<T: Send + 'static> Drop for Work<T> {
    fn drop(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.replace((self.place.clone(), turn));
        }
    }
}

/// Holds a worker and kills it, off the async threads, unless it was taken out again.
pub(crate) struct Killing(Option<Worker>);

impl Killing {
    pub fn get(&mut self) -> Result<&mut Worker, Fault> {
        self.0.as_mut().ok_or_else(|| Fault::internal("engine.worker_gone"))
    }
}

impl Killing {
    /// Ends it, and waits until it has.
    pub async fn end(&mut self) {
        if let Some(mut worker) = self.0.take() {
            // A kill that panics has killed nothing less.
            drop(tokio::task::spawn_blocking(move || worker.kill()).await);
        }
    }

    /// Asks something about the source itself, in bounded time.
    async fn look<T>(&mut self, ask: impl AsyncFnOnce(&mut Worker) -> Result<T, Lost>) -> Result<T, Fault> {
        let answer = tokio::time::timeout(LOOK_TIMEOUT, ask(self.get()?)).await;
        self.understand(answer.map_err(|_| fault::timeout(LOOK_TIMEOUT.as_secs()))?)
    }

    /// What a caller is told of a worker's answer. A worker whose pipe broke is looked at.
    pub fn understand<T>(&mut self, answer: Result<T, Lost>) -> Result<T, Fault> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(Lost::Told(failed)) => Err(fault::from_worker(&failed)),
            Err(Lost::Broken(error)) => Err(self.get()?.autopsy(&error)),
        }
    }
}

impl Drop for Killing {
    fn drop(&mut self) {
        if let Some(worker) = self.0.take() {
            bury(worker);
        }
    }
}

fn bury(mut worker: Worker) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => {
            runtime.spawn_blocking(move || worker.kill());
        }
        Err(_) => worker.kill(),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of processors")]
fn threads(cpus: f64) -> u32 {
    cpus.ceil().clamp(1.0, 64.0) as u32
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What the lock guards is replaced whole, so a panic of another holder leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
