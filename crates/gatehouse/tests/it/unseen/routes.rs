//! Every route is compared, or named with the reason why not.

use super::pair::{Hidden, Side};
use super::requests;
use std::collections::BTreeSet;

const ROUTER: &str = include_str!("../../../../gateway/src/http/router.rs");
/// `METHOD PATH REASON`.
const NOT_COMPARED: &str = include_str!("../cases/unseen/not_compared.txt");

type Route = (String, String);

/// Method and path of each route of the router's table.
fn routes() -> BTreeSet<Route> {
    let line = |line: &'static str| {
        let (path, handlers) = line.trim().strip_prefix(".route(\"")?.split_once('"')?;
        let methods = ["get", "post", "put", "delete"].into_iter().filter(move |method| {
            handlers.contains(&format!(" {method}(")) || handlers.contains(&format!(".{method}("))
        });
        Some(methods.map(move |method| (method.to_uppercase(), path.to_owned())))
    };
    ROUTER.lines().filter_map(line).flatten().collect()
}

/// A route that serves this path: `{x}` is one part of it, `{*x}` all that is left.
fn serves(route: &str, path: &str) -> bool {
    let (mut parts, mut rest) = (route.split('/'), path.split('/'));
    loop {
        match (parts.next(), rest.next()) {
            (None, None) => return true,
            (Some(part), Some(_)) if part.starts_with("{*") => return true,
            (Some(part), Some(word)) if part == word || part.starts_with('{') => {}
            _ => return false,
        }
    }
}

fn compared() -> BTreeSet<Route> {
    let all = requests::all();
    // Which of them is asked after a run goes by turns.
    let of_runs = (0..requests::OF_RUN).flat_map(|turn| requests::of_run("x", turn)).chain([requests::of_session("x")]);
    let asked: Vec<Route> = all
        .into_iter()
        .chain(of_runs)
        .map(|request| (request.method, request.path.split('?').next().unwrap_or_default().to_owned()))
        .collect();
    let routes = routes();
    // A path with a name of its own is not for the route that takes any name.
    let exact = |path: &str| routes.iter().any(|(_, route)| route == path);
    let is_asked = |(method, route): &&Route| {
        asked.iter().any(|(by, path)| by == method && (route == path || !exact(path) && serves(route, path)))
    };
    routes.iter().filter(is_asked).cloned().collect()
}

fn not_compared() -> Vec<(Route, &'static str)> {
    let parse = |line: &'static str| {
        let mut words = line.splitn(3, ' ');
        let [method, path, reason] =
            [(); 3].map(|()| words.next().unwrap_or_else(|| panic!("{line}: a reason")).trim());
        ((method.to_owned(), path.to_owned()), reason)
    };
    NOT_COMPARED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(parse).collect()
}

#[test]
fn every_route_is_compared_or_named_with_a_reason() {
    let (routes, compared) = (routes(), compared());
    assert!(routes.len() > 60 && compared.len() > 20, "{} routes, {} compared", routes.len(), compared.len());
    let named: BTreeSet<Route> = not_compared().into_iter().map(|(route, _)| route).collect();
    let left: Vec<&Route> =
        routes.iter().filter(|route| !compared.contains(*route) && !named.contains(*route)).collect();
    assert!(left.is_empty(), "neither compared nor in not_compared.txt: {left:?}");
    let stale: Vec<&Route> =
        named.iter().filter(|route| !routes.contains(*route) || compared.contains(*route)).collect();
    assert!(stale.is_empty(), "in not_compared.txt, and no route or compared: {stale:?}");
}

/// A route that is left out since it is for admins is closed to everybody else.
#[test]
fn routes_that_are_left_out_for_admins_are_closed_to_others() {
    let side = Side::new(Hidden::Few);
    let mut closed = 0;
    for ((method, path), _) in not_compared().into_iter().filter(|(_, reason)| reason.starts_with("admins only")) {
        let reply = side.agent.send(method.parse().unwrap(), &path.replace(['{', '}'], ""), b"{}".to_vec());
        assert_eq!(reply.status, 403, "{method} {path}: {}", reply.text());
        closed += 1;
    }
    assert!(closed >= 5, "{closed} routes");
}
