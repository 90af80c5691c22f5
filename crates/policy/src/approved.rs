//! The only thing that engines run.

use crate::service::Service;
use crate::translate::escaped;
use domain::{Caller, ContractUse, Dialect, Limits, Op, Value, sha256_hex};

/// A proposal that policy has accepted for one caller, in its compiled form.
///
/// It can only be had from [`crate::Policy::check`]: its fields are private, and it is neither
/// constructible, cloneable nor deserialisable elsewhere. What waits for an approval is the
/// proposal, by its hash; when it runs, it is checked again.
///
/// **Rows and truncation.** The statement's own LIMIT is at most `limits().rows + 1`. An engine reads
/// all rows; if there are more than `limits().rows`, it drops the last and says `truncated`.
#[derive(Debug)]
pub struct Approved {
    /// For whom: engines with row-level security of their own are told.
    pub(crate) caller: Caller,
    pub(crate) source: String,
    pub(crate) dialect: Dialect,
    pub(crate) sql: String,
    pub(crate) params: Vec<Value>,
    pub(crate) limits: Limits,
    pub(crate) contracts: Vec<ContractUse>,
    pub(crate) filtered_by: Vec<String>,
    pub(crate) hides_rows: bool,
    pub(crate) sees_all: bool,
    pub(crate) tables: Vec<String>,
    pub(crate) proposal_hash: String,
    pub(crate) personal: bool,
    pub(crate) labels: Vec<Option<String>>,
    pub(crate) change: Option<Box<Change>>,
    /// With the path of one row, as its contract writes it.
    pub(crate) service: Option<Box<(Service, String)>>,
}

/// The statements of one write, which run in one transaction and in this order.
#[derive(Debug)]
pub struct Change {
    pub(crate) op: Op,
    pub(crate) table: String,
    pub(crate) columns: Vec<String>,
    pub(crate) key: usize,
    pub(crate) lock: Option<Statement>,
    pub(crate) references: Vec<Statement>,
    pub(crate) twin: Option<Statement>,
    pub(crate) before: Option<Statement>,
    pub(crate) write: Statement,
    pub(crate) image: Statement,
    pub(crate) versioned: bool,
    pub(crate) fields: Vec<String>,
}

/// One statement and the values of its placeholders.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub(crate) sql: String,
    pub(crate) params: Vec<Value>,
    pub(crate) open: usize,
}

impl Change {
    pub fn op(&self) -> Op {
        self.op
    }
    /// The one table that is written.
    pub fn table(&self) -> &str {
        &self.table
    }
    /// The columns that are set.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }
    /// How many fields tell its rows apart.
    pub fn key(&self) -> usize {
        self.key
    }
    /// Where an engine has more than one writer: what keeps others away until the end, from the row or from its natural key.
    /// Where it holds a row and finds none, there is none to change.
    pub fn lock(&self) -> Option<&Statement> {
        self.lock.as_ref()
    }
    /// Rows that the new values name, each as this caller may read it. One that gives nothing is not there for it, whatever
    /// the source's own constraint would say.
    pub fn references(&self) -> &[Statement] {
        &self.references
    }
    /// INSERT with a natural key: the row that has it, as its key and whether it is the one that is to be inserted. If it
    /// is, nothing is written; if it is not, the change is a conflict.
    pub fn twin(&self) -> Option<&Statement> {
        self.twin.as_ref()
    }
    /// UPDATE: the row, if it exists for this caller. Without it nothing is written.
    pub fn before(&self) -> Option<&Statement> {
        self.before.as_ref()
    }
    /// Writes one row and gives its key. More than one is undone.
    pub fn write(&self) -> &Statement {
        &self.write
    }
    /// The row afterwards, as its writer may read it: its first [`Change::key`] parameters are the key. Where it gives
    /// nothing, the row would have left what its writer may see, and the write is undone.
    pub fn image(&self) -> &Statement {
        &self.image
    }
    /// The fields that its writer may know of: an error names no other.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }
    /// Whether a write that finds nothing has come too late: the row is there, in another version.
    pub fn is_versioned(&self) -> bool {
        self.versioned
    }
}

impl Statement {
    pub fn sql(&self) -> &str {
        &self.sql
    }
    pub fn params(&self) -> &[Value] {
        &self.params
    }
    /// How many of them, from the first, take the type of the column that they stand beside. The others have their own.
    pub fn open(&self) -> usize {
        self.open
    }
}

