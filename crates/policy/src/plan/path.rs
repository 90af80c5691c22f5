//! Where in a plan the compiler is, so that a refusal can say it: `plan.select[0].expr.aggregate.of`.

use super::compile::Compiler;
use domain::Fault;

#[derive(Debug, Clone, Copy)]
pub enum Step {
    Key(&'static str),
    Item(usize),
}

impl Compiler<'_> {
    /// Works on a part of the plan. After a refusal the path stays at the part that was refused.
    pub(super) fn part<T>(
        &mut self,
        steps: &[Step],
        work: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let before = self.path.len();
        self.path.extend_from_slice(steps);
        let result = work(self)?;
        self.path.truncate(before);
        Ok(result)
    }

    /// Works on the value of a key.
    pub(super) fn key<T>(
        &mut self,
        key: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.part(&[Step::Key(key)], work)
    }

    /// Works on the value of a key inside that of another.
    pub(super) fn inside<T>(
        &mut self,
        outer: &'static str,
        key: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.part(&[Step::Key(outer), Step::Key(key)], work)
    }

    /// Works on each item of a list.
    pub(super) fn each<I, T>(
        &mut self,
        key: &'static str,
        items: &[I],
        mut work: impl FnMut(&mut Self, &I) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let items = items.iter().enumerate();
        items.map(|(i, item)| self.part(&[Step::Key(key), Step::Item(i)], |c| work(c, item))).collect()
    }

    /// The refusal, with the part of the plan in front.
    pub(super) fn located(&self, fault: Fault) -> Fault {
        let mut place = String::from("plan");
        for step in &self.path {
            match step {
                Step::Key(key) => place.push_str(&format!(".{key}")),
                Step::Item(i) => place.push_str(&format!("[{i}]")),
            }
        }
        Fault { message: format!("`{place}`: {}", fault.message), ..fault }
    }
}
