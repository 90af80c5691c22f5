//! How the CLI is started: locked down to the tools of one MCP server.

use super::ClaudeCode;
use domain::Fault;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

/// The name that our server has for the CLI; its tools are called `mcp__sqlite__…`.
pub(super) const SERVER: &str = "sqlite";
/// What the CLI must not even be asked for.
pub(super) const FORBIDDEN: [&str; 3] = ["Bash", "Write", "Edit"];

/// All that the CLI has of this process's environment: where its programs, its settings and its login are, how it reaches
/// its API, and which certificates it believes. Keys and passwords of the server are not among them.
const PASSED_ON: [&str; 25] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "TZ",
    "XDG_CONFIG_HOME",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_AUTH_TOKEN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_USE_SYSTEM_CA",
    "USER",
    "LOGNAME",
];
/// Those of another user would be of no use to it.
const OF_THE_USER: [&str; 5] = ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "USER", "LOGNAME"];

/// The MCP server that the CLI starts for its tools.
pub struct McpServer {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// The caller's, where the server wants one. It is put into a file that nobody else can read, and `--token-file` with
    /// its name is added to `args`: what stands in arguments, everybody on the machine can read.
    pub token: Option<String>,
}

impl ClaudeCode {
    /// The command, and the private directory that it works in, which goes when it is dropped.
    pub(super) fn command(&self, system: &[String], server: &McpServer) -> Result<(Command, TempDir), Fault> {
        let unprepared = |error: io::Error| {
            tracing::error!(%error, "no private directory for the agent CLI");
            Fault::internal("model.private")
        };
        let private = self.private().map_err(unprepared)?;
        let config = self.config(server, &private).map_err(unprepared)?;
        let mut command = self.bare(&private);
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
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok((command, private))
    }

    /// A directory for one run, the CLI's alone.
    pub(super) fn private(&self) -> io::Result<TempDir> {
        let private = tempfile::Builder::new().prefix("gatehouse-claude-").tempdir()?;
        if let Some((uid, gid)) = self.user {
            chown(private.path(), Some(uid), Some(gid))?;
        }
        Ok(private)
    }

    /// The CLI without arguments: in its directory, as its user, with an environment of its own.
    pub(super) fn bare(&self, private: &TempDir) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(private.path()).env_clear();
        let is_passed = |name: &&str| self.user.is_none() || !OF_THE_USER.contains(name);
        for name in PASSED_ON.into_iter().filter(is_passed) {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        if let Some((uid, gid)) = self.user {
            command.env("HOME", private.path()).uid(uid).gid(gid);
        }
        if let Some(key) = &self.key {
            command.env("ANTHROPIC_API_KEY", key);
        }
        command
    }

    /// The CLI's configuration of servers. A token goes into the directory.
    fn config(&self, server: &McpServer, private: &TempDir) -> io::Result<String> {
        let mut args = server.args.clone();
        if let Some(token) = &server.token {
            let token_file = private.path().join("token");
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&token_file)?;
            file.write_all(token.as_bytes())?;
            if let Some((uid, gid)) = self.user {
                chown(&token_file, Some(uid), Some(gid))?;
            }
            args.extend(["--token-file".to_owned(), token_file.to_string_lossy().into_owned()]);
        }
        let config = json!({ "mcpServers": { SERVER: { "type": "stdio", "command": server.program, "args": args } } });
        Ok(config.to_string())
    }
}
