//! A device that fetches a script and is not heard of again.

use crate::forge;
use crate::scene::Scene;
use crate::support::gatehouse;
use domain::package::{Ending, ScriptResult, Usage};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};
use testkit::{Client, ServerBuilder};

/// What a device would tell of a package that it ran.
fn succeeded(package: &Value) -> Value {
    let text = |key: &str| package[key].as_str().unwrap().to_owned();
    json!(ScriptResult {
        package_id: text("package_id"),
        digest: text("digest"),
        rollback: false,
        ending: Ending::Exited,
        code: None,
        exit_code: Some(0),
        started_at: Timestamp::now(),
        duration_ms: 12,
        usage: Usage::default(),
        sandbox_tier: Some("T1".to_owned()),
        unenforced: Vec::new(),
        truncated: false,
    })
}

/// The package once it is in this state: the house sees to it by itself.
fn until(state: &str, reader: &Client, id: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let package = reader.get(&format!("/api/v1/ai/packages/{id}")).json();
        if package["state"] == state {
            return package;
        }
        assert!(Instant::now() < deadline, "{package}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_is_never_told_is_closed_as_unknown_and_a_late_result_is_taken() {
    let data = tempfile::tempdir().unwrap();
    let mut scene = Scene::with(|server| server.data(data.path()));
    let kept = scene.remove_lock();
    assert_eq!(scene.say(&scene.bea, "approve", &kept).status, 200);
    let id = scene.package(&kept)["package_id"].as_str().unwrap().to_owned();
    let claim = scene.as_device().post("/api/v1/devices/claim", &json!({}));
    assert_eq!(claim.status, 200, "{}", claim.text());
    let early = scene.eva.post("/api/v1/ai/proposals", &json!({ "rollback_of": id }));
    assert_eq!((early.status, early.code().as_str()), (409, "package.not_run"));
    scene.server.kill();
    forge::age(data.path(), &kept);

    let server = ServerBuilder::new(gatehouse()).data(data.path()).start();
    scene.device.set_config("url", server.url.as_str());
    let scene = Scene {
        admin: server.client("root", "admin"),
        eva: server.client("eva", "engineer"),
        bea: server.client("bea", "approver"),
        server,
        device: scene.device,
    };
    let package = until("unheard", &scene.bea, &id);
    let run = scene.bea.get(&format!("/runs/{}", package["run_id"].as_str().unwrap())).json();
    assert_eq!(run["status"], "failed", "{run}");
    assert!(run.to_string().contains("script.unheard") && run.to_string().contains("It may have run"), "{run}");
    scene.device.once();
    assert!(scene.device.file("app.lock").exists(), "it is not given away again");
    assert_eq!(scene.eva.post("/api/v1/ai/proposals", &json!({ "rollback_of": id })).status, 201, "it may have run");

    let late = json!({ "claim_token": claim.json()["claim_token"], "result": succeeded(&package) });
    assert_eq!(scene.as_device().post("/api/v1/devices/result", &late).status, 204);
    let done = until("done", &scene.bea, &id);
    assert_eq!(done["result"]["exit_code"], 0, "{done}");
    assert_ne!(done["run_id"], package["run_id"], "both are on record");
    let run = scene.bea.get(&format!("/runs/{}", done["run_id"].as_str().unwrap())).json();
    assert_eq!(run["status"], "succeeded", "{run}");
    let told: Vec<String> = scene.audit().into_iter().map(|(kind, _)| kind).collect();
    let unheard = told.iter().position(|kind| kind == "script.unheard").unwrap();
    assert!(told.iter().skip(unheard).any(|kind| kind == "script.ended"), "{told:?}");
}
