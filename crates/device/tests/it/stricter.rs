//! A house that allows more than its device does: people are told before they approve, and afterwards.

use crate::scene::Scene;
use serde_json::{Value, json};

fn script(text: &str, timeout: u64) -> Value {
    json!({ "script": { "script": text, "manifest": { "timeout_seconds": timeout }, "rollback": "true", "intent": "a test" } })
}

/// What policy says to whoever approves.
fn reasons(kept: &Value) -> Vec<&str> {
    let all = kept["report"]["reasons"].as_array().unwrap().iter();
    all.filter(|reason| reason["code"] == "device_may_refuse")
        .map(|reason| reason["message"].as_str().unwrap())
        .collect()
}

#[test]
fn what_the_house_allows_and_the_device_does_not_is_told_on_both_sides() {
    let scene = Scene::with(|server| {
        server.env("AI_ORCH_MAX_TIMEOUT_SEC", "900").env("AI_ORCH_ALLOWED_BINARIES", "uptime, df, true, plantctl")
    });
    assert!(reasons(&scene.propose(script("uptime", 60))).is_empty());
    let (cem, cases) =
        (scene.cem(), [("uptime", 600, "`timeout_seconds` is 600"), ("plantctl status", 60, "`plantctl`")]);
    for (text, timeout, part) in cases {
        let kept = scene.propose(script(text, timeout));
        assert_eq!(kept["state"], "waiting", "{kept}");
        let told = reasons(&kept);
        assert!(told.iter().any(|told| told.contains(part) && told.contains("`scripts` settings")), "{told:?}");
        for approver in [&scene.bea, &cem].into_iter().take(kept["approvals_needed"].as_u64().unwrap() as usize) {
            assert_eq!(scene.say(approver, "approve", &kept).status, 200);
        }
        scene.device.once();
        let package = scene.package(&kept);
        assert_eq!(package["result"]["ending"], "refused", "{package}");
        let run = scene.admin.get(&format!("/runs/{}", package["run_id"].as_str().unwrap())).json();
        assert_eq!(run["status"], "refused", "{run}");
        assert!(run.to_string().contains("its own rules are stricter than the house's"), "{run}");
        let undo = scene.eva.post("/api/v1/ai/proposals", &json!({ "rollback_of": package["package_id"] }));
        assert_eq!((undo.status, undo.code().as_str()), (409, "package.not_run"), "nothing ran: {}", undo.text());
    }
    // The owner of the device goes along.
    scene.device.set_config("scripts", json!({ "max_timeout_seconds": 900 }));
    let kept = scene.propose(script("uptime", 600));
    assert_eq!(scene.say(&scene.bea, "approve", &kept).status, 200);
    scene.device.once();
    assert_eq!(scene.package(&kept)["result"]["exit_code"], 0, "{}", scene.package(&kept));
}
