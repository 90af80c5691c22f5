//! The page's files, as browsers fetch them. What the page does is tested in a browser: tests/browser.

use crate::support::{analyst, demo};
use serde_json::json;

#[test]
fn every_address_of_the_page_is_the_page() {
    let index = demo().stranger().get("/").text();
    for path in ["/history", "/r/01a1e137", "/t/x", "/admin/policy", "/ops/approvals", "/ops/devices/pump-1"] {
        let reply = demo().stranger().get(path);
        assert_eq!((reply.status, reply.text()), (200, index.clone()), "{path}");
    }
    assert_eq!(demo().stranger().get("/nowhere").status, 404);
}

#[test]
fn files_are_packed_for_those_who_can_read_them() {
    let plain = demo().stranger().get("/assets/vendor/plot.js");
    let packed = demo().stranger().header("accept-encoding", "gzip, br").get("/assets/vendor/plot.js");
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), ("", "gzip"));
    assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() < plain.body.len() / 2);
    assert_eq!(packed.header("content-type"), plain.header("content-type"));
    assert_eq!(packed.header("vary"), "accept-encoding");
}

#[test]
fn a_file_that_has_not_changed_is_not_sent_again() {
    let first = demo().stranger().get("/assets/main.js");
    let again = demo().stranger().header("if-none-match", first.header("etag")).get("/assets/main.js");
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(demo().stranger().header("if-none-match", "W/\"0\"").get("/assets/main.js").status, 200);
}

#[test]
fn an_answer_says_which_picture_suits_it() {
    let cases = [
        ("sales", "Monthly revenue in 2026", json!({ "kind": "line", "x": 0, "y": 1, "series": null })),
        ("shop", "How many customers are there per tier?", json!({ "kind": "bar", "x": 0, "y": 1, "series": null })),
        (
            "shop",
            "How many orders were cancelled in 2026?",
            json!({ "kind": "number", "x": null, "y": 0, "series": null }),
        ),
        ("shop", "Which customers have no orders?", json!(null)),
    ];
    for (dataset, question, chart) in cases {
        assert_eq!(analyst().ask(dataset, question)["result"]["chart"], chart, "{question}");
    }
}
