//! What must not stand in `gatehouse.toml`: it comes from a variable or a file that the section names.

use super::Given;
use super::Section;
use toml::Table;

impl Section<'_> {
    /// The text of the variable that `{what}_env` names, or of the file of `{what}_file`.
    pub(super) fn secret(&mut self, table: &Table, what: &str) -> Option<String> {
        let (by_env, by_file) = (format!("{what}_env"), format!("{what}_file"));
        let variable = self.read(table, &by_env, |given: &Given| given.words().map(str::to_owned));
        let data = self.data;
        let file = self.read(table, &by_file, |given| given.path(data));
        let said = match (variable, file) {
            (Some(name), None) => {
                (self.env)(&name).ok_or_else(|| (by_env, format!("the variable `{name}` is not set")))
            }
            (None, Some(path)) => std::fs::read_to_string(&path)
                .map_err(|error| (by_file, format!("`{}` cannot be read: {error}", path.display()))),
            (Some(_), Some(_)) => Err((by_file, format!("stands beside `{by_env}`: one of them is enough"))),
            // What is wrong with one that is there has been said.
            (None, None) if table.contains_key(&by_env) || table.contains_key(&by_file) => return None,
            (None, None) => Err((by_env, format!("missing: name the variable, or say `{by_file}`"))),
        };
        match said.map(|text| text.trim().to_owned()) {
            Ok(text) => Some(text),
            Err((key, problem)) => {
                self.problem(&key, problem);
                None
            }
        }
    }
}
