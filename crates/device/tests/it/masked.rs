//! What was taken out of diagnostics stays hidden from those who may not see it, whatever they do with it.

use crate::model::{LOG, finding, findings, hints, with_model};
use crate::scene::Scene;
use serde_json::{Value, json};
use testkit::{Client, Messages, Reply, Said};

/// What `<HOST_1>` stands for.
const HOST: &str = "pump-ctl-2.plant.example.com";

/// A house whose model writes a script with a placeholder in each of its texts, and that script proposed.
fn proposed(model: &Messages) -> (Scene, Value) {
    let scene = with_model(model);
    let analysis = scene.analyse(&scene.diagnose(&[("journalctl", LOG)]));
    let found = analysis["findings"].as_array().unwrap().iter().position(|found| found["id"] == "disk.full");
    let wish = json!({ "analysis_id": analysis["analysis_id"], "finding": found.unwrap(), "by": "model" });
    let kept = scene.propose(wish);
    assert_eq!(kept["state"], "waiting", "{kept}");
    (scene, kept)
}

fn model() -> Messages {
    let script = json!({
        "script": "df -h\necho <HOST_1>\n", "rollback": "echo back <HOST_1>\n", "intent": "Look at <HOST_1>.",
        "network": "none", "writable_paths": [], "timeout_seconds": 30,
    });
    Messages::script([
        findings(&[finding("disk.full", "No space left on device")]),
        Said::text(&script.to_string()),
        hints("`df` says nothing of <HOST_1>'s inodes"),
    ])
}

fn edit(who: &Client, kept: &Value, script: &str) -> Reply {
    let mut proposal = kept["proposal"].clone();
    proposal["script"] = json!(script);
    let path = format!("/api/v1/ai/proposals/{}", kept["proposal_id"].as_str().unwrap());
    who.send("PUT".parse().unwrap(), &path, proposal.to_string().into_bytes())
}

#[test]
fn the_inbox_shows_values_to_approvers_only() {
    let (scene, _) = proposed(&model());
    let intent = |who: &Client| who.get("/api/v1/ai/proposals").json()["proposals"][0]["intent"].clone();
    assert_eq!(intent(&scene.eva), "Look at <HOST_1>.");
    assert_eq!(intent(&scene.bea), format!("Look at {HOST}."));
}

/// Beside a letter a value would no longer be found, and would be shown.
#[test]
fn a_placeholder_that_is_glued_to_a_word_is_refused() {
    let (scene, kept) = proposed(&model());
    for script in ["echo x<HOST_1>", "echo <HOST_1>x", "echo 1<HOST_1>2", "echo <HOST_1><HOST_1>"] {
        let reply = edit(&scene.eva, &kept, script);
        assert_eq!((reply.status, reply.code().as_str()), (400, "proposal.invalid"), "{script}: {}", reply.text());
        assert!(!reply.text().contains("pump-ctl"), "{}", reply.text());
    }
    for script in ["echo \"<HOST_1>\"", "echo /<HOST_1>/", "echo <HOST_1> x"] {
        let reply = edit(&scene.eva, &kept, script);
        assert_eq!(reply.status, 200, "{script}: {}", reply.text());
        assert_eq!(reply.json()["proposal"]["script"], script);
        assert_eq!(scene.show(&kept)["proposal"]["script"], script.replace("<HOST_1>", HOST));
    }
}

/// What a script says of what it was given: a bare name of a user, which no pattern would find, and a host.
#[test]
fn logs_hide_values_from_those_who_may_not_see_them() {
    let (scene, kept) = proposed(&model());
    let mut proposal = kept["proposal"].clone();
    proposal["script"] = json!("echo <USER_1>\necho \"at <HOST_1>:\"\n");
    proposal["rollback"] = json!("echo <USER_1> again\n");
    let path = format!("/api/v1/ai/proposals/{}", kept["proposal_id"].as_str().unwrap());
    let edited = scene.eva.send("PUT".parse().unwrap(), &path, proposal.to_string().into_bytes());
    assert_eq!(edited.status, 200, "{}", edited.text());
    assert_eq!(scene.say(&scene.bea, "approve", &edited.json()).status, 200);
    scene.device.once();
    let package = scene.package(&kept);
    assert_eq!(package["result"]["exit_code"], 0, "{package}");
    let id = package["package_id"].as_str().unwrap();
    assert!(scene.device.run(&["--rollback", id]).status.success());
    let seen = |who: &Client| who.get(&format!("/api/v1/ai/packages/{id}")).json();
    let (eva, bea) = (seen(&scene.eva), seen(&scene.bea));
    assert!(bea["log"].as_str().unwrap().starts_with("annlee\n"), "approvers may see: {bea}");
    assert_eq!(bea["undone_log"], "annlee again\n");
    assert_eq!((&eva["log"], &eva["undone_log"]), (&json!("<USER_1>\nat <HOST_1>:\n"), &json!("<USER_1> again\n")));
    assert!(!eva.to_string().contains("annlee") && !eva.to_string().contains("pump-ctl"), "{eva}");
}

#[test]
fn a_rollback_that_is_proposed_hides_what_its_script_hides() {
    let (scene, kept) = proposed(&model());
    assert_eq!(scene.say(&scene.bea, "approve", &kept).status, 200);
    scene.device.once();
    let package = scene.package(&kept);
    assert_eq!(package["result"]["exit_code"], 0, "{package}");
    let undo = scene.propose(json!({ "rollback_of": package["package_id"] }));
    assert_eq!(undo["proposal"]["script"], "echo back <HOST_1>\n", "{undo}");
    assert!(!undo.to_string().contains("pump-ctl"), "{undo}");
    assert_eq!(scene.show(&undo)["proposal"]["script"], format!("echo back {HOST}\n"));
    let shown = scene.eva.get(&format!("/api/v1/ai/proposals/{}", undo["proposal_id"].as_str().unwrap())).text();
    assert!(!shown.contains("pump-ctl"), "{shown}");
}
