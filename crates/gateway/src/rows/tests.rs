//! Arrays of every type that an engine hands out, and the JSON that must come of them.

use super::{head, to_json};
use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
use arrow_array::types::{Int8Type, Int32Type, IntervalDayTime, IntervalMonthDayNano};
use arrow_array::*;
use arrow_buffer::i256;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema, UnionFields};
use domain::Rows;
use std::collections::HashMap;
use std::sync::Arc;

fn stream(batches: &[RecordBatch], schema: &Schema) -> Rows {
    let mut ipc = Vec::new();
    let mut writer = StreamWriter::try_new(&mut ipc, schema).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    let row_count = batches.iter().map(|b| b.num_rows() as u64).sum();
    Rows { columns: Vec::new(), ipc: ipc.into(), row_count, truncated: false }
}

fn column(array: ArrayRef) -> Rows {
    let batch = RecordBatch::try_from_iter_with_nullable([("c", array, true)]).unwrap();
    stream(std::slice::from_ref(&batch), &batch.schema())
}

fn json(rows: &Rows) -> String {
    to_json(rows).unwrap().get().to_owned()
}

/// Each case: the array, and its values in JSON.
fn check(cases: Vec<(ArrayRef, &str)>) {
    for (array, expected) in cases {
        let kind = array.data_type().clone();
        // One column: each row is a one-cell array.
        let expected: Vec<String> = expected.split(" | ").map(|cell| format!("[{cell}]")).collect();
        assert_eq!(json(&column(array)), format!("[{}]", expected.join(",")), "{kind}");
    }
}

#[test]
fn numbers_are_exact() {
    let huge = i128::from(u64::MAX) * 1_000_000_000_000_000_000;
    check(vec![
        (Arc::new(Int8Array::from(vec![Some(-128), None])), "-128 | null"),
        (Arc::new(Int16Array::from(vec![-32768])), "-32768"),
        (Arc::new(Int32Array::from(vec![i32::MIN])), "-2147483648"),
        (Arc::new(Int64Array::from(vec![i64::MIN, i64::MAX])), "-9223372036854775808 | 9223372036854775807"),
        (Arc::new(UInt8Array::from(vec![255])), "255"),
        (Arc::new(UInt16Array::from(vec![65535])), "65535"),
        (Arc::new(UInt32Array::from(vec![u32::MAX])), "4294967295"),
        (Arc::new(UInt64Array::from(vec![u64::MAX])), "18446744073709551615"),
        (decimal128(38, 0, vec![huge, -1]), "18446744073709551615000000000000000000 | -1"),
        (decimal128(38, 0, vec![i128::MAX]), "170141183460469231731687303715884105727"),
        (decimal128(10, 2, vec![150, -5, 0, 1_000_000_001]), "1.50 | -0.05 | 0.00 | 10000000.01"),
        (decimal128(10, -2, vec![5, 0]), "5e2 | 0e2"),
        (
            Arc::new(Decimal256Array::from(vec![i256::from_i128(-12_345)]).with_precision_and_scale(76, 3).unwrap()),
            "-12.345",
        ),
    ]);
}

fn decimal128(precision: u8, scale: i8, values: Vec<i128>) -> ArrayRef {
    // `i128::MAX` has one digit more than the type admits to; HUGEINT has it all the same.
    let data_type = DataType::Decimal128(precision, scale);
    Arc::new(Decimal128Array::from(values).with_data_type(data_type))
}

#[test]
fn floats_are_the_shortest_that_read_back() {
    check(vec![
        (Arc::new(Float64Array::from(vec![0.1, 1.0, -0.0, 1e300, 5e-324])), "0.1 | 1.0 | -0.0 | 1e+300 | 5e-324"),
        (Arc::new(Float64Array::from(vec![0.1 + 0.2, 1e15])), "0.30000000000000004 | 1000000000000000.0"),
        (Arc::new(Float32Array::from(vec![0.1])), "0.1"),
        (
            Arc::new(Float64Array::from(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY])),
            r#""NaN" | "Infinity" | "-Infinity""#,
        ),
        (Arc::new(Float32Array::from(vec![f32::NAN, f32::NEG_INFINITY])), r#""NaN" | "-Infinity""#),
    ]);
}

