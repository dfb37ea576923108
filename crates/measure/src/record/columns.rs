//! Records as Arrow tables.

use super::probe_name::ProbeName;
use super::sample::{Role, Sample};
use crate::device::Mode;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int64Array, RecordBatch, StringArray, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use headstack_units::Nanos;
use std::sync::Arc;

/// The columns: `probe`, `series`, `step`, `role`, `mode`, `lba`, `sectors`, `depth`, `start_ns`, `end_ns`, `ok`, `session`;
/// see [`Sample`].
pub fn schema() -> SchemaRef {
    let words = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    Arc::new(Schema::new(vec![
        Field::new("probe", words.clone(), false),
        Field::new("series", DataType::UInt32, false),
        Field::new("step", DataType::Int64, false),
        Field::new("role", words.clone(), false),
        Field::new("mode", words, false),
        Field::new("lba", DataType::UInt64, false),
        Field::new("sectors", DataType::UInt32, false),
        Field::new("depth", DataType::UInt32, false),
        Field::new("start_ns", DataType::UInt64, false),
        Field::new("end_ns", DataType::UInt64, false),
        Field::new("ok", DataType::Boolean, false),
        Field::new("session", DataType::UInt16, false),
    ]))
}

fn words(values: Vec<&'static str>) -> ArrayRef {
    let array: DictionaryArray<Int8Type> = values.into_iter().collect();
    Arc::new(array)
}

/// Samples as a table.
///
/// # Panics
/// Never: the columns are made for the schema.
pub fn batch(samples: &[Sample]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        words(samples.iter().map(|s| s.probe.as_str()).collect()),
        Arc::new(UInt32Array::from_iter_values(samples.iter().map(|s| s.series))),
        Arc::new(Int64Array::from_iter_values(samples.iter().map(|s| s.step))),
        words(samples.iter().map(|s| s.role.as_str()).collect()),
        words(samples.iter().map(|s| s.mode.as_str()).collect()),
        Arc::new(UInt64Array::from_iter_values(samples.iter().map(|s| s.lba))),
        Arc::new(UInt32Array::from_iter_values(samples.iter().map(|s| s.sectors))),
        Arc::new(UInt32Array::from_iter_values(samples.iter().map(|s| s.depth))),
        Arc::new(UInt64Array::from_iter_values(samples.iter().map(|s| s.start.0))),
        Arc::new(UInt64Array::from_iter_values(samples.iter().map(|s| s.end.0))),
        Arc::new(BooleanArray::from(samples.iter().map(|s| s.ok).collect::<Vec<bool>>())),
        Arc::new(UInt16Array::from_iter_values(samples.iter().map(|s| s.session))),
    ];
    RecordBatch::try_new(schema(), columns).expect("the columns are the schema's")
}

/// A table as samples; says what is wrong with it.
pub(super) fn samples(batch: &RecordBatch) -> Result<Vec<Sample>, String> {
    let column = |name: &str| -> Result<ArrayRef, String> {
        let found = batch.column_by_name(name).ok_or_else(|| format!("it has no column `{name}`"))?;
        let wanted = schema().field_with_name(name).map(|field| field.data_type().clone());
        let wanted = wanted.map_err(|error| error.to_string())?;
        let cast = if let DataType::Dictionary(_, _) = wanted { DataType::Utf8 } else { wanted };
        let array = arrow_cast::cast(found, &cast)
            .map_err(|_| format!("its column `{name}` is {}, not {cast}", found.data_type()))?;
        if array.null_count() > 0 {
            return Err(format!("its column `{name}` has gaps"));
        }
        Ok(array)
    };
    let (probes, roles, modes) = (column("probe")?, column("role")?, column("mode")?);
    let (probes, roles, modes): (&StringArray, &StringArray, &StringArray) =
        (probes.as_string(), roles.as_string(), modes.as_string());
    let (series, step, lba) = (column("series")?, column("step")?, column("lba")?);
    let (sectors, depth, session) = (column("sectors")?, column("depth")?, column("session")?);
    let (start, end, ok) = (column("start_ns")?, column("end_ns")?, column("ok")?);
    (0..batch.num_rows())
        .map(|row| {
            Ok(Sample {
                probe: ProbeName::named(probes.value(row))
                    .ok_or_else(|| format!("row {row}: there is no probe `{}`", probes.value(row)))?,
                series: series.as_primitive::<UInt32Type>().value(row),
                step: step.as_primitive::<Int64Type>().value(row),
                role: Role::named(roles.value(row))
                    .ok_or_else(|| format!("row {row}: there is no role `{}`", roles.value(row)))?,
                mode: Mode::named(modes.value(row))
                    .ok_or_else(|| format!("row {row}: there is no mode `{}`", modes.value(row)))?,
                lba: lba.as_primitive::<UInt64Type>().value(row),
                sectors: sectors.as_primitive::<UInt32Type>().value(row),
                depth: depth.as_primitive::<UInt32Type>().value(row),
                start: Nanos(start.as_primitive::<UInt64Type>().value(row)),
                end: Nanos(end.as_primitive::<UInt64Type>().value(row)),
                ok: ok.as_boolean().value(row),
                session: session.as_primitive::<UInt16Type>().value(row),
            })
        })
        .collect()
}
