//! Places to work at, shared out so that nobody waits long for a short statement.
//!
//! A statement is short until it has run for [`LONG_AFTER`]. Some places are for short ones alone: a statement that takes longer
//! there moves to the others in the books, or has to give its place up where those are taken, and then waits for one of the
//! others. Whoever has the fewest places is served first, and of these who has used least for long statements; who has used
//! much begins none on a place for short ones. Nobody keeps two places for long statements while somebody else waits for the
//! first.

use crate::fault;
use domain::Fault;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

/// The time after which a statement is a long one.
const LONG_AFTER: Duration = Duration::from_millis(100);
/// Seconds that an actor may have used for long statements and still count as light.
const LIGHT: f64 = 2.0;
/// Seconds that a long statement counts for besides its time. Some of them one after the other make an actor heavy, also where each
/// has to give its place up at once; one slow moment of a busy machine does not.
const LONG: f64 = LIGHT / 2.0;
/// The time in which half of what was used is forgotten.
const HALF_LIFE: f64 = 10.0;
/// The pause after which those who wait are looked at without an event: time makes an actor light again.
const REVIEW: Duration = Duration::from_millis(500);
/// Actors remembered before those are forgotten that have used next to nothing.
const MOST_ACTORS: usize = 1_000;

/// A statement's first attempt at a place, or one after it had to give up another because it is long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    Again,
}

/// All places of one kind.
#[derive(Clone)]
pub(crate) struct Places {
    books: Arc<Mutex<Books>>,
    patience: Duration,
}

struct Books {
    /// Places that only short statements may have, and the others.
    short: usize,
    long: usize,
    taken: Vec<Taken>,
    waiting: Vec<Waiting>,
    used: HashMap<String, Used>,
    last_id: u64,
}

struct Taken {
    id: u64,
    actor: String,
    is_long: bool,
    /// It is told to give its place up, and begins anew elsewhere.
    can_restart: bool,
    /// Told when somebody else needs the place.
    given_up: Arc<Notify>,
}

struct Waiting {
    id: u64,
    actor: String,
    attempt: Attempt,
    called: oneshot::Sender<Arc<Notify>>,
}

/// Seconds of long statements, as they counted at a time.
#[derive(Clone, Copy)]
struct Used {
    seconds: f64,
    at: Instant,
}

impl Used {
    fn now(self) -> f64 {
        self.seconds * (-self.at.elapsed().as_secs_f64() / HALF_LIFE).exp2()
    }
}

/// One place, somebody else's again when this is dropped.
pub(crate) struct Place {
    places: Places,
    id: u64,
    actor: String,
    since: Instant,
    given_up: Arc<Notify>,
}

impl Places {
    /// A third of them, of two at least one, for short statements.
    pub fn new(count: usize, patience: Duration) -> Self {
        let short = if count > 1 { (count / 3).max(1) } else { 0 };
        let books = Books {
            short,
            long: count.max(1) - short,
            taken: Vec::new(),
            waiting: Vec::new(),
            used: HashMap::new(),
            last_id: 0,
        };
        Self { books: Arc::new(Mutex::new(books)), patience }
    }

