//! A hash of what a result says: the same rows give the same hash, in whatever batches they come.

use crate::problem::{Problem, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{DataType, Schema};
use md5::{Digest, Md5};

/// Each column is hashed for itself, so that plain ones can be hashed as they lie in memory.
pub struct Fingerprint {
    columns: Vec<Column>,
    rows: u64,
}

/// What says everything about a column, however it is cut into pieces.
struct Column {
    values: Md5,
    /// How long each value is, where they differ in length.
    lengths: Md5,
    /// The places of NULLs.
    nulls: Md5,
    /// For what does not lie in memory as it reads: lists, structs, dictionaries, views.
    rows: Option<RowConverter>,
}

impl Fingerprint {
    pub fn new(schema: &Schema) -> Result<Self> {
        let columns = schema.fields().iter().map(|field| Column::new(field.data_type())).collect::<Result<_>>()?;
        Ok(Self { columns, rows: 0 })
    }

    pub fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            column.add(array, self.rows)?;
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Over names, types, the number of rows and all columns.
    pub fn finish(self, schema: &Schema) -> String {
        let mut all = Md5::new();
        all.update(self.rows.to_le_bytes());
        for (field, column) in schema.fields().iter().zip(self.columns) {
            all.update(format!("{}\0{}\0", field.name(), field.data_type()));
            for part in [column.values, column.lengths, column.nulls] {
                all.update(part.finalize());
            }
        }
        hex::encode(all.finalize())
    }
}

impl Column {
    fn new(kind: &DataType) -> Result<Self> {
        let plain = kind.primitive_width().is_some() || matches!(kind, DataType::Utf8 | DataType::Binary);
        let rows = (!plain).then(|| RowConverter::new(vec![SortField::new(kind.clone())])).transpose();
        let rows = rows.map_err(|error| Problem::unexpected("a column cannot be hashed", error))?;
        Ok(Self { values: Md5::new(), lengths: Md5::new(), nulls: Md5::new(), rows })
    }

    /// `before` is the number of rows that came before this array.
    fn add(&mut self, array: &ArrayRef, before: u64) -> Result<()> {
        if let Some(converter) = &self.rows {
            let rows = converter.convert_columns(std::slice::from_ref(array));
            let rows = rows.map_err(|error| Problem::unexpected("a column cannot be hashed", error))?;
            for row in &rows {
                self.lengths.update((row.as_ref().len() as u64).to_le_bytes());
                self.values.update(row.as_ref());
            }
            return Ok(());
        }
        if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
            for row in 0..array.len() {
                if nulls.is_null(row) {
                    self.nulls.update((before + row as u64).to_le_bytes());
                }
            }
        }
        match array.data_type() {
            DataType::Utf8 => {
                let array = array.as_string::<i32>();
                self.texts(array.value_offsets(), array.value_data(), array);
            }
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                self.texts(array.value_offsets(), array.value_data(), array);
            }
            _ => self.fixed(array.as_ref()),
        }
        Ok(())
    }

    /// Values of one length. What lies under a NULL means nothing and is left out.
    fn fixed(&mut self, array: &dyn Array) {
        let data = array.to_data();
        let width = array.data_type().primitive_width().unwrap_or(1);
        let bytes = data.buffers().first().map(|b| b.as_slice()).unwrap_or_default();
        let start = data.offset() * width;
        let values = bytes.get(start..start + array.len() * width).unwrap_or_default();
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => self.values.update(values),
            Some(nulls) => {
                for (row, value) in values.chunks_exact(width).enumerate() {
                    if nulls.is_valid(row) {
                        self.values.update(value);
                    }
                }
            }
        }
    }

    fn texts(&mut self, offsets: &[i32], data: &[u8], array: &dyn Array) {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let place = |offset: i32| usize::try_from(offset).unwrap_or_default();
        let mut lengths = Vec::with_capacity(offsets.len() * 4);
        for (row, ends) in offsets.windows(2).enumerate() {
            if let [start, end] = ends
                && nulls.is_none_or(|nulls| nulls.is_valid(row))
            {
                lengths.extend_from_slice(&(end - start).to_le_bytes());
                if nulls.is_some() {
                    self.values.update(data.get(place(*start)..place(*end)).unwrap_or_default());
                }
            }
        }
        self.lengths.update(lengths);
        if let (None, Some(first), Some(last)) = (nulls, offsets.first(), offsets.last()) {
            self.values.update(data.get(place(*first)..place(*last)).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BooleanArray, Int64Array, ListArray, StringArray, types::Int32Type};
    use proptest::prelude::*;
    use std::sync::Arc;

    type Row = (Option<i64>, Option<String>, Option<bool>, Option<Vec<Option<i32>>>);

    fn batch(rows: &[Row]) -> RecordBatch {
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>(rows.iter().map(|row| row.3.clone()));
        RecordBatch::try_from_iter([
            ("n", Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()) as ArrayRef),
            ("s", Arc::new(rows.iter().map(|row| row.1.clone()).collect::<StringArray>())),
            ("b", Arc::new(rows.iter().map(|row| row.2).collect::<BooleanArray>())),
            ("l", Arc::new(list)),
        ])
        .unwrap()
    }

    fn hash(batches: &[RecordBatch]) -> String {
        let schema = batches[0].schema();
        let mut print = Fingerprint::new(&schema).unwrap();
        batches.iter().for_each(|batch| print.add(batch).unwrap());
        print.finish(&schema)
    }

    fn row() -> impl Strategy<Value = Row> {
        let list = prop::option::of(prop::collection::vec(prop::option::of(any::<i32>()), 0..3));
        (any::<Option<i64>>(), prop::option::of("[a-c]{0,3}"), any::<Option<bool>>(), list)
    }

    proptest! {
        /// Cut anywhere, also in the middle of a batch that is a slice of another.
        #[test]
        fn batches_do_not_matter_and_values_do(
            rows in prop::collection::vec(row(), 1..20), at in 0usize..20, other in row(), place in 0usize..20,
        ) {
            let whole = batch(&rows);
            let (at, place) = (at % (rows.len() + 1), place % rows.len());
            let cut = [whole.slice(0, at), whole.slice(at, rows.len() - at)];
            prop_assert_eq!(hash(std::slice::from_ref(&whole)), hash(&cut));
            let mut changed = rows.clone();
            changed[place] = other.clone();
            prop_assert_eq!(hash(&[whole]) == hash(&[batch(&changed)]), rows[place] == other);
        }
    }
}
