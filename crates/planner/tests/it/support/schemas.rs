//! Four small sources: a web shop, regional sales in one table, a help desk, energy meters.

use domain::{Column, Dialect, FieldType, ForeignKey, SourceSchema, Table};
use planner::offline::{ColumnValues, Index};

pub struct Source {
    pub schema: SourceSchema,
    pub values: Vec<ColumnValues>,
}

impl Source {
    fn new(name: &str, dialect: Dialect) -> Self {
        let schema =
            SourceSchema { source: name.to_owned(), dialect, tables: Vec::new(), data_version: "1".to_owned() };
        Self { schema, values: Vec::new() }
    }

    pub fn index(&self) -> Index {
        Index::new(&self.schema, &self.values)
    }

    /// `columns` are `name:type`; a type `ref table` is an integer that points at `table.id`.
    fn table(mut self, name: &str, columns: &[&str]) -> Self {
        let mut table = Table { name: name.to_owned(), ..Table::default() };
        for spec in columns {
            let (column, kind) = spec.split_once(':').expect("name:type");
            if let Some(target) = kind.strip_prefix("ref ") {
                table.foreign_keys.push(ForeignKey {
                    columns: vec![column.to_owned()],
                    target: target.to_owned(),
                    target_columns: vec!["id".to_owned()],
                });
            }
            let kind = match kind {
                "string" => FieldType::String,
                "number" => FieldType::Number,
                "date" => FieldType::Date,
                "timestamp" => FieldType::Timestamp,
                "boolean" => FieldType::Boolean,
                _ => FieldType::Integer,
            };
            if column == "id" {
                table.primary_key.push(column.to_owned());
            }
            table.columns.push(Column::new(column, kind));
        }
        self.schema.tables.push(table);
        self
    }

    fn values(mut self, column: &str, values: &[&str], complete: bool) -> Self {
        let (table, column) = column.split_once('.').expect("table.column");
        let values = values.iter().map(|v| (*v).to_owned()).collect();
        self.values.push(ColumnValues {
            table: table.into(),
            column: column.into(),
            values,
            complete,
            ..Default::default()
        });
        self
    }

    fn range(mut self, column: &str, min: &str, max: &str) -> Self {
        let (table, column) = column.split_once('.').expect("table.column");
        let range = (Some(min.to_owned()), Some(max.to_owned()));
        self.values.push(ColumnValues {
            table: table.into(),
            column: column.into(),
            min: range.0,
            max: range.1,
            ..Default::default()
        });
        self
    }

    fn synonyms(mut self, column: &str, words: &[&str]) -> Self {
        let (table, column) = column.split_once('.').expect("table.column");
        let table = self.schema.tables.iter_mut().find(|t| t.name == table).expect("table");
        let words = words.iter().map(|w| (*w).to_owned());
        match table.columns.iter_mut().find(|c| c.name == column) {
            Some(column) => column.synonyms.extend(words),
            None => table.synonyms.extend(words),
        }
        self
    }
}

/// Text dates, as SQLite keeps them; revenue is only quantity × unit_price; a synonym that shares
/// its stem with a table.
pub fn shop() -> Source {
    Source::new("shop", Dialect::Sqlite)
        .table("customers", &["id:integer", "name:string", "email:string", "tier:string", "created_at:string"])
        .table("products", &["id:integer", "name:string", "category:string", "price:number"])
        .table("orders", &["id:integer", "customer_id:ref customers", "status:string", "created_at:string"])
        .table(
            "order_items",
            &["id:integer", "order_id:ref orders", "product_id:ref products", "quantity:integer", "unit_price:number"],
        )
        .values("customers.name", &["Ann Miller", "Bob Stone", "Cleo Park"], false)
        .values("customers.tier", &["free", "pro", "enterprise"], true)
        .values("products.name", &["Trail Lamp", "Desk Lamp", "Oak Chair", "Wool Rug"], true)
        .values("products.category", &["Lighting", "Furniture", "Textiles"], true)
        .values("orders.status", &["pending", "completed", "cancelled", "refunded"], true)
        .range("customers.created_at", "2022-01-03T10:00:00", "2025-05-10T09:00:00")
        .range("orders.created_at", "2023-01-01T08:00:00", "2025-05-13T18:00:00")
        .synonyms("orders.created_at", &["ordered", "placed"])
}

/// One wide table whose data ended long ago.
pub fn sales() -> Source {
    Source::new("sales", Dialect::DuckDb)
        .table(
            "sales",
            &[
                "sale_id:integer",
                "sale_date:date",
                "region:string",
                "product:string",
                "channel:string",
                "units:integer",
                "amount:number",
                "discount_pct:number",
            ],
        )
        .values("sales.region", &["North", "South", "East", "West"], true)
        .values("sales.product", &["Basic", "Plus", "Ultra"], true)
        .values("sales.channel", &["online", "retail", "partner"], true)
        .range("sales.sale_date", "2022-01-01", "2023-12-31")
        .synonyms("sales.discount_pct", &["rebate"])
}

/// Two moments in one table, a flag, a synonym from the contract.
pub fn support() -> Source {
    Source::new("support", Dialect::DuckDb)
        .table("agents", &["id:integer", "full_name:string", "team:string", "is_active:boolean"])
        .table(
            "tickets",
            &[
                "id:integer",
                "agent_id:ref agents",
                "subject:string",
                "priority:string",
                "status:string",
                "opened_at:timestamp",
                "closed_at:timestamp",
                "resolution_hours:number",
                "satisfaction:integer",
            ],
        )
        .values("agents.full_name", &["Dora Lind", "Emil Voss"], true)
        .values("agents.team", &["Billing", "Technical", "Onboarding"], true)
        .values("tickets.priority", &["low", "normal", "high", "urgent"], true)
        .values("tickets.status", &["open", "waiting", "closed"], true)
        .range("tickets.opened_at", "2024-01-01T00:00:00", "2025-05-13T23:00:00")
        .range("tickets.closed_at", "2024-01-02T00:00:00", "2025-05-13T23:00:00")
        .synonyms("tickets.satisfaction", &["csat", "happiness"])
        .synonyms("tickets.", &["request", "case"])
}

/// Measurements per site; two keys that point at the same table.
pub fn energy() -> Source {
    Source::new("energy", Dialect::DuckDb)
        .table("sites", &["id:integer", "site_name:string", "city:string", "capacityKw:number", "founded_year:integer"])
        .table(
            "readings",
            &["id:integer", "site_id:ref sites", "measured_at:timestamp", "consumption_kwh:number", "temp_c:number"],
        )
        .table("transfers", &["id:integer", "from_site_id:ref sites", "to_site_id:ref sites", "kwh:number"])
        .values("sites.site_name", &["Harbour", "Hilltop", "Old Mill"], true)
        .values("sites.city", &["Bergen", "Oslo", "Tromsø"], true)
        .range("sites.founded_year", "1988", "2019")
        .range("readings.measured_at", "2024-01-01T00:00:00", "2025-05-14T06:00:00")
}
