//! What a caller may read: contracts applied to a source.

use crate::contract::rows::RowFilter;
use crate::contract::{Contract, Field, Op, Role};
use crate::names::is_quotable;
use crate::policy::{Entry, Policy};
use domain::{Caller, Column, SourceSchema, Table};

/// One caller reading one source.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub policy: &'a Policy,
    pub caller: &'a Caller,
    pub source: &'a SourceSchema,
    pub deleted: Deleted,
}

/// Which rows that are marked as deleted are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// None.
    Hidden,
    /// All, for roles that the contract lets see them; for others none.
    ByRole,
    /// All: the image of a change shows the row that this very change has marked.
    Shown,
}

/// A resource as one caller may read it.
pub struct Readable<'a> {
    /// The canonical name: the contract's, or the table's own where there is no contract.
    pub name: &'a str,
    pub table: &'a Table,
    /// All contracts over this table that had a say; the first is the one that was named.
    pub contracts: Vec<&'a Contract>,
    pub fields: Vec<ReadableField<'a>>,
    pub rows: Vec<&'a RowFilter>,
    /// Leaves out what is marked as deleted.
    pub living: Vec<&'a RowFilter>,
}

pub struct ReadableField<'a> {
    pub name: &'a str,
    pub column: &'a Column,
    pub field: Option<&'a Field>,
}

impl Readable<'_> {
    /// Whether a row filter applies, which answers tell of.
    pub fn is_filtered(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether the table may have rows that this caller may not see, for whatever reason.
    pub fn hides_rows(&self) -> bool {
        self.is_filtered() || !self.living.is_empty()
    }

    pub fn field(&self, name: &str) -> Option<&ReadableField<'_>> {
        self.fields.iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }
}

/// What one contract says to one caller.
enum Say<'a> {
    /// This contract does not let the caller read.
    Nothing,
    /// It may read all fields and rows.
    All,
    /// It may read what its role's entry says.
    Role(&'a Role, Option<&'a RowFilter>),
    /// It may read as anybody may: without personal fields.
    Public,
}

impl<'a> Reader<'a> {
    /// The resource of that name, if it exists for this caller. Names are compared without case, as the engines do.
    pub fn resource(&self, name: &str) -> Option<Readable<'a>> {
        if let Some(entry) = self.policy.entry_for(self.caller, &self.source.source, name) {
            return self.under_contract(entry);
        }
        self.uncontracted().find(|table| table.name.eq_ignore_ascii_case(name)).map(without_contract)
    }

    /// Everything that this caller may read, contracts first, in a stable order.
    pub fn resources(&self) -> impl Iterator<Item = Readable<'a>> {
        let (reader, source) = (*self, &self.source.source);
        let contracted =
            self.policy.entries_for(self.caller, source).filter_map(move |entry| reader.under_contract(entry));
        contracted.chain(self.uncontracted().map(without_contract))
    }

    /// Whether nothing of the source is kept from this caller: all tables, all of their columns, all rows.
    pub fn sees_all(&self) -> bool {
        // Fields are different columns of their table: as many are all.
        let is_whole =
            |resource: &Readable<'a>| !resource.hides_rows() && resource.fields.len() == resource.table.columns.len();
        let whole: Vec<Readable<'a>> = self.resources().filter(is_whole).collect();
        self.source.tables.iter().all(|table| whole.iter().any(|resource| std::ptr::eq(resource.table, table)))
    }

    pub fn resource_names(&self) -> Vec<String> {
        self.resources().map(|r| r.name.to_owned()).collect()
    }

    /// Tables that no contract covers: admins alone see them, unless a resource has taken the name. What a caller was given
    /// before is theirs.
    fn uncontracted(&self) -> impl Iterator<Item = &'a Table> {
        let (policy, source) = (self.policy, self.source);
        let admin = self.caller.is_admin();
        let covered = move |table: &Table| {
            policy.entries_of(&source.source).any(|entry| {
                entry.contract.table.eq_ignore_ascii_case(&table.name)
                    || entry.contract.resource.eq_ignore_ascii_case(&table.name)
            })
        };
        source.tables.iter().filter(move |table| (admin || table.given) && is_quotable(&table.name) && !covered(table))
    }

    fn under_contract(&self, entry: &'a Entry) -> Option<Readable<'a>> {
        let contract = &entry.contract;
        let table = self.source.table(&contract.table).filter(|table| is_quotable(&table.name))?;
        if matches!(self.say(entry), Say::Nothing) {
            return None;
        }
        let mut readable = Readable {
            name: &contract.resource,
            table,
            contracts: vec![contract],
            fields: Vec::new(),
            rows: Vec::new(),
            living: Vec::new(),
        };
        let mut hidden: Vec<&str> = Vec::new();
        // Another contract over the same table binds as well: the stricter of both holds.
        let others = self
            .policy
            .entries_for(self.caller, &self.source.source)
            .filter(|other| !std::ptr::eq(*other, entry) && other.contract.table.eq_ignore_ascii_case(&contract.table));
        for entry in std::iter::once(entry).chain(others) {
            let say = self.say(entry);
            if let Some(living) = entry.living.as_ref().filter(|_| self.leaves_out_deleted(&say)) {
                if !living.fits(table) {
                    return None;
                }
                readable.living.push(living);
            }
            match say {
                Say::Nothing | Say::All => continue,
                // Rows that cannot be told apart any more are not shown at all.
                Say::Role(_, Some(rows)) if !rows.fits(table) => return None,
                Say::Role(role, rows) => {
                    hidden.extend(role.hide.iter().map(String::as_str));
                    readable.rows.extend(rows);
                }
                Say::Public => hidden.extend(entry.contract.fields.iter().filter(|f| f.pii).map(|f| f.name.as_str())),
            }
            if !std::ptr::eq(&entry.contract, contract) {
                readable.contracts.push(&entry.contract);
            }
        }
        let visible = contract.fields.iter().filter(|f| !hidden.iter().any(|h| h.eq_ignore_ascii_case(&f.name)));
        readable.fields = visible
            .filter_map(|field| {
                Some(ReadableField { name: &field.name, column: table.column(&field.name)?, field: Some(field) })
            })
            .filter(|f| is_quotable(&f.column.name))
            .collect();
        Some(readable)
    }

    fn leaves_out_deleted(&self, say: &Say<'_>) -> bool {
        match (self.deleted, say) {
            (Deleted::Shown, _) | (_, Say::Nothing) => false,
            (Deleted::ByRole, Say::Role(role, _)) => !role.deleted,
            (Deleted::ByRole | Deleted::Hidden, _) => true,
        }
    }

    fn say(&self, entry: &'a Entry) -> Say<'a> {
        let contract = &entry.contract;
        let role = contract.role_of(&self.caller.actor, &self.caller.role);
        match contract.roles.get(role) {
            Some(rules) if rules.ops.contains(&Op::Read) => Say::Role(rules, entry.rows.get(role)),
            Some(_) => Say::Nothing,
            None if role == Caller::ADMIN => Say::All,
            None if contract.public => Say::Public,
            None => Say::Nothing,
        }
    }
}

fn without_contract(table: &Table) -> Readable<'_> {
    let fields = table.columns.iter().filter(|c| is_quotable(&c.name));
    Readable {
        name: &table.name,
        table,
        contracts: Vec::new(),
        fields: fields.map(|column| ReadableField { name: &column.name, column, field: None }).collect(),
        rows: Vec::new(),
        living: Vec::new(),
    }
}
