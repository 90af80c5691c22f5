//! Columns of text, each text of a batch sent once.

use arrow_array::RecordBatch;
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

pub struct Dictionaries {
    schema: SchemaRef,
}

impl Dictionaries {
    /// For all texts of a result but those within lists and structs.
    pub fn of(schema: &SchemaRef) -> Self {
        let field = |field: &Arc<Field>| match field.data_type() {
            DataType::Utf8 => {
                let numbered = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
                Arc::new(field.as_ref().clone().with_data_type(numbered))
            }
            _ => field.clone(),
        };
        let fields: Vec<_> = schema.fields().iter().map(field).collect();
        Self { schema: Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())) }
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub fn encode(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
            true => Ok(column.clone()),
            false => cast(column, field.data_type()),
        });
        RecordBatch::try_new(self.schema.clone(), columns.collect::<Result<_, _>>()?)
    }
}
