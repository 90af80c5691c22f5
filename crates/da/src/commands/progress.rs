//! A line on the terminal while a result arrives: rows, bytes and rate. Nothing where nobody looks.

use crate::units;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// `bytes` is counted by whoever reads; `rows` is what the estimate said.
    pub fn begin(name: &str, bytes: Arc<AtomicU64>, rows: Option<u64>, quiet: bool) -> Self {
        let visible = !quiet && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(rows.filter(|rows| *rows > 0), target);
        let amount = move |state: &ProgressState, out: &mut dyn Write| {
            let bytes = bytes.load(Ordering::Relaxed);
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a rate"
            )]
            let rate = (bytes as f64 / state.elapsed().as_secs_f64().max(0.001)) as u64;
            // A line that cannot be drawn is none.
            let _ = write!(out, "{}  {}/s", units::bytes(bytes), units::bytes(rate));
        };
        let shape = match rows {
            Some(_) => "{msg}  {wide_bar}  {human_pos}/{human_len} rows  {amount}",
            None => "{msg}  {spinner}  {human_pos} rows  {amount}",
        };
        if let Ok(style) = ProgressStyle::with_template(shape) {
            bar.set_style(style.with_key("amount", amount));
        }
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    pub fn rows(&self, rows: u64) {
        self.bar.set_position(rows);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