impl Approved {
    /// The role that it was approved for. A worker serves one role at a time.
    pub fn role(&self) -> &str {
        &self.caller.role
    }
    /// Whom it was approved for: actor, role and claims.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }
    pub fn source(&self) -> &str {
        &self.source
    }
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
    /// One read-only statement, or what a [`Change`] writes. Tables are named as `"main"."table"`, in Postgres by their
    /// own schema.
    pub fn sql(&self) -> &str {
        &self.sql
    }
    /// The values of `$1 …` (`?1 …` in SQLite), in order.
    pub fn params(&self) -> &[Value] {
        &self.params
    }
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
    /// The contracts that had a say.
    pub fn contracts(&self) -> &[ContractUse] {
        &self.contracts
    }
    /// Resources of which only some rows are shown.
    pub fn filtered_by(&self) -> &[String] {
        &self.filtered_by
    }
    /// Whether a table that it reads may have rows that its caller may not see: filtered ones, or such as are marked as
    /// deleted. Nothing that an engine knows of whole tables is told then.
    pub fn hides_rows(&self) -> bool {
        self.hides_rows
    }
    /// Whether its caller may see all of the source. To others nothing may be told that depends on the rest of it, such as
    /// the state of its files.
    pub fn sees_all(&self) -> bool {
        self.sees_all
    }
    /// The physical tables that it reads.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }
    /// Whether personal fields may be among what it reads: their values reach no model.
    pub fn is_personal(&self) -> bool {
        self.personal
    }
    /// The fields that its columns are, by place, where a model wrote it; none for an expression.
    pub fn labels(&self) -> &[Option<String>] {
        &self.labels
    }
    /// The statements of a write. Whatever only reads has none.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_deref()
    }
    /// What is asked of a service, where the resource is one's: its statements run over what that gives.
    pub fn service(&self) -> Option<&Service> {
        self.service.as_ref().map(|service| &service.0)
    }
    pub fn proposal_hash(&self) -> &str {
        &self.proposal_hash
    }
    /// The identity of what runs: source, statement and bound values, claims included; and the caller, where the engine
    /// itself decides by caller which rows there are.
    pub fn fingerprint(&self) -> String {
        let params = serde_json::to_string(&self.params).unwrap_or_default();
        let Caller { actor, role, claims, .. } = &self.caller;
        let whose = self.dialect.varies_by_caller().then(|| format!("{actor}\0{role}\0{claims:?}"));
        sha256_hex([self.source.as_str(), &self.sql, &params, &whose.unwrap_or_default()].join("\0").as_bytes())
    }
    /// All that runs and its values, in the order of running, for the record: a change whose guards differ is another one.
    /// The key of a change's image is not known yet.
    pub fn account(&self) -> (String, Vec<Value>) {
        let requests = self.service.as_ref().map(|service| service.0.outline(&service.1));
        let Some(change) = &self.change else {
            let text = requests.into_iter().chain([self.sql.clone()]).collect::<Vec<_>>().join(";\n");
            return (text, self.params.clone());
        };
        let all = || change.twin.iter().chain(&change.before).chain([&change.write, &change.image]);
        let text = requests.into_iter().chain(all().map(|s| s.sql.clone())).collect::<Vec<_>>().join(";\n");
        (text, all().flat_map(Statement::params).cloned().collect())
    }
    /// The statement with its values written into it, for people to read and run elsewhere. Engines
    /// never run it.
    pub fn sql_with_values(&self) -> String {
        with_values(&self.sql, &self.params)
    }
}

/// A statement with its values in the place of their placeholders.
pub(crate) fn with_values(sql: &str, params: &[Value]) -> String {
    let mut shown = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(['\'', '"', '`', '$', '?', '@']) {
        let (before, here) = rest.split_at(at);
        shown.push_str(before);
        let (mark, after) = here.split_at(1);
        let taken = match mark {
            // A quote doubled inside ends one quoted part and begins another: the same in effect.
            "'" | "\"" | "`" => after.find(mark).map_or(here.len(), |end| end + 2),
            "@" if after.starts_with('p') => 2 + after.bytes().skip(1).take_while(u8::is_ascii_digit).count(),
            _ => 1 + after.bytes().take_while(u8::is_ascii_digit).count(),
        };
        let (part, remaining) = here.split_at(taken);
        let named = part.strip_prefix("@p");
        let number =
            named.unwrap_or(part.trim_start_matches(mark)).parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        match number.and_then(|i| params.get(i)).filter(|_| mark == "$" || mark == "?" || named.is_some()) {
            Some(Value::Text(text)) if named.is_some() => shown.push_str(&escaped(text)),
            Some(value) => shown.push_str(&literal(value)),
            None => shown.push_str(part),
        }
        rest = remaining;
    }
    shown.push_str(rest);
    shown
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(b) => b.to_string().to_uppercase(),
        Value::Int(i) => i.to_string(),
        Value::Float(f) => f.to_string(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
    }
}
