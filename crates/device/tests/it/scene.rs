//! People, a real house and a real device.

use crate::support::{Device, gatehouse};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use testkit::{Client, Reply, Server, ServerBuilder};

/// People, a house and a device that has enrolled with it.
pub struct Scene {
    pub server: Server,
    pub admin: Client,
    pub eva: Client,
    pub bea: Client,
    pub device: Device,
}

impl Scene {
    pub fn new() -> Self {
        Self::with(|server| server)
    }

    pub fn with(settings: impl Fn(ServerBuilder) -> ServerBuilder) -> Self {
        let server = settings(ServerBuilder::new(gatehouse())).start();
        let admin = server.client("root", "admin");
        let (eva, bea) = (server.client("eva", "engineer"), server.client("bea", "approver"));
        let expected = admin.post("/api/v1/devices", &json!({ "device_id": "pump-1", "name": "Pump in hall 4" }));
        assert_eq!(expected.status, 201, "{}", expected.text());
        let device = Device::enrolled(&server.url, expected.json()["code"].as_str().unwrap());
        Self { server, admin, eva, bea, device }
    }

    /// A second approver.
    pub fn cem(&self) -> Client {
        self.server.client("cem", "approver")
    }

    pub fn diagnose(&self, outputs: &[(&str, &str)]) -> Value {
        let outputs: Vec<Value> =
            outputs.iter().map(|(command, text)| json!({ "command": command, "text": text })).collect();
        let kept = self.eva.post("/api/v1/ai/diagnostics", &json!({ "device_id": "pump-1", "outputs": outputs }));
        assert_eq!(kept.status, 201, "{}", kept.text());
        kept.json()
    }

    pub fn analyse(&self, diagnostics: &Value) -> Value {
        let wish = json!({ "diagnostics_id": diagnostics["diagnostics_id"] });
        let analysis = self.eva.post("/api/v1/ai/analyses", &wish);
        assert_eq!(analysis.status, 201, "{}", analysis.text());
        analysis.json()
    }

    pub fn propose(&self, mut wish: Value) -> Value {
        wish["device_id"] = json!("pump-1");
        let proposal = self.eva.post("/api/v1/ai/proposals", &wish);
        assert_eq!(proposal.status, 201, "{}", proposal.text());
        proposal.json()
    }

    /// A change of medium risk, with a rollback.
    pub fn remove_lock(&self) -> Value {
        let directory = self.device.shared.path().to_str().unwrap();
        fs::write(self.device.file("app.lock"), "4711").unwrap();
        fs::set_permissions(self.device.file("app.lock"), PermissionsExt::from_mode(0o666)).unwrap();
        self.propose(json!({ "runbook": { "id": "remove_stale_lock", "parameters": { "directory": directory } } }))
    }

    pub fn say(&self, who: &Client, verdict: &str, proposal: &Value) -> Reply {
        let path = format!("/api/v1/ai/proposals/{}/{verdict}", proposal["proposal_id"].as_str().unwrap());
        who.post(&path, &json!({ "digest": proposal["digest"] }))
    }

    pub fn show(&self, proposal: &Value) -> Value {
        self.bea.get(&format!("/api/v1/ai/proposals/{}", proposal["proposal_id"].as_str().unwrap())).json()
    }

    pub fn package(&self, proposal: &Value) -> Value {
        let id = self.show(proposal)["package_id"].as_str().expect("it was sent").to_owned();
        self.bea.get(&format!("/api/v1/ai/packages/{id}")).json()
    }

    /// Speaks as the device does, with its token.
    pub fn as_device(&self) -> Client {
        self.server.stranger().bearer(self.device.config()["token"].as_str().unwrap())
    }

    /// Kinds and details of the audit, oldest first.
    pub fn audit(&self) -> Vec<(String, Value)> {
        let exported = self.server.command(&["audit", "export"]);
        let entry = |line: &str| -> Value { serde_json::from_str::<Value>(line).unwrap()["entry"].clone() };
        let told = |entry: Value| (entry["kind"].as_str().unwrap().to_owned(), entry["detail"].clone());
        String::from_utf8(exported.stdout).unwrap().lines().map(|line| told(entry(line))).collect()
    }

    pub fn has_told(&self, kind: &str, code: &str) -> bool {
        self.audit().iter().any(|(told, detail)| told == kind && detail["code"] == code)
    }
}
