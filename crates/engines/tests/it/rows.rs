//! Results as text.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;

/// Each row of an Arrow IPC stream.
pub fn row_texts(ipc: &[u8]) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let mut lines = Vec::new();
    for batch in StreamReader::try_new(ipc, None).unwrap().map(Result::unwrap) {
        let arrays: Vec<_> = batch.columns().iter().map(without_zone).collect();
        let columns: Vec<_> = arrays.iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            lines.push(columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join("|"));
        }
    }
    lines
}

/// The formatter knows no names of time zones.
fn without_zone(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Timestamp(unit, Some(_)) => {
            let data = array.to_data().into_builder().data_type(DataType::Timestamp(*unit, None));
            make_array(data.build().unwrap())
        }
        _ => array.clone(),
    }
}
