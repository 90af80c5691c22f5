//! What leaves the worker depends on the rows of the result and on nothing else.

use super::{Sink, Wanted, clean, columns_of, size, splice, write_stream};
use crate::protocol::Query;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field};
use arrow_select::concat::concat_batches;
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

/// Those of them that can be sent in parts.
fn plain(values: &[Option<i64>], stale: i64) -> RecordBatch {
    rows(values, stale).project(&[0, 1, 2]).unwrap()
}

/// `whole` cut at these places.
fn cut(whole: &RecordBatch, places: &[prop::sample::Index]) -> Vec<RecordBatch> {
    let rows = whole.num_rows();
    let mut places: Vec<usize> = places.iter().map(|place| place.index(rows)).chain([0, rows]).collect();
    places.sort_unstable();
    places.windows(2).map(|w| whole.slice(w[0], w[1] - w[0])).collect()
}

/// What arrow's own writer makes of it, without schema and end.
fn by_arrow(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), batch.schema_ref()).unwrap();
    let schema = writer.get_ref().len();
    writer.write(batch).unwrap();
    writer.get_ref()[schema..].to_vec()
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
        let whole = rows(&values, stale);
        let pieces = cut(&rows(&values, other), &cuts);
        prop_assert_eq!(sent(from_ref(&whole), 1_000, 1_000_000), sent(&pieces, 1_000, 1_000_000));
        prop_assert_eq!(sent(from_ref(&whole), most_rows, most_bytes), sent(&pieces, most_rows, most_bytes));
    }

    /// More rows than one block has, in columns that are sent as they came.
    #[test]
    fn nor_do_they_where_parts_are_sent(
        values in prop::collection::vec(prop::option::of(-100i64..100), 100..300),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        (most_rows, most_bytes) in (0u64..35_000, 1u64..2_000_000),
        (stale, other) in (any::<i64>(), any::<i64>()),
    ) {
        let values = values.repeat(100);
        let whole = plain(&values, stale);
        let pieces = cut(&plain(&values, other), &cuts);
        prop_assert!(sent(from_ref(&whole), 100_000, 10_000_000) == sent(&pieces, 100_000, 10_000_000));
        prop_assert!(sent(from_ref(&whole), most_rows, most_bytes) == sent(&pieces, most_rows, most_bytes));
    }

    #[test]
    fn parts_are_written_as_one_batch_is(
        values in prop::collection::vec(prop::option::of(-100i64..100), 1..300),
        all in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let values: Vec<_> = values.into_iter().map(|v| if all { v.or(Some(0)) } else { v }).collect();
        let parts: Vec<_> = cut(&plain(&values, 9), &cuts).iter().map(|part| clean::batch(part).unwrap()).collect();
        let message = splice::message(&parts).unwrap();
        let whole = clean::batch(&concat_batches(parts[0].schema_ref(), &parts).unwrap()).unwrap();
        prop_assert_eq!(message.pieces().concat(), by_arrow(&whole));
        prop_assert_eq!((message.rows, message.size), (values.len() as u64, size(&whole)));
    }
}

#[test]
fn a_reader_has_something_to_do_early() {
    let batches: Vec<_> = (0..100).map(|_| plain(&vec![Some(7); 2_048], 0)).collect();
    let (stream, ..) = sent(&batches, 1_000_000, 1 << 30);
    let batches = arrow_ipc::reader::StreamReader::try_new(stream.as_slice(), None).unwrap();
    let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(rows, [8_192, 16_384, 32_768, 65_536, 65_536, 16_384]);
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
