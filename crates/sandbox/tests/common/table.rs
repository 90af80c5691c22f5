//! The table `abuse.cases`.

use serde_json::Value;

/// All of its lines.
pub fn lines() -> Vec<Line<'static>> {
    read(include_str!("../abuse.cases"))
}

/// The same cases in T1 under the profile of scripts: what `script.cases` says of a case takes the place of its line here.
pub fn script_lines() -> Vec<Line<'static>> {
    let own = read(include_str!("../script.cases"));
    let mut all = lines();
    let known = |case: &str| all.iter().any(|line| line.case == case);
    assert!(own.iter().all(|line| known(line.case)), "`script.cases` has a case that `abuse.cases` lacks");
    all.retain(|line| line.tier.is_none_or(|tier| tier == "T1") && !own.iter().any(|own| own.case == line.case));
    all.extend(own);
    all
}

fn read(table: &'static str) -> Vec<Line<'static>> {
    table.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(parse).collect()
}

/// EPERM and EACCES.
const REFUSED: [&str; 2] = ["(os error 1)", "(os error 13)"];

/// One line of the table.
pub struct Line<'a> {
    pub case: &'a str,
    pub expectation: &'a str,
    unless: Option<&'a str>,
    pub tier: Option<&'a str>,
}

fn parse(line: &str) -> Line<'_> {
    let (case, rest) = line.split_once(char::is_whitespace).unwrap();
    let (rest, tier) = rest.split_once(" in ").map_or((rest, None), |(rest, tier)| (rest, Some(tier)));
    let (rest, unless) = rest.split_once(" unless ").map_or((rest, None), |(rest, limit)| (rest, Some(limit)));
    Line { case, expectation: rest.trim(), unless, tier }
}

impl Line<'_> {
    pub fn applies(&self, report: &Value) -> bool {
        let unenforced = report["unenforced"].as_array().unwrap();
        self.tier.is_none_or(|tier| report["tier"] == tier)
            && self.unless.is_none_or(|limit| !unenforced.contains(&Value::from(limit)))
    }

    /// What it said, and how its worker ended.
    pub fn holds(&self, said: &str, ended: &Value) -> bool {
        let failed = |errors: &[&str]| said.starts_with("refused: ") && errors.iter().any(|e| said.contains(e));
        match self.expectation {
            "refused" => return failed(&REFUSED),
            "gets nothing" => return !said.starts_with("allowed: "),
            "works" => return said.starts_with("allowed: "),
            "out of reach" => return failed(&REFUSED) || failed(&["(os error 2)", "(os error 18)", "(os error 30)"]),
            _ => {}
        }
        if let Some(text) = self.expectation.strip_prefix("fails with ") {
            return failed(&[text]);
        }
        if let Some(text) = self.expectation.strip_prefix("allowed ") {
            return said.strip_prefix("allowed: ") == Some(text);
        }
        if let Some(most) = self.expectation.strip_prefix("at most ") {
            let got: Option<u64> = said.strip_prefix("allowed: ").and_then(|n| n.parse().ok());
            return said.starts_with("refused: ") || got.is_some_and(|got| got <= most.parse().unwrap());
        }
        if let Some(expected) = self.expectation.strip_prefix("died ") {
            return ended == expected;
        }
        panic!("no such expectation: {}", self.expectation)
    }
}
