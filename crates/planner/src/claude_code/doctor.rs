//! Whether the CLI could work, as it says itself.

use super::ClaudeCode;
use super::process::{cannot_start, end_group};
use domain::{Fault, Kind};
use std::process::Stdio;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);
/// What is kept of what it says.
const MOST_CHARS: usize = 300;

impl ClaudeCode {
    /// Runs `claude doctor`: what it says if it is well, or why it is not.
    pub async fn doctor(&self) -> Result<String, Fault> {
        let private = self.private().map_err(|_| Fault::internal("model.private"))?;
        let mut command = self.bare(&private);
        command.arg("doctor").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.process_group(0).kill_on_drop(true).spawn().map_err(|error| *cannot_start(&error).fault)?;
        let group = child.id();
        let ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await;
        end_group(group);
        let unwell = |message: String| {
            Fault::new(Kind::Unavailable, "model.doctor", message)
                .hint("run `claude doctor` as this user, and see to it")
        };
        match ended {
            Ok(Ok(output)) if output.status.success() => Ok(shown(&output.stdout)),
            Ok(Ok(output)) => {
                let said = if output.stderr.is_empty() { output.stdout } else { output.stderr };
                Err(unwell(format!("`claude doctor` failed: {}", shown(&said))))
            }
            Ok(Err(error)) => Err(unwell(format!("`claude doctor` could not be read: {error}"))),
            Err(_) => Err(unwell(format!("`claude doctor` took longer than {} s", PATIENCE.as_secs()))),
        }
    }
}

/// The first words, on one line.
fn shown(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(MOST_CHARS).collect()
}
