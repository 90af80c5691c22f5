//! What attackers would have approved, sent or told: each refused or contained, each on record.

use crate::forge::{self, Forged};
use crate::scene::Scene;
use domain::Risk;
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use testkit::Client;

/// One block of `cases/redteam.txt`.
#[derive(Clone)]
struct Case {
    name: String,
    expect: String,
    manifest: Value,
    script: String,
}

fn cases(fill: impl Fn(&str) -> String) -> Vec<Case> {
    let text = include_str!("../cases/redteam.txt");
    let blocks = text.split("\n== ").skip(1);
    let case = |block: &str| {
        let block = fill(block);
        let mut lines = block.lines();
        let (name, expect) = (lines.next().unwrap().to_owned(), lines.next().unwrap().to_owned());
        let rest: Vec<&str> = lines.collect();
        let manifest = rest.iter().find_map(|line| line.strip_prefix("manifest: "));
        let manifest = manifest.map_or(json!({}), |json| serde_json::from_str(json).unwrap());
        let script = rest.iter().filter(|line| !line.starts_with("manifest: ")).map(|line| format!("{line}\n"));
        Case { name, expect, manifest, script: script.collect::<String>().trim_start().to_owned() }
    };
    blocks.map(case).collect()
}

#[test]
fn scripts_of_attackers_are_refused_or_contained() {
    let scene = Scene::new();
    let outside = tempfile::Builder::new().prefix("gatehouse-").tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o777)).unwrap();
    symlink(outside.path(), scene.device.file("link")).unwrap();
    symlink(scene.device.state.path().join("device.json"), scene.device.file("secrets")).unwrap();
    fs::write(scene.device.file("harmless"), "x").unwrap();
    let secret = scene.device.config()["token"].as_str().unwrap().to_owned();
    let fill = |text: &str| {
        text.replace("{shared}", scene.device.shared.path().to_str().unwrap())
            .replace("{outside}", outside.path().to_str().unwrap())
    };
    let (mut wrong, mut due, all, cem) = (Vec::new(), Vec::new(), cases(fill), scene.cem());
    for Case { name, expect, mut manifest, script } in all.clone() {
        if expect != "refused" && manifest.get("writable_paths").is_none() {
            manifest["writable_paths"] = json!([scene.device.shared.path()]);
        }
        let proposal = json!({ "script": script, "manifest": manifest, "rollback": "true", "intent": name });
        let kept = scene.propose(json!({ "script": proposal }));
        let (seen, log) = match kept["state"].as_str() {
            Some("refused") => ("refused".to_owned(), String::new()),
            _ => run(&scene, &kept, &cem),
        };
        if seen != expect || log.contains(&secret) {
            wrong.push(format!("{name}: {seen} instead of {expect}\n{}\n{log}", kept["report"]));
        }
        due.push((name, if seen == "refused" { "script.refused" } else { "script.ended" }, kept["digest"].clone()));
    }
    let told = scene.audit();
    for (name, kind, digest) in due {
        if !told.iter().any(|(told, detail)| told == kind && detail["digest"] == digest) {
            wrong.push(format!("{name}: not on record"));
        }
    }
    let touched: Vec<_> = fs::read_dir(outside.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(wrong.is_empty() && touched.is_empty(), "{touched:?}\n{}", wrong.join("\n"));
    testkit::tally("ops", "scripts of attackers", all.len(), "neither refused nor contained", wrong.len());
}

/// Approved by as many as it takes, and run: how it ended, and what it said.
fn run(scene: &Scene, kept: &Value, cem: &Client) -> (String, String) {
    for approver in [&scene.bea, cem].into_iter().take(kept["approvals_needed"].as_u64().unwrap() as usize) {
        assert_eq!(scene.say(approver, "approve", kept).status, 200, "{kept}");
    }
    scene.device.once();
    let package = scene.package(kept);
    (package["result"]["ending"].as_str().unwrap_or("nothing").to_owned(), package["log"].to_string())
}