#[test]
fn words_and_bytes() {
    let uuid = FixedSizeBinaryArray::try_from_iter([*b"0123456789abcdef"].iter()).unwrap();
    let categories: DictionaryArray<Int8Type> =
        vec![Some("low"), None, Some("high"), Some("low")].into_iter().collect();
    check(vec![
        (Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])), "true | false | null"),
        (Arc::new(NullArray::new(2)), "null | null"),
        (Arc::new(StringArray::from(vec!["", "ä \"x\"\\", "a\nb\u{1}"])), r#""" | "ä \"x\"\\" | "a\nb\u0001""#),
        (Arc::new(LargeStringArray::from(vec!["</script>"])), r#""</script>""#),
        (Arc::new(StringViewArray::from(vec!["longer than twelve bytes"])), r#""longer than twelve bytes""#),
        (Arc::new(BinaryArray::from(vec![Some(&b"\x00\xff"[..]), Some(b""), None])), r#""AP8=" | "" | null"#),
        (Arc::new(uuid), r#""MDEyMzQ1Njc4OWFiY2RlZg==""#),
        (Arc::new(categories), r#""low" | null | "high" | "low""#),
    ]);
}

#[test]
fn uuids_that_say_so_are_text() {
    let values = FixedSizeBinaryArray::try_from_iter([*b"0123456789abcdef"].iter()).unwrap();
    let says = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())]);
    let schema = Schema::new(vec![Field::new("id", DataType::FixedSizeBinary(16), false).with_metadata(says)]);
    let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![Arc::new(values)]).unwrap();
    assert_eq!(json(&stream(&[batch], &schema)), r#"[["30313233-3435-3637-3839-616263646566"]]"#);
}

#[test]
fn dates_and_times() {
    let second = 1_706_695_200; // 2024-01-31T10:00:00
    check(vec![
        (
            Arc::new(Date32Array::from(vec![19_753, 0, -1, 11_016])),
            r#""2024-01-31" | "1970-01-01" | "1969-12-31" | "2000-02-29""#,
        ),
        (
            Arc::new(Date32Array::from(vec![-719_529, 2_932_897, i32::MAX, -i32::MAX])),
            r#""-0001-12-31" | "+10000-01-01" | "infinity" | "-infinity""#,
        ),
        (Arc::new(Date64Array::from(vec![-1, 86_400_000])), r#""1969-12-31" | "1970-01-02""#),
        (Arc::new(Time32SecondArray::from(vec![86_400])), r#""24:00:00""#),
        (Arc::new(Time32MillisecondArray::from(vec![1_250])), r#""00:00:01.25""#),
        (Arc::new(Time64MicrosecondArray::from(vec![36_000_000_001])), r#""10:00:00.000001""#),
        (Arc::new(Time64NanosecondArray::from(vec![1])), r#""00:00:00.000000001""#),
        (Arc::new(TimestampSecondArray::from(vec![Some(second), None])), r#""2024-01-31T10:00:00" | null"#),
        (Arc::new(TimestampMillisecondArray::from(vec![-1])), r#""1969-12-31T23:59:59.999""#),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![second * 1_000_000, i64::MAX, -i64::MAX])),
            r#""2024-01-31T10:00:00" | "infinity" | "-infinity""#,
        ),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![second * 1_000_000 + 500]).with_timezone("Europe/Berlin")),
            r#""2024-01-31T10:00:00.0005Z""#,
        ),
        (Arc::new(TimestampNanosecondArray::from(vec![1])), r#""1970-01-01T00:00:00.000000001""#),
    ]);
}

#[test]
fn intervals() {
    let parts = |months, days, nanos| IntervalMonthDayNano::new(months, days, nanos);
    check(vec![
        (
            Arc::new(IntervalMonthDayNanoArray::from(vec![
                parts(14, 3, 14_706_500_000_000),
                parts(0, 0, 0),
                parts(-1, 0, -90_000_000_000),
                parts(0, 0, -500_000_000),
                parts(0, 0, 3_600_000_000_000),
            ])),
            r#""P1Y2M3DT4H5M6.5S" | "PT0S" | "P-1MT-1M-30S" | "PT-0.5S" | "PT1H""#,
        ),
        (Arc::new(IntervalYearMonthArray::from(vec![-13])), r#""P-1Y-1M""#),
        (Arc::new(IntervalDayTimeArray::from(vec![IntervalDayTime::new(1, 1_500)])), r#""P1DT1.5S""#),
        (Arc::new(DurationMillisecondArray::from(vec![61_000])), r#""PT1M1S""#),
    ]);
}

#[test]
fn nested_values() {
    let numbers =
        ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), Some(vec![]), None]);
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), Some(2)])], 2);
    let person = StructArray::from(vec![
        (Arc::new(Field::new("na\"me", DataType::Utf8, true)), Arc::new(StringArray::from(vec!["Ann"])) as ArrayRef),
        (Arc::new(Field::new("tags", numbers.data_type().clone(), true)), Arc::new(numbers.slice(0, 1)) as ArrayRef),
    ]);
    check(vec![
        (Arc::new(numbers), "[1,null] | [] | null"),
        (Arc::new(fixed), "[1,2]"),
        (Arc::new(number_or_word()), r#"1 | "x" | null"#),
        (Arc::new(person), r#"{"na\"me":"Ann","tags":[1,null]}"#),
        (Arc::new(words_to_numbers()), r#"{"a":1,"b":null} | {}"#),
        (Arc::new(numbers_to_words()), r#"{"7":"seven"}"#),
    ]);
}

fn number_or_word() -> UnionArray {
    let members = [Field::new("number", DataType::Int32, true), Field::new("word", DataType::Utf8, true)];
    let children: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(vec![Some(1), None])), Arc::new(StringArray::from(vec!["x"]))];
    let (ids, offsets) = (vec![0, 1, 0].into(), vec![0, 0, 1].into());
    UnionArray::try_new(UnionFields::try_new([0, 1], members).unwrap(), ids, Some(offsets), children).unwrap()
}

fn words_to_numbers() -> MapArray {
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    map.keys().append_value("a");
    map.values().append_value(1);
    map.keys().append_value("b");
    map.values().append_null();
    map.append(true).unwrap();
    map.append(true).unwrap();
    map.finish()
}

fn numbers_to_words() -> MapArray {
    let mut map = MapBuilder::new(None, Int32Builder::new(), StringBuilder::new());
    map.keys().append_value(7);
    map.values().append_value("seven");
    map.append(true).unwrap();
    map.finish()
}

fn two_batches() -> Rows {
    let batch = |from: i64| {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![from, from + 1]));
        let words: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None]));
        RecordBatch::try_from_iter_with_nullable([("n", numbers, true), ("w", words, true)]).unwrap()
    };
    let batches = [batch(1), batch(3)];
    stream(&batches, &batches[0].schema())
}

