//! Nothing but the result leaves the worker.
//!
//! What stands behind a NULL in an engine's buffers, and in the unused bits of its bitmaps, is memory that it has used
//! before: it may hold values of rows and columns that policy hides. It is overwritten with zeros.

use arrow_array::{Array, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};

pub fn batch(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(|column| match is_clean(column) {
        true => Ok(column.clone()),
        false => Ok(make_array(array(&column.to_data(), None)?)),
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns.collect::<Result<_, ArrowError>>()?, &options)
}

/// Values side by side or one after the other, and none of them NULL: nothing stands between them. Most columns of most
/// tables are like this, and building an array anew costs a look at every byte of its text.
fn is_clean(array: &dyn Array) -> bool {
    let plain = match array.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => true,
        kind => kind.is_primitive(),
    };
    plain && array.null_count() == 0 && array.nulls().is_none()
}

/// `outer` are the NULLs of the array that this one is a part of, entry by entry.
fn array(data: &ArrayData, outer: Option<&NullBuffer>) -> Result<ArrayData, ArrowError> {
    let nulls = NullBuffer::union(data.nulls(), outer).filter(|nulls| nulls.null_count() > 0);
    let nulls = nulls.map(|nulls| without_spare_bits(&nulls));
    let (offset, len) = (data.offset(), data.len());
    let mut builder = ArrayData::builder(data.data_type().clone()).len(len).nulls(nulls.clone());
    let first = data.buffers().first();
    match (data.data_type(), first) {
        (DataType::Boolean, Some(bits)) => {
            let bits = BooleanBuffer::new(bits.clone(), offset, len);
            let bits = nulls.as_ref().map_or(bits.clone(), |nulls| &bits & nulls.inner());
            builder = builder.add_buffer(packed(&bits));
        }
        (DataType::Struct(_), _) => {
            for child in data.child_data() {
                builder = builder.add_child_data(array(&child.slice(offset, len), nulls.as_ref())?);
            }
        }
        (DataType::FixedSizeList(_, width), _) => {
            let width = usize::try_from(*width).unwrap_or_default();
            let nulls = nulls.map(|nulls| nulls.expand(width));
            for child in data.child_data() {
                builder = builder.add_child_data(array(&child.slice(offset * width, len * width), nulls.as_ref())?);
            }
        }
        (kind, Some(values)) if let Some(width) = width(kind) => {
            builder = builder.add_buffer(zeroed(values, width, offset, len, nulls.as_ref()));
            builder = data.child_data().iter().fold(builder, |b, child| b.add_child_data(child.clone()));
        }
        // Text, bytes and lists: a NULL has no length, so nothing stands behind it.
        _ => {
            let children = data.child_data().iter().map(|child| array(child, None));
            let children = children.collect::<Result<Vec<_>, _>>()?;
            builder = builder.offset(offset).buffers(data.buffers().to_vec()).child_data(children);
        }
    }
    builder.build()
}

/// Bytes of one value, where all have the same; of its key, in a dictionary.
fn width(kind: &DataType) -> Option<usize> {
    match kind {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).ok(),
        DataType::Dictionary(key, _) => key.primitive_width(),
        other => other.primitive_width(),
    }
}

fn zeroed(values: &Buffer, width: usize, offset: usize, len: usize, nulls: Option<&NullBuffer>) -> Buffer {
    let values = values.slice_with_length(offset * width, len * width);
    let Some(nulls) = nulls else { return values };
    let mut clean = MutableBuffer::from_len_zeroed(len * width);
    for (start, end) in nulls.valid_slices() {
        let range = start * width..end * width;
        if let (Some(to), Some(from)) = (clean.get_mut(range.clone()), values.get(range)) {
            to.copy_from_slice(from);
        }
    }
    clean.into()
}

fn without_spare_bits(nulls: &NullBuffer) -> NullBuffer {
    NullBuffer::new(BooleanBuffer::new(packed(nulls.inner()), 0, nulls.len()))
}

/// The bits from the first byte on, and zeros after the last of them.
fn packed(bits: &BooleanBuffer) -> Buffer {
    let mut clean = arrow_buffer::BooleanBufferBuilder::new(bits.len());
    clean.append_buffer(bits);
    clean.finish().into_inner()
}
