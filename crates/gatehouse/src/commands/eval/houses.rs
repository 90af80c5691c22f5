//! Where the questions are asked. Each source is opened once.

use super::question::Question;
use crate::cli::Eval;
use crate::commands::local::{Scratch, file_source};
use crate::commands::{flags, load};
use crate::print::Problem;
use domain::{Caller, Door};
use gateway::House;
use gateway::config::{Config, Flags, PlannerChoice};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// So many rows of an answer are compared.
const MOST_ROWS: u64 = 100_000;

pub struct Houses<'a> {
    eval: &'a Eval,
    caller: &'a Caller,
    /// The settings of the data directory, with the planner that is evaluated.
    config: Config,
    scratch: Arc<House>,
    open: HashMap<String, Arc<House>>,
    /// Datasets whose values the offline planner knows.
    read: HashSet<String>,
    // Removed after the houses that stand in it.
    _dir: Scratch,
}

impl<'a> Houses<'a> {
    pub fn new(eval: &'a Eval, caller: &'a Caller) -> Result<Self, Problem> {
        let mut config = load(&Flags { planner: Some(eval.planner.clone()), ..flags(&eval.data) })?.0;
        config.limits.rows = MOST_ROWS;
        let dir = Scratch::new()?;
        // Files are asked about in a house of their own, by the same planner.
        let mut apart = dir.config()?;
        (apart.planner, apart.model, apart.limits) = (config.planner, config.model.clone(), config.limits);
        let scratch = House::open(apart)?;
        scratch.planning.check()?;
        Ok(Self { eval, caller, config, scratch, open: HashMap::new(), read: HashSet::new(), _dir: dir })
    }

    /// As runs record it.
    pub fn planner(&self) -> &'static str {
        self.scratch.planning.name()
    }

    /// The house for a question, and the name of its dataset in it.
    pub async fn of(&mut self, question: &Question) -> Result<(Arc<House>, String), Problem> {
        let beside = |db: &String| self.eval.questions.with_file_name(db).to_string_lossy().into_owned();
        let name = question.db.as_ref().map(beside).or(question.dataset.clone()).or(self.eval.source.clone());
        let Some(name) = name else {
            let hint = "give `--source`, or name its `dataset` or `db`";
            return Err(Problem::usage(format!("question {} has no source", question.id), hint));
        };
        let house = self.house(&name)?;
        if self.planner() == "offline" && self.read.insert(name.clone()) {
            house.read_all_values(self.caller, Door::Local, &name).await?;
        }
        Ok((house, name))
    }

    fn house(&mut self, name: &str) -> Result<Arc<House>, Problem> {
        let is_file = Path::new(name).is_file();
        let key = if is_file { name } else { "" };
        if let Some(house) = self.open.get(key) {
            return Ok(house.clone());
        }
        let house = match is_file {
            true if self.config.planner == PlannerChoice::ClaudeCode => return Err(unseen(name)),
            true => self.scratch.over(file_source(name))?,
            false if self.eval.data.data.is_dir() => House::open(self.config.clone())?,
            false => {
                let hint = "a source is a file, or a dataset of the `--data` directory";
                return Err(Problem::usage(format!("there is no file `{name}`"), hint));
            }
        };
        self.open.insert(key.to_owned(), house.clone());
        Ok(house)
    }
}

/// The agent CLI starts its tools in a process of their own, which knows what configuration names and nothing else.
fn unseen(file: &str) -> Problem {
    let hint = "make it a dataset of the `--data` directory, and name that";
    Problem::usage(format!("the planner `claude-code` does not see the file `{file}`"), hint)
}
