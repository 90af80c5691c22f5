//! The house's keys are replaced while it runs, and its devices follow.

use crate::forge;
use crate::scene::Scene;
use serde_json::{Value, json};

fn keys(scene: &Scene) -> Vec<Value> {
    let listed = scene.server.command(&["keys", "list", "--json"]);
    serde_json::from_slice::<Value>(&listed.stdout).unwrap().as_array().unwrap().clone()
}

/// A script that anybody may look at, through to its end.
fn run(scene: &Scene) -> Value {
    let script = json!({ "script": "uptime", "manifest": {}, "rollback": "uptime", "intent": "see how it is" });
    let kept = scene.propose(json!({ "script": script }));
    assert_eq!(scene.say(&scene.bea, "approve", &kept).status, 200);
    scene.device.once();
    kept
}

#[test]
fn a_device_follows_a_rotation_and_refuses_what_a_retired_key_signed() {
    let scene = Scene::new();
    let first = keys(&scene)[0]["key_id"].as_str().unwrap().to_owned();
    let old = run(&scene);
    let rotated = scene.server.command(&["keys", "rotate"]);
    assert!(rotated.status.success(), "{rotated:?}");
    let second = String::from_utf8(rotated.stdout).unwrap().trim().to_owned();
    let listed = keys(&scene);
    assert_eq!(
        (listed.len(), listed[0]["key_id"].as_str(), listed[0]["signs"].as_bool()),
        (2, Some(&*second), Some(true))
    );
    let new = run(&scene);
    assert_eq!(scene.package(&new)["result"]["exit_code"], 0, "{}", scene.package(&new));
    assert_eq!(
        (forge::signed(&scene, &old).key_id, forge::signed(&scene, &new).key_id),
        (first.clone(), second.clone())
    );
    assert_eq!(scene.device.config()["keys_serial"], 1);

    assert!(!scene.server.command(&["keys", "retire", &second]).status.success(), "it signs");
    assert!(scene.server.command(&["keys", "retire", &first]).status.success());
    assert_eq!(scene.package(&run(&scene))["result"]["exit_code"], 0);
    assert_eq!(scene.device.config()["trusted_keys"].as_array().unwrap().len(), 1);

    // What ran under the retired key can be taken back all the same.
    let undone = scene.device.run(&["--rollback", scene.package(&old)["package_id"].as_str().unwrap()]);
    assert!(undone.status.success(), "{undone:?}");
    assert_eq!(scene.package(&old)["undone"]["exit_code"], 0);

    let script = json!({ "script": "uptime", "manifest": {}, "intent": "signed with the retired key" });
    let kept = scene.propose(json!({ "script": script }));
    assert_eq!(scene.say(&scene.bea, "approve", &kept).status, 200);
    forge::put(&scene, &kept, &forge::signed(&scene, &old));
    scene.device.once();
    assert_eq!(scene.package(&kept)["result"]["code"], "package.unknown_key");
    let told: Vec<String> = scene.audit().into_iter().map(|(kind, _)| kind).collect();
    assert!(["keys.rotated", "keys.retired"].iter().all(|kind| told.iter().any(|told| told == kind)), "{told:?}");
}
