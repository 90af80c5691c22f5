//! Each stage by itself, over one small company.

mod binding;
mod decision;
mod focus;
mod grammar;
mod joins;
mod lexicon;
mod nesting;
mod scoring;
mod spans;
mod values;

use super::bind::bind;
use super::catalog::{ColumnId, TableId};
use super::decide::{Read, read};
use super::draft::Draft;
use super::query::{Query, Trouble};
use super::text::tokenise;
use super::{ColumnValues, Context, Index, Planned, plan};
use domain::{Column, Dialect, FieldType, ForeignKey, SourceSchema, Table};
use jiff::civil::{Date, date};

const TODAY: Date = date(2025, 5, 14);

/// `columns` are `name:type`; `>table` is a number that points at that table's `id`.
fn table(name: &str, columns: &[&str]) -> Table {
    let mut table = Table { name: name.to_owned(), primary_key: vec!["id".to_owned()], ..Table::default() };
    for spec in columns {
        let (column, kind) = spec.split_once(':').unwrap();
        if let Some(target) = kind.strip_prefix('>') {
            let (columns, target_columns) = (vec![column.to_owned()], vec!["id".to_owned()]);
            table.foreign_keys.push(ForeignKey { columns, target: target.to_owned(), target_columns });
        }
        let kind = match kind {
            "text" => FieldType::String,
            "number" => FieldType::Number,
            "date" => FieldType::Date,
            "flag" => FieldType::Boolean,
            _ => FieldType::Integer,
        };
        table.columns.push(Column::new(column, kind));
    }
    table
}

fn values(column: &str, values: &[&str], complete: bool) -> ColumnValues {
    let (table, column) = column.split_once('.').unwrap();
    let values = values.iter().map(|v| (*v).to_owned()).collect();
    ColumnValues { table: table.into(), column: column.into(), values, complete, ..ColumnValues::default() }
}

fn company() -> Index {
    let mut tables = vec![
        table("customers", &["id:key", "name:text", "tier:text", "signup_date:date"]),
        table("products", &["id:key", "name:text", "category:text", "unitPrice:number"]),
        table(
            "orders",
            &["id:key", "customer_id:>customers", "seller_id:>employees", "status:text", "order_date:date"],
        ),
        table("order_lines", &["id:key", "order_id:>orders", "product_id:>products", "qty:int", "amount:number"]),
        table("employees", &["id:key", "name:text", "manager_id:>employees", "salary:number", "is_remote:flag"]),
        table("weather", &["id:key", "day:date", "rainfall:number"]),
    ];
    tables[0].columns[2].synonyms.push("plan".to_owned());
    let schema =
        SourceSchema { source: "company".to_owned(), dialect: Dialect::DuckDb, tables, data_version: "1".to_owned() };
    let mut known = vec![
        values("customers.name", &["Ann Miller", "Bob Stone", "Ann Park"], true),
        values("customers.tier", &["free", "pro", "enterprise"], true),
        values("products.name", &["Desk Lamp", "Trail Lamp", "Oak Chair"], true),
        values("products.category", &["Lighting", "Furniture"], true),
        values("orders.status", &["open", "completed", "cancelled"], true),
        values("employees.name", &["Dora Lind", "Emil Voss"], false),
    ];
    let range = |column: &str, min: &str, max: &str| ColumnValues {
        min: Some(min.to_owned()),
        max: Some(max.to_owned()),
        ..values(column, &[], false)
    };
    known.push(range("orders.order_date", "2023-01-01", "2025-05-13"));
    known.push(range("customers.signup_date", "2022-01-01", "2025-05-10"));
    Index::new(&schema, &known)
}

/// People with somebody above them, by a key that says what they do.
fn staff() -> Index {
    let tables = vec![table("staff", &["id:key", "name:text", "reports_to:>staff", "city:text"])];
    let schema =
        SourceSchema { source: "staff".to_owned(), dialect: Dialect::Sqlite, tables, data_version: "1".to_owned() };
    Index::new(&schema, &[values("staff.name", &["Dora Lind", "Emil Voss"], true)])
}

impl Index {
    fn table(&self, name: &str) -> TableId {
        self.catalog.table_named(name).unwrap()
    }

    /// A column by `table.column`.
    fn column(&self, name: &str) -> ColumnId {
        let (table, column) = name.split_once('.').unwrap();
        self.catalog.column_named(self.table(table), column).unwrap()
    }

    fn name_of(&self, column: ColumnId) -> String {
        let info = self.catalog.column(column);
        format!("{}.{}", self.catalog.table(info.table).name, info.name)
    }

    fn read(&self, question: &str) -> Read {
        read(self, &tokenise(question))
    }

    fn draft(&self, question: &str) -> Draft {
        self.read(question).draft
    }

    fn bound(&self, question: &str) -> Result<Query, Trouble> {
        bind(self, &self.draft(question), TODAY, &[])
    }

    fn planned(&self, question: &str) -> Planned {
        plan(self, question, &Context { history: &[], today: TODAY })
    }
}

/// One index serves all requests of a caller's role.
#[test]
fn an_index_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Index>();
}
