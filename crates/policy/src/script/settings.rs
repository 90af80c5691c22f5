//! What whoever runs the house has to say about scripts: in a file, or in the variables of spec 003.

use serde::{Deserialize, Serialize};

/// Bounds on every script of every device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptSettings {
    /// If given, no other commands (`AI_ORCH_ALLOWED_BINARIES`). One that the table does not know is allowed then, and
    /// makes the risk high.
    pub allowed_binaries: Option<Vec<String>>,
    pub denied_binaries: Vec<String>,
    /// Paths that no script reads or writes, besides those that none ever may (`AI_ORCH_DENY_PATHS`). `*` stands for
    /// anything.
    pub deny_paths: Vec<String>,
    /// Directories that scripts may read, besides the usual ones.
    pub read_paths: Vec<String>,
    /// Where manifests may ask to write; anywhere that is not denied if empty.
    pub writable_roots: Vec<String>,
    /// The longest time that a manifest may ask for (`AI_ORCH_MAX_TIMEOUT_SEC`).
    pub max_timeout_seconds: u64,
    pub max_memory_mb: u64,
    pub max_output_kb: u64,
    pub max_disk_mb: u64,
    pub max_processes: u64,
}

impl Default for ScriptSettings {
    fn default() -> Self {
        Self {
            allowed_binaries: None,
            denied_binaries: Vec::new(),
            deny_paths: Vec::new(),
            read_paths: Vec::new(),
            writable_roots: Vec::new(),
            max_timeout_seconds: 300,
            max_memory_mb: 1024,
            max_output_kb: 4096,
            max_disk_mb: 512,
            max_processes: 256,
        }
    }
}

impl ScriptSettings {
    /// Variables take the place of what a file says. An error names the variable.
    pub fn with_variables(mut self, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        if let Some(list) = variable("AI_ORCH_ALLOWED_BINARIES") {
            self.allowed_binaries = Some(names("AI_ORCH_ALLOWED_BINARIES", &list)?);
        }
        if let Some(list) = variable("AI_ORCH_DENY_PATHS") {
            self.deny_paths = names("AI_ORCH_DENY_PATHS", &list)?;
        }
        if let Some(seconds) = variable("AI_ORCH_MAX_TIMEOUT_SEC") {
            let wrong = || format!("AI_ORCH_MAX_TIMEOUT_SEC: `{seconds}` is not a number of seconds above 0");
            self.max_timeout_seconds = seconds.trim().parse().ok().filter(|s| *s > 0).ok_or_else(wrong)?;
        }
        Ok(self)
    }
}

/// A JSON array, or names with commas between them.
fn names(variable: &str, list: &str) -> Result<Vec<String>, String> {
    if list.trim_start().starts_with('[') {
        return serde_json::from_str(list).map_err(|e| format!("{variable}: not an array of strings: {e}"));
    }
    Ok(list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_take_the_place_of_the_file() {
        let set = |name: &str| match name {
            "AI_ORCH_ALLOWED_BINARIES" => Some("ls, cat".to_owned()),
            "AI_ORCH_DENY_PATHS" => Some(r#"["/srv/secret"]"#.to_owned()),
            "AI_ORCH_MAX_TIMEOUT_SEC" => Some("20".to_owned()),
            _ => None,
        };
        let settings = ScriptSettings::default().with_variables(set).unwrap();
        assert_eq!(settings.allowed_binaries.unwrap(), ["ls", "cat"]);
        assert_eq!((settings.deny_paths, settings.max_timeout_seconds), (vec!["/srv/secret".to_owned()], 20));
        for wrong in ["0", "soon", "-1"] {
            let refused = ScriptSettings::default()
                .with_variables(|name| (name == "AI_ORCH_MAX_TIMEOUT_SEC").then(|| wrong.to_owned()));
            assert!(refused.unwrap_err().contains(wrong));
        }
    }
}