    /// Waits for a place, for as long as patience goes.
    pub async fn take(&self, actor: &str, attempt: Attempt) -> Result<Place, Fault> {
        let (called, mut calling) = oneshot::channel();
        let id = {
            let mut books = self.lock();
            books.last_id += 1;
            let id = books.last_id;
            books.waiting.push(Waiting { id, actor: actor.to_owned(), attempt, called });
            books.call();
            id
        };
        // Held from here on: a caller that is gone gives back what it was called to.
        let mut place = Place {
            places: self.clone(),
            id,
            actor: actor.to_owned(),
            since: Instant::now(),
            given_up: Arc::default(),
        };
        let until = tokio::time::Instant::now() + self.patience;
        while tokio::time::Instant::now() < until {
            let review = (tokio::time::Instant::now() + REVIEW).min(until);
            match tokio::time::timeout_at(review, &mut calling).await {
                Ok(Ok(given_up)) => {
                    (place.given_up, place.since) = (given_up, Instant::now());
                    return Ok(place);
                }
                Ok(Err(_)) => break,
                Err(_) => self.lock().call(),
            }
        }
        Err(fault::busy())
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    /// Gives free places to those who wait.
    fn call(&mut self) {
        while let Some(next) = self.next() {
            let waiting = self.waiting.remove(next);
            let is_long = !self.may_be_short(&waiting);
            let Waiting { id, actor, called, .. } = waiting;
            let given_up = Arc::new(Notify::new());
            if called.send(given_up.clone()).is_ok() {
                self.taken.push(Taken { id, actor, is_long, can_restart: false, given_up });
            }
        }
        self.make_room();
    }

    fn next(&self) -> Option<usize> {
        let free = self.taken.len() < self.short + self.long;
        let free_for_long = free && self.long_ones() < self.long;
        let may = |waiting: &Waiting| if self.may_be_short(waiting) { free } else { free_for_long };
        let may_be_called = self.waiting.iter().enumerate().filter(|(_, waiting)| may(waiting));
        let order = |a: &Waiting, b: &Waiting| {
            let used = self.used(&a.actor).total_cmp(&self.used(&b.actor));
            self.has(&a.actor).cmp(&self.has(&b.actor)).then(used).then(a.id.cmp(&b.id))
        };
        may_be_called.min_by(|(_, a), (_, b)| order(a, b)).map(|(at, _)| at)
    }

    fn may_be_short(&self, waiting: &Waiting) -> bool {
        waiting.attempt == Attempt::First && self.is_light(&waiting.actor)
    }

    /// Places that an actor has.
    fn has(&self, actor: &str) -> usize {
        self.taken.iter().filter(|taken| taken.actor == actor).count()
    }

    /// Seconds that an actor has used for long statements, as they count now.
    fn used(&self, actor: &str) -> f64 {
        self.used.get(actor).map_or(0.0, |used| used.now())
    }

    /// Tells a long statement to give its place up, where somebody has a better right to it.
    fn make_room(&self) {
        let most = |a: &&Taken, b: &&Taken| self.used(&a.actor).total_cmp(&self.used(&b.actor));
        let told = match self.is_room_needed() {
            true => self.taken.iter().filter(|taken| taken.is_long).max_by(most),
            false => self.taken.iter().filter(|taken| self.is_one_too_many(taken)).max_by_key(|taken| taken.id),
        };
        if let Some(taken) = told {
            taken.given_up.notify_one();
        }
    }

    /// A short statement waits while more than their share is taken by long ones.
    fn is_room_needed(&self) -> bool {
        self.long_ones() > self.long && self.waiting.iter().any(|waiting| self.may_be_short(waiting))
    }

    /// It is the second long one of an actor, and somebody waits who has no place at all.
    fn is_one_too_many(&self, taken: &Taken) -> bool {
        let long_ones = self.taken.iter().filter(|other| other.is_long && other.actor == taken.actor);
        taken.is_long
            && taken.can_restart
            && long_ones.count() > 1
            && self.waiting.iter().any(|waiting| self.has(&waiting.actor) == 0)
    }

    fn long_ones(&self) -> usize {
        self.taken.iter().filter(|taken| taken.is_long).count()
    }

    fn is_light(&self, actor: &str) -> bool {
        self.used(actor) < LIGHT
    }

    fn count(&mut self, actor: &str, seconds: f64) {
        if self.used.len() >= MOST_ACTORS {
            self.used.retain(|_, used| used.now() > LIGHT / 100.0);
        }
        let seconds = self.used(actor) + seconds;
        self.used.insert(actor.to_owned(), Used { seconds, at: Instant::now() });
    }
}

impl Place {
    /// Counts from now on: until here its statement waited for a worker.
    pub fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// Returns when the statement has to give its place up and begin anew: it is long, and the places for long ones are
    /// taken, or by its actor while others have none.
    pub async fn overstayed(&self) {
        self.become_long(true).await;
        loop {
            {
                let books = self.places.lock();
                let mine = books.taken.iter().find(|taken| taken.id == self.id);
                if books.long_ones() > books.long || mine.is_some_and(|mine| books.is_one_too_many(mine)) {
                    return;
                }
            }
            self.given_up.notified().await;
        }
    }

    /// The same of a statement that cannot begin anew: not before a short one waits for its place.
    pub async fn needed(&self) {
        self.become_long(false).await;
        self.places.lock().call();
        // The statement that needed it may have been served since.
        while {
            self.given_up.notified().await;
            !self.places.lock().is_room_needed()
        } {}
    }

    /// Never returns: the statement counts as a long one when it is, and keeps its place.
    pub async fn counted(&self) -> Infallible {
        self.become_long(false).await;
        pending().await
    }

