//! Other programs that may hold a script: where they are, they hold; where they are not, nothing runs.

use crate::forge;
use crate::house::House;
use crate::scene::Scene;
use crate::support::Device;
use domain::{Manifest, Resources, Timeout};
use serde_json::{Value, json};
use std::fs;

/// What `doctor` says of one of them.
fn has(device: &Device, cell: &str) -> Value {
    serde_json::from_slice::<Value>(&device.run(&["doctor"]).stdout).unwrap()[cell].clone()
}

/// How scripts end when this one holds them, with what they said.
fn run(cell: &str, scripts: &[(&str, Manifest)]) -> (Device, Vec<Value>, String) {
    let house = House::start();
    let device = Device::enrolled(&house.url, "one-time");
    device.set_config("cells", json!({ "low": cell, "medium": cell, "high": cell }));
    for (place, (script, manifest)) in scripts.iter().enumerate() {
        let manifest =
            Manifest { writable_paths: vec![device.shared.path().to_str().unwrap().to_owned()], ..manifest.clone() };
        let script = script.replace("{shared}", device.shared.path().to_str().unwrap());
        house.queue(house.package(&format!("p-{place}"), &script, Some("true"), manifest, 600));
        device.once();
    }
    let (results, log) = (house.results(), house.log());
    (device, results, log)
}

#[test]
fn podman_holds_a_script_where_it_is() {
    let short = Manifest { timeout_seconds: Timeout(1), ..Manifest::default() };
    let small = Manifest { resources: Resources { output_kb: 16, ..Resources::default() }, ..Manifest::default() };
    let scripts = [
        ("id -u\npwd\ncat /proc/net/route\necho x >> {shared}/count\nexit 3", Manifest::default()),
        ("while true; do sleep 1; done", short),
        ("while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", small),
        ("ls -a /var/tmp", Manifest::default()),
    ];
    let (device, results, log) = run("podman", &scripts);
    let available = has(&device, "podman").get("tier").is_some();
    let endings: Vec<&str> = results.iter().map(|result| result["ending"].as_str().unwrap()).collect();
    if !available {
        assert_eq!(endings, ["refused"; 4], "{results:?}");
        assert!(results.iter().all(|result| result["code"] == "device.cell_unavailable"), "{results:?}");
        assert!(!device.file("count").exists());
        return;
    }
    assert_eq!(endings, ["exited", "timed_out", "output_exceeded", "exited"], "{results:?}\n{log}");
    assert_eq!((results[0]["exit_code"].as_i64(), &results[0]["sandbox_tier"]), (Some(3), &json!("podman")));
    assert_eq!(fs::read_to_string(device.file("count")).unwrap(), "x\n");
    assert!(log.starts_with("65534\n/tmp\n"), "{log}");
}

#[test]
fn systemd_holds_a_script_where_it_is_and_never_one_of_high_risk() {
    let (device, results, _) = run("systemd", &[("echo x >> {shared}/count", Manifest::default())]);
    match has(&device, "systemd").get("tier") {
        Some(_) => assert_eq!(results[0]["ending"], "exited", "{results:?}"),
        None => {
            assert_eq!(results[0]["code"], "device.cell_unavailable", "{results:?}");
            assert!(!device.file("count").exists());
        }
    }
    let house = House::start();
    let device = Device::enrolled(&house.url, "one-time");
    device.set_config("cells", json!({ "high": "systemd" }));
    let manifest =
        Manifest { writable_paths: vec![device.shared.path().to_str().unwrap().to_owned()], ..Manifest::default() };
    let script = format!("touch {}", device.file("ran").display());
    house.queue(house.package("p-1", &script, None, manifest, 600));
    device.once();
    assert_eq!(house.results()[0]["code"], "device.cell_too_weak", "{:?}", house.results());
    assert!(!device.file("ran").exists());
}

/// Nobody is asked to approve what the device can't do, and a device that is asked all the same says so and runs nothing.
#[test]
fn a_capability_that_the_cell_cannot_grant_is_refused_before_anything_runs() {
    let house = House::start();
    let device = Device::enrolled(&house.url, "one-time");
    let said = house.said("enrol").remove(0);
    assert_eq!(said["cells"]["low"], json!({ "cell": "bubblewrap", "capabilities": [] }), "{said}");
    assert_eq!(has(&device, "bubblewrap")["capabilities"], json!([]));
    let mut grants = device.config()["grants"].clone();
    grants["capabilities"] = json!(["NET_RAW"]);
    device.set_config("grants", grants.clone());
    let script = format!("touch {}", device.file("ran").display());
    let manifest = Manifest {
        capabilities: vec!["NET_RAW".to_owned()],
        writable_paths: vec![device.shared.path().to_str().unwrap().to_owned()],
        ..Manifest::default()
    };
    house.queue(house.package("p-1", &script, Some("true"), manifest, 600));
    device.once();
    assert_eq!(house.results()[0]["code"], "device.capability", "{:?}", house.results());
    assert!(!device.file("ran").exists());

    let scene = Scene::new();
    scene.device.set_config("grants", grants);
    let code = scene.admin.post("/api/v1/devices", &json!({ "device_id": "pump-1" })).json()["code"].clone();
    let enrolled = scene.device.run(&["enrol", &scene.server.url, code.as_str().unwrap()]);
    assert!(enrolled.status.success(), "{enrolled:?}");
    let devices = scene.bea.get("/api/v1/devices").json();
    assert_eq!(devices["devices"][0]["cells"]["high"]["cell"], "bubblewrap", "{devices}");
    let manifest = json!({ "capabilities": ["NET_RAW"] });
    let kept = scene.propose(json!({ "script": { "script": "uptime", "manifest": manifest, "intent": "a test" } }));
    assert_eq!(kept["state"], "refused", "{kept}");
    let violations = kept["report"]["violations"].as_array().unwrap();
    assert!(violations.iter().any(|violation| violation["code"] == "script.not_grantable"), "{violations:?}");
}

/// The house thought it riskier than the device does: what holds it is what the greater risk demands.
#[test]
fn the_greater_of_both_risks_chooses_the_cell() {
    let house = House::start();
    let device = Device::enrolled(&house.url, "one-time");
    device.set_config("cells", json!({ "high": "systemd" }));
    let approved = house.package("p-1", "uptime", Some("true"), Manifest::default(), 600);
    let mut package: domain::package::Package = forge::opened(&approved);
    package.risk = domain::Risk::High;
    house.queue(forge::sealed(&[7; 32], &package));
    device.once();
    assert_eq!(house.results()[0]["code"], "device.cell_too_weak", "{:?}", house.results());
}
