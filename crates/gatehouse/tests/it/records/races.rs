//! Writers that meet: of those that saw the same version one wins, and of those that insert the same row none makes a second.

use super::books::Books;
use crate::records_support::{Firm, email, error, firms, read, step, update, versioned};
use serde_json::{Value, json};
use testkit::{Client, Reply};

const WRITERS: usize = 16;

/// Sends the same step by all clients at once, so many times in all.
fn at_once(clients: &[&Client], body: &Value) -> Vec<Reply> {
    std::thread::scope(|scope| {
        let sent: Vec<_> =
            clients.iter().cycle().take(WRITERS).map(|client| scope.spawn(|| step(client, body))).collect();
        sent.into_iter().map(|reply| reply.join().unwrap()).collect()
    })
}

#[test]
fn of_writers_that_saw_the_same_version_one_wins() {
    for Firm { engine, agent, .. } in firms() {
        let seen =
            read(agent, "cases", &["updated_at"], &[("id", "=", json!("case_480"))])["data"][0]["updated_at"].clone();
        let change = versioned(update("case_480", &json!({ "priority": "URGENT" })), &seen);
        let replies = at_once(&[agent], &change);
        let stale = |reply: &&Reply| error(reply) == (409, "CONFLICT".into(), "change.stale".into());
        let (won, lost) = (replies.iter().filter(|r| r.status == 200).count(), replies.iter().filter(stale).count());
        assert_eq!(
            (won, lost),
            (1, WRITERS - 1),
            "{engine}: {:?}",
            replies.iter().map(Reply::text).collect::<Vec<_>>()
        );
    }
}

/// They share nothing but the database, which has no constraint that would help them.
#[test]
fn two_servers_that_insert_the_same_row_make_one() {
    let books = Books::new();
    let servers = [books.server().start(), books.server().start()];
    let agents = servers.each_ref().map(|server| server.client("bob", "agent"));
    let replies = at_once(&agents.each_ref(), &email("case_481", "Once for all"));
    let first = replies.first().unwrap().json();
    for reply in &replies {
        assert_eq!((reply.status, reply.json()), (200, first.clone()), "{}", reply.text());
    }
    assert_eq!(books.sql("SELECT count(*) FROM client_communications WHERE case_id = 'case_481'"), "1");
}