    /// Waits until the statement is a long one, and notes that.
    async fn become_long(&self, can_restart: bool) {
        tokio::time::sleep(LONG_AFTER.saturating_sub(self.since.elapsed())).await;
        let mut books = self.places.lock();
        let Some(mine) = books.taken.iter_mut().find(|taken| taken.id == self.id) else { return };
        let was_long = std::mem::replace(&mut mine.is_long, true);
        mine.can_restart = can_restart;
        if !was_long {
            books.count(&self.actor, LONG);
        }
        books.call();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut books = self.places.lock();
        books.waiting.retain(|waiting| waiting.id != self.id);
        let mine = books.taken.iter().position(|taken| taken.id == self.id).map(|at| books.taken.swap_remove(at));
        if mine.is_some_and(|mine| mine.is_long) {
            books.count(&self.actor, self.since.elapsed().as_secs_f64());
        }
        books.call();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(count: usize) -> Places {
        Places::new(count, Duration::from_secs(10))
    }

    /// A place, if one comes at once.
    async fn at_once(places: &Places, actor: &str) -> Option<Place> {
        tokio::time::timeout(Duration::from_millis(5), places.take(actor, Attempt::First))
            .await
            .ok()
            .map(Result::unwrap)
    }

    #[tokio::test]
    async fn a_long_statement_leaves_the_places_for_short_ones() {
        let places = places(3);
        let (one, two) =
            (places.take("eve", Attempt::First).await.unwrap(), places.take("mal", Attempt::First).await.unwrap());
        let both = async {
            tokio::select! { () = one.overstayed() => (), () = two.overstayed() => () }
        };
        let overstayed = tokio::time::timeout(2 * LONG_AFTER, both).await;
        assert!(overstayed.is_err(), "there is room for two long ones");
        let three = places.take("oto", Attempt::First).await.unwrap();
        three.overstayed().await;
        assert!(at_once(&places, "ann").await.is_none(), "it has not left yet");
        drop(three);
        let again = tokio::time::timeout(Duration::from_millis(5), places.take("oto", Attempt::Again)).await;
        assert!(again.is_err(), "a long statement waits for a place for those");
        let ann = at_once(&places, "ann").await;
        assert!(ann.is_some());
        drop(one);
        assert!(places.take("oto", Attempt::Again).await.is_ok());
    }

    #[tokio::test]
    async fn who_has_used_least_goes_first() {
        let places = places(1);
        let held = places.take("eve", Attempt::First).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let wait = |actor: &'static str| {
            let (places, order) = (places.clone(), order.clone());
            tokio::spawn(async move {
                let _place = places.take(actor, Attempt::First).await.unwrap();
                order.lock().unwrap().push(actor);
            })
        };
        places.lock().count("eve", 1.5);
        places.lock().count("bob", 1.0);
        let waiting = ["eve", "bob", "eve", "ann"].map(wait);
        tokio::task::yield_now().await;
        drop(held);
        for task in waiting {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["ann", "bob", "eve", "eve"]);
    }

    #[tokio::test]
    async fn nobody_keeps_a_second_place_while_somebody_has_none() {
        let places = places(3);
        let (one, two) =
            (places.take("eve", Attempt::First).await.unwrap(), places.take("eve", Attempt::First).await.unwrap());
        let stays = |place: Place| tokio::spawn(async move { place.overstayed().await });
        let statements = [stays(one), stays(two)];
        while places.lock().long_ones() < 2 {
            tokio::task::yield_now().await;
        }
        places.lock().count("ann", 2.0 * LIGHT);
        let ann = places.take("ann", Attempt::First).await.unwrap();
        assert_eq!(statements.iter().filter(|statement| statement.is_finished()).count(), 1);
        assert!(at_once(&places, "eve").await.is_none(), "it has one, and used much");
        drop(ann);
    }

    #[tokio::test]
    async fn one_slow_statement_makes_nobody_heavy() {
        let places = places(2);
        let slow = places.take("ann", Attempt::First).await.unwrap();
        drop(tokio::time::timeout(2 * LONG_AFTER, slow.counted()).await);
        drop(slow);
        assert!(places.lock().is_light("ann"));
    }

    #[tokio::test]
    async fn a_stream_gives_its_place_up_only_when_it_is_needed() {
        let places = places(2);
        let (one, two) =
            (places.take("eve", Attempt::First).await.unwrap(), places.take("mal", Attempt::First).await.unwrap());
        let needed = |place: Place| tokio::spawn(async move { place.needed().await });
        let streams = [needed(one), needed(two)];
        while places.lock().long_ones() < 2 {
            tokio::task::yield_now().await;
        }
        assert!(streams.iter().all(|stream| !stream.is_finished()), "nobody waits");
        let ann = places.take("ann", Attempt::First).await.unwrap();
        assert_eq!(streams.iter().filter(|stream| stream.is_finished()).count(), 1);
        drop(ann);
    }

    #[tokio::test]
    async fn who_stops_waiting_keeps_nothing() {
        let places = Places::new(1, Duration::from_millis(50));
        let held = places.take("eve", Attempt::First).await.unwrap();
        assert_eq!(places.take("ann", Attempt::First).await.err().unwrap().code, "engine.busy");
        drop(held);
        assert!(places.lock().waiting.is_empty() && places.lock().taken.is_empty());
        assert!(at_once(&places, "bob").await.is_some());
    }
}
