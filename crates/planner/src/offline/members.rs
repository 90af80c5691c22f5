//! Fields inside structs, as columns of their own: `building.heating`.

use domain::{Column, FieldType, Shape, SourceSchema, Table};
use std::borrow::Cow;

/// The schema with the members of its structs behind the columns of each table.
pub(crate) fn written_out(schema: &SourceSchema) -> Cow<'_, SourceSchema> {
    if !schema.tables.iter().flat_map(|t| &t.columns).any(|c| c.kind == FieldType::Struct) {
        return Cow::Borrowed(schema);
    }
    let mut schema = schema.clone();
    for table in &mut schema.tables {
        let members: Vec<Column> = table.columns.iter().flat_map(|c| members(table, c)).collect();
        table.columns.extend(members);
    }
    Cow::Owned(schema)
}

/// Values that can be compared; what a plan could not name is left out.
fn members(table: &Table, column: &Column) -> Vec<Column> {
    let Shape::Struct(fields) = Shape::of(column) else { return Vec::new() };
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (name, shape) in fields {
        let path = format!("{}.{name}", column.name);
        if let Shape::Scalar(kind) = shape
            && name.chars().all(plain)
            && table.column(&path).is_none()
        {
            found.push(Column { nullable: true, pii: column.pii, ..Column::new(path, kind) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Dialect;

    #[test]
    fn members_of_structs_become_columns() {
        let mut building = Column::new("building", FieldType::Struct);
        building.native = "STRUCT(built INTEGER, heating VARCHAR, tags VARCHAR[], \"a b\" DATE)".to_owned();
        let sites = Table { name: "sites".to_owned(), columns: vec![building], ..Table::default() };
        let schema = SourceSchema {
            source: "energy".to_owned(),
            dialect: Dialect::DuckDb,
            tables: vec![sites],
            data_version: String::new(),
        };
        let written = written_out(&schema);
        let named: Vec<(&str, FieldType)> =
            written.tables[0].columns.iter().map(|c| (c.name.as_str(), c.kind)).collect();
        assert_eq!(
            named,
            [
                ("building", FieldType::Struct),
                ("building.built", FieldType::Integer),
                ("building.heating", FieldType::String)
            ]
        );
    }
}
