//! What leaves the worker depends on the rows of the result and on nothing else.

use super::{Sink, Wanted, clean, columns_of, write_stream};
use crate::protocol::Query;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};
use domain::ResultColumn;
use proptest::prelude::*;
use std::slice::from_ref;
use std::sync::Arc;

/// Rows of each kind of column. What stands behind a NULL is `stale`.
fn rows(values: &[Option<i64>], stale: i64) -> RecordBatch {
    let nulls = || Some(NullBuffer::from_iter(values.iter().map(Option::is_some)));
    let numbers = Int64Array::new(values.iter().map(|v| v.unwrap_or(stale)).collect(), nulls());
    let flags = BooleanArray::new(values.iter().map(|v| v.unwrap_or(stale) % 2 == 0).collect(), nulls());
    let texts: StringArray = values.iter().map(|v| v.map(|n| "x".repeat(n.unsigned_abs() as usize % 40))).collect();
    // Behind a NULL of the struct stands a number that is none.
    let inner = Int64Array::from_iter_values(values.iter().map(|v| v.unwrap_or(stale)));
    let field = Arc::new(Field::new("n", DataType::Int64, true));
    let structs = StructArray::new(vec![field].into(), vec![Arc::new(inner) as ArrayRef], nulls());
    let columns: [(&str, ArrayRef); 4] =
        [("n", Arc::new(numbers)), ("b", Arc::new(flags)), ("t", Arc::new(texts)), ("s", Arc::new(structs))];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
}

impl Sink for Vec<u8> {
    fn columns(&mut self, _: &[ResultColumn]) -> std::io::Result<()> {
        Ok(())
    }
}

/// The stream that these batches become, with rows and truncation.
fn sent(batches: &[RecordBatch], most_rows: u64, most_bytes: u64) -> (Vec<u8>, u64, bool) {
    let mut out = Vec::new();
    let schema = batches[0].schema();
    let query = Query { rows: most_rows, bytes: most_bytes, ..Query::default() };
    let wanted = Wanted { columns: columns_of(&schema), schema, query: &query };
    let queried = write_stream(wanted, batches.iter().cloned().map(Ok), &mut out).unwrap();
    (out, queried.row_count, queried.truncated)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batches_and_stale_memory_do_not_show(
        values in prop::collection::vec(prop::option::of(-100i64..100), 1..300),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        (most_rows, most_bytes) in (0u64..350, 1u64..20_000),
        (stale, other) in (any::<i64>(), any::<i64>()),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|c| c.index(values.len())).chain([0, values.len()]).collect();
        cuts.sort_unstable();
        let whole = rows(&values, stale);
        let pieces: Vec<_> = cuts.windows(2).map(|w| rows(&values, other).slice(w[0], w[1] - w[0])).collect();
        prop_assert_eq!(sent(from_ref(&whole), 1_000, 1_000_000), sent(&pieces, 1_000, 1_000_000));
        prop_assert_eq!(sent(from_ref(&whole), most_rows, most_bytes), sent(&pieces, most_rows, most_bytes));
    }
}

#[test]
fn cleaning_changes_no_value() {
    let batch = rows(&[Some(1), None, Some(-3), None], 99);
    assert_eq!(clean::batch(&batch).unwrap(), batch);
    assert_eq!(clean::batch(&batch.slice(1, 2)).unwrap(), batch.slice(1, 2));
}

#[test]
fn caps_hold() {
    let batch = rows(&vec![Some(39); 1_000], 0);
    let (_, count, truncated) = sent(from_ref(&batch), 10, 1_000_000);
    assert_eq!((count, truncated), (10, true));
    let (_, count, truncated) = sent(from_ref(&batch), 1_000, 1_000_000);
    assert_eq!((count, truncated), (1_000, false));
    let (bytes, count, truncated) = sent(from_ref(&batch), 1_000, 10_000);
    assert!(truncated && (100..200).contains(&count) && bytes.len() < 20_000, "{count} rows, {} bytes", bytes.len());
    assert_eq!(sent(from_ref(&batch), 1_000, 1).1, 1, "an answer has at least one row");
}

#[test]
fn long_rows_come_in_batches_that_can_be_held() {
    let text = "x".repeat(8 * 1024);
    let column: ArrayRef = Arc::new(StringArray::from(vec![text.as_str(); 5_000]));
    let whole = RecordBatch::try_from_iter([("t", column)]).unwrap();
    let pieces: Vec<_> = (0..5).map(|i| whole.slice(i * 1_000, 1_000)).collect();
    let (stream, count, truncated) = sent(&pieces, 10_000, 1 << 30);
    assert_eq!((count, truncated), (5_000, false));
    assert!(stream == sent(from_ref(&whole), 10_000, 1 << 30).0, "where batches end depends on how rows came");
    let batches = arrow_ipc::reader::StreamReader::try_new(stream.as_slice(), None).unwrap();
    let sizes: Vec<u64> = batches.map(|batch| super::size(&batch.unwrap())).collect();
    assert!(sizes.len() == 3 && sizes.iter().all(|size| *size <= 16 << 20), "{sizes:?}");
}
