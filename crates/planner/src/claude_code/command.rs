//! How the CLI is started: locked down to the tools of one MCP server.

use super::ClaudeCode;
use domain::Fault;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

/// The name that our server has for the CLI; its tools are called `mcp__sqlite__…`.
pub(super) const SERVER: &str = "sqlite";
/// What the CLI must not even be asked for.
pub(super) const FORBIDDEN: [&str; 3] = ["Bash", "Write", "Edit"];

/// The MCP server that the CLI starts for its tools.
pub struct McpServer {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// The caller's. It is put into a file that nobody else can read, and `--token-file` with its name is added to
    /// `args`: what stands in arguments, everybody on the machine can read.
    pub token: String,
}

impl ClaudeCode {
    /// The command, and the private directory that it works in, which goes when it is dropped.
    pub(super) fn command(&self, system: &[String], server: &McpServer) -> Result<(Command, TempDir), Fault> {
        let (private, config) = config(server).map_err(|error| {
            tracing::error!(%error, "no private directory for the agent CLI");
            Fault::internal("model.private")
        })?;
        let mut command = Command::new(&self.program);
        command
            .args(["--output-format", "stream-json", "--verbose"])
            .args(["--system-prompt", &system.join("\n\n")])
            .args(["--tools", ""])
            .args(["--allowedTools", &format!("mcp__{SERVER}__*")])
            .args(["--disallowedTools", &FORBIDDEN.join(",")])
            .args(["--max-turns", &self.caps.max_turns.to_string()])
            .args(["--max-budget-usd", &self.caps.max_budget_usd.to_string()])
            .args(["--model", &self.model])
            .args(["--permission-mode", "dontAsk"])
            .args(["--mcp-config", &config])
            .args(["--strict-mcp-config", "--setting-sources=", "--include-partial-messages"])
            .args(["--input-format", "stream-json"])
            .current_dir(private.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(key) = &self.key {
            command.env("ANTHROPIC_API_KEY", key);
        }
        Ok((command, private))
    }
}

/// A directory with the token in it, and the CLI's configuration of servers.
fn config(server: &McpServer) -> io::Result<(TempDir, String)> {
    let private = tempfile::Builder::new().prefix("gatehouse-claude-").tempdir()?;
    let token_file = private.path().join("token");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&token_file)?;
    file.write_all(server.token.as_bytes())?;
    let mut args = server.args.clone();
    args.extend(["--token-file".to_owned(), token_file.to_string_lossy().into_owned()]);
    let config = json!({ "mcpServers": { SERVER: { "type": "stdio", "command": server.program, "args": args } } });
    Ok((private, config.to_string()))
}
