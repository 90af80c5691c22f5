//! `sales` as Parquet files, typed as a warehouse would type them.

use super::super::files::{READABLE, place};
use super::super::season::epoch_days;
use super::Sales;
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, Date32Array, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub fn write(sales: &Sales, folder: &Path) -> io::Result<()> {
    write_table(&folder.join("sales_orders.parquet"), orders(sales))?;
    write_table(&folder.join("accounts.parquet"), accounts(sales))?;
    write_table(&folder.join("catalog.parquet"), catalog(sales))
}

fn write_table(path: &Path, batch: Result<RecordBatch, ArrowError>) -> io::Result<()> {
    let batch = batch.map_err(io::Error::other)?;
    let settings = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    place(path, READABLE, |draft| {
        let mut writer = ArrowWriter::try_new(File::create(draft)?, batch.schema(), Some(settings))?;
        writer.write(&batch)?;
        writer.close()?;
        Ok(())
    })
}

fn orders(sales: &Sales) -> Result<RecordBatch, ArrowError> {
    let rows = || sales.orders.iter();
    RecordBatch::try_from_iter_with_nullable([
        column("order_id", Int64Array::from_iter_values(rows().map(|o| o.id))),
        column("order_date", Date32Array::from_iter_values(rows().map(|o| epoch_days(o.day)))),
        column("account_id", Int32Array::from_iter_values(rows().map(|o| o.account_id))),
        column("sku", StringArray::from_iter_values(rows().map(|o| o.sku))),
        column("region", StringArray::from_iter_values(rows().map(|o| o.region))),
        column("channel", StringArray::from_iter_values(rows().map(|o| o.channel))),
        nullable("sales_rep", StringArray::from_iter(rows().map(|o| o.sales_rep))),
        column("quantity", Int32Array::from_iter_values(rows().map(|o| o.quantity))),
        column("unit_price", decimal(rows().map(|o| Some(o.unit_price)), 10)?),
        nullable("discount", decimal(rows().map(|o| o.discount), 4)?),
        column("amount", decimal(rows().map(|o| Some(o.amount)), 12)?),
        column("status", StringArray::from_iter_values(rows().map(|o| o.status))),
    ])
}

fn accounts(sales: &Sales) -> Result<RecordBatch, ArrowError> {
    let rows = || sales.accounts.iter();
    RecordBatch::try_from_iter_with_nullable([
        column("account_id", Int32Array::from_iter_values(rows().map(|a| a.id))),
        column("account", StringArray::from_iter_values(rows().map(|a| &a.name))),
        nullable("email", StringArray::from_iter(rows().map(|a| a.email.as_deref()))),
        column("tier", StringArray::from_iter_values(rows().map(|a| a.tier))),
        column("country", StringArray::from_iter_values(rows().map(|a| a.country))),
        column("signed_up", Date32Array::from_iter_values(rows().map(|a| epoch_days(a.signed_up)))),
    ])
}

fn catalog(sales: &Sales) -> Result<RecordBatch, ArrowError> {
    let rows = || sales.products.iter();
    RecordBatch::try_from_iter_with_nullable([
        column("sku", StringArray::from_iter_values(rows().map(|p| p.sku))),
        column("product", StringArray::from_iter_values(rows().map(|p| p.name))),
        column("category", StringArray::from_iter_values(rows().map(|p| p.category.name))),
        column("launch_date", Date32Array::from_iter_values(rows().map(|p| epoch_days(p.launched)))),
        column("list_price", decimal(rows().map(|p| Some(p.list_price)), 10)?),
    ])
}

/// Hundredths as a decimal of scale 2.
fn decimal(hundredths: impl Iterator<Item = Option<i64>>, precision: u8) -> Result<Decimal128Array, ArrowError> {
    Decimal128Array::from_iter(hundredths.map(|h| h.map(i128::from))).with_precision_and_scale(precision, 2)
}

fn column(name: &str, values: impl arrow_array::Array + 'static) -> (&str, ArrayRef, bool) {
    (name, Arc::new(values), false)
}

fn nullable(name: &str, values: impl arrow_array::Array + 'static) -> (&str, ArrayRef, bool) {
    (name, Arc::new(values), true)
}