/// Somebody who can write the house's database, and somebody who even has its key, against one device.
#[test]
fn packages_that_are_not_what_was_approved_do_not_run() {
    let scene = Scene::new();
    let hour = SignedDuration::from_hours(1);
    let old = sent(&scene, "ran", Risk::Medium);
    scene.device.once();
    assert!(scene.device.file("ran").exists(), "{}", scene.package(&old));
    let replayed = forge::signed(&scene, &old);
    let resealed = |change: fn(&mut domain::package::Package)| Forged::WithTheKey(Box::new(change));
    let cases: Vec<(&str, Forged)> = vec![
        ("package.bad_signature", Forged::Payload(|package| package["script"] = json!("ZWNobyBvd25lZA=="))),
        ("package.bad_signature", Forged::Payload(|package| package["manifest"]["network"] = json!("host"))),
        ("package.bad_signature", Forged::Payload(|package| package["expires_at"] = json!("2099-01-01T00:00:00Z"))),
        ("package.checksum_mismatch", Forged::Signed(|signed| signed.sha256 = "0".repeat(64))),
        ("package.bad_signature", Forged::Signed(|signed| signed.signature = "00".repeat(64))),
        ("package.unknown_key", Forged::ByAStranger),
        ("package.replayed", Forged::Another(Box::new(replayed))),
        ("package.wrong_device", resealed(|package| package.device_id = "pump-2".to_owned())),
        ("package.digest_mismatch", resealed(|package| package.script = "ZWNobyBvd25lZA==".to_owned())),
        ("package.digest_mismatch", resealed(|package| package.manifest.writable_paths.push("/etc".to_owned()))),
        ("package.risk_understated", resealed(|package| package.risk = Risk::Low)),
        ("package.version", resealed(|package| package.version = 2)),
        (
            "package.expired",
            Forged::WithTheKey(Box::new(move |package| {
                (package.created_at, package.expires_at) = (package.created_at - hour, package.created_at - hour / 2);
            })),
        ),
        ("package.from_the_future", Forged::WithTheKey(Box::new(move |package| package.created_at += hour))),
    ];
    let (tried, mut due) = (cases.len(), Vec::new());
    for (place, (code, forged)) in cases.into_iter().enumerate() {
        let file = format!("owned-{place}");
        let kept = sent(&scene, &file, Risk::Medium);
        forge::put(&scene, &kept, &forge::made(&scene, &kept, forged));
        scene.device.once();
        let package = scene.package(&kept);
        assert_eq!(package["result"]["code"], code, "{place}: {package}");
        assert!(!scene.device.file(&file).exists(), "{place}: it ran");
        due.push((code, package["package_id"].clone()));
        let run = scene.bea.get(&format!("/runs/{}", package["run_id"].as_str().unwrap())).json();
        assert_eq!(run["status"], "refused", "{run}");
    }
    let told = scene.audit();
    for (code, id) in due {
        let is_told = |(kind, detail): &(String, Value)| {
            kind == "script.ended" && detail["package"] == id && detail["code"] == code
        };
        assert!(told.iter().any(is_told), "{code} is not on record");
    }
    testkit::tally("ops", "forged packages", tried, "run or not on record", 0);
}

/// An approved script that leaves a file, in the queue.
fn sent(scene: &Scene, file: &str, risk: Risk) -> Value {
    let script = format!("echo x >> {}", scene.device.file(file).display());
    let manifest = json!({ "writable_paths": [scene.device.shared.path()] });
    let kept = scene.propose(json!({ "script": {
        "script": script, "manifest": manifest, "rollback": "true", "intent": "a test",
    } }));
    assert_eq!(kept["risk"], risk.as_str(), "{kept}");
    let said = scene.say(&scene.bea, "approve", &kept);
    assert_eq!(said.json()["state"], "sent", "{}", said.text());
    kept
}