#[test]
fn rows_of_all_batches_in_order() {
    assert_eq!(json(&two_batches()), r#"[[1,"x"],[2,null],[3,"x"],[4,null]]"#);
}

#[test]
fn head_stops_where_it_is_told_to() {
    let rows = two_batches();
    let counts: Vec<usize> = [0, 1, 2, 3, 9].iter().map(|n| head(&rows, *n).unwrap().len()).collect();
    assert_eq!(counts, [0, 1, 2, 3, 4]);
    assert_eq!(head(&rows, 1).unwrap(), vec![vec![serde_json::json!(1), serde_json::json!("x")]]);
}

#[test]
fn no_rows_and_no_columns() {
    let schema = Schema::new(vec![Field::new("n", DataType::Int64, true)]);
    assert_eq!(json(&stream(&[], &schema)), "[]");
    let none = RecordBatch::new_empty(Arc::new(schema.clone()));
    assert_eq!(json(&stream(&[none], &schema)), "[]");
    assert_eq!(head(&stream(&[], &schema), 5).unwrap(), Vec::<Vec<serde_json::Value>>::new());
}

/// What a worker sends is not trusted: a damaged stream is a fault, never a panic and never a
/// shorter result.
#[test]
fn damaged_streams_are_faults() {
    let whole = two_batches();
    for end in 1..whole.ipc.len() - 8 {
        let cut = Rows { ipc: whole.ipc.slice(..end), ..whole.clone() };
        assert_eq!(to_json(&cut).unwrap_err().code, "engine.result_unreadable", "cut at {end}");
    }
    for at in 0..whole.ipc.len() {
        let mut bytes = whole.ipc.to_vec();
        bytes[at] ^= 0xff;
        let _ = to_json(&Rows { ipc: bytes.into(), ..whole.clone() });
    }
}

/// Each row repeats the struct's names: 100 KB of Arrow would become 200 MB of JSON.
#[test]
fn a_small_result_cannot_become_a_huge_text() {
    let count = 2_000;
    let name = "n".repeat(100_000);
    let member = Arc::new(Field::new(name, DataType::Int32, true));
    let values: ArrayRef = Arc::new(Int32Array::from(vec![1; count]));
    let rows = column(Arc::new(StructArray::from(vec![(member, values)])));
    assert_eq!(to_json(&rows).unwrap_err().code, "engine.result_too_large");
    assert_eq!(head(&rows, 3).unwrap().len(), 3);
}
