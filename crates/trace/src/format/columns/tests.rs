use arrow_array::{BooleanArray, Int64Array, LargeStringArray, UInt8Array};
use proptest::prelude::*;

use super::*;
use crate::TraceReader;
use crate::testing::drain;

fn table(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter(columns.iter().cloned()).unwrap()
}

/// The required columns, in types that are not headstack's own.
fn plain(ops: ArrayRef) -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("op", ops),
        ("note", Arc::new(StringArray::from(vec!["a", "b"]))),
        ("sectors", Arc::new(UInt16Array::from(vec![8, 16]))),
        ("lba", Arc::new(Int64Array::from(vec![100, 200]))),
        ("arrival_ns", Arc::new(Int64Array::from(vec![5, 7]))),
    ]
}

fn read(batch: &RecordBatch, options: &OpenOptions) -> Result<Vec<Request>, TraceError> {
    let batches = Box::new(vec![Ok(batch.clone())].into_iter());
    drain(&mut TraceReader::from_batches("table", batch.schema_ref(), batches, options)?)
}

fn problem(columns: &[(&str, ArrayRef)]) -> String {
    read(&table(columns), &OpenOptions::default()).unwrap_err().to_string()
}

fn expected() -> Vec<Request> {
    vec![Request::new(Nanos(5), Op::Read, Lba(100), 8), Request::new(Nanos(7), Op::Write, Lba(200), 16)]
}

#[test]
fn operations_come_in_many_types() {
    let dictionary: DictionaryArray<Int8Type> = vec!["R", "write"].into_iter().collect();
    let ops: [ArrayRef; 5] = [
        Arc::new(StringArray::from(vec!["read", "W"])),
        Arc::new(LargeStringArray::from(vec!["Read", "Write"])),
        Arc::new(BooleanArray::from(vec![true, false])),
        Arc::new(UInt8Array::from(vec![0, 1])),
        Arc::new(dictionary),
    ];
    for ops in ops {
        let kind = ops.data_type().clone();
        assert_eq!(read(&table(&plain(ops)), &OpenOptions::default()).unwrap(), expected(), "{kind}");
    }
}

#[test]
fn optional_columns_may_have_gaps() {
    let mut columns = plain(Arc::new(BooleanArray::from(vec![true, false])));
    columns.push(("start_ns", Arc::new(UInt64Array::from(vec![None, Some(9)]))));
    columns.push(("finish_ns", Arc::new(UInt64Array::from(vec![Some(6), None]))));
    columns.push(("device", Arc::new(UInt8Array::from(vec![3, 4]))));
    columns.push(("flags", Arc::new(Int64Array::from(vec![1, 2]))));
    let mut wanted = expected();
    (wanted[0].finish, wanted[0].device, wanted[0].flags) = (Nanos(6), 3, RequestFlags::FORCE_MEDIA);
    (wanted[1].start, wanted[1].device, wanted[1].flags) = (Nanos(9), 4, RequestFlags::ORDERED);
    assert_eq!(read(&table(&columns), &OpenOptions::default()).unwrap(), wanted);
}

#[test]
fn unusable_columns_are_named() {
    let booleans = || -> ArrayRef { Arc::new(BooleanArray::from(vec![true, false])) };
    let with = |name: &'static str, column: ArrayRef| {
        let mut columns = plain(booleans());
        columns.retain(|(known, _)| *known != name);
        columns.push((name, column));
        columns
    };
    let missing: Vec<_> = plain(booleans()).into_iter().filter(|(name, _)| *name != "lba").collect();
    assert_eq!(problem(&missing), "`table` has no column `lba`; columns: op, note, sectors, arrival_ns");
    let null = with("lba", Arc::new(Int64Array::from(vec![Some(1), None])));
    assert_eq!(problem(&null), "table: row 2: column `lba` has no value");
    let negative = with("lba", Arc::new(Int64Array::from(vec![1, -1])));
    assert_eq!(
        problem(&negative),
        "table: row 2: column `lba` is `-1`: expected 0 to 18,446,744,073,709,551,615"
    );
    let large = with("device", Arc::new(Int64Array::from(vec![7, 1 << 32])));
    assert_eq!(problem(&large), "table: row 2: column `device` is `4294967296`: expected 0 to 4,294,967,295");
    let real = with("arrival_ns", Arc::new(arrow_array::Float64Array::from(vec![1.0, 2.0])));
    assert!(problem(&real).contains("column `arrival_ns` is of type Float64, not an integer"));
    let words = with("op", Arc::new(StringArray::from(vec!["read", "trim"])));
    assert_eq!(problem(&words), "table: row 2: `op` is neither read (R, 0) nor write (W, 1)");
    let codes = with("op", Arc::new(UInt8Array::from(vec![2, 0])));
    assert_eq!(problem(&codes), "table: row 1: `op` is neither read (R, 0) nor write (W, 1)");
    let empty = with("sectors", Arc::new(UInt32Array::from(vec![8, 0])));
    assert_eq!(problem(&empty), "table: row 2: the request has a length of zero");
}

#[test]
fn the_sector_size_comes_from_the_metadata() {
    let schema = request_schema(4096);
    let batch = record_batch(&expected(), &schema).unwrap();
    let reader = |options: &OpenOptions| {
        let batches = Box::new(vec![Ok(batch.clone())].into_iter());
        TraceReader::from_batches("table", &schema, batches, options)
    };
    assert_eq!(reader(&OpenOptions::default()).unwrap().sector_bytes(), 4096);
    let other = OpenOptions { sector_bytes: Some(512), ..OpenOptions::default() };
    assert!(reader(&other).err().unwrap().to_string().contains("states sectors of 4096 bytes, not 512"));
    let plain = table(&plain(Arc::new(BooleanArray::from(vec![true, false]))));
    let batches = || Box::new(std::iter::empty());
    let unstated =
        TraceReader::from_batches("t", plain.schema_ref(), batches(), &OpenOptions::default()).unwrap();
    assert_eq!(unstated.sector_bytes(), 512);
    let bad =
        Arc::new(plain.schema().as_ref().clone().with_metadata([("sector_bytes".into(), "0".into())].into()));
    assert!(TraceReader::from_batches("t", &bad, batches(), &OpenOptions::default()).is_err());
}

#[test]
fn rows_are_numbered_across_batches() {
    let good = table(&plain(Arc::new(UInt8Array::from(vec![0, 1]))));
    let bad = table(&plain(Arc::new(UInt8Array::from(vec![0, 7]))));
    let batches = Box::new(vec![Ok(good.clone()), Ok(bad)].into_iter());
    let mut reader =
        TraceReader::from_batches("t", good.schema_ref(), batches, &OpenOptions::default()).unwrap();
    assert!(drain(&mut reader).unwrap_err().to_string().starts_with("t: row 4: "));
}

proptest! {
    #[test]
    fn arrival_order_is_all_that_sorting_changes(times in proptest::collection::vec(0_i64..50, 0..40)) {
        let count = times.len();
        let batch = table(&[
            ("arrival_ns", Arc::new(Int64Array::from(times.clone())) as ArrayRef),
            ("lba", Arc::new(Int64Array::from_iter_values(0..count as i64))),
            ("sectors", Arc::new(UInt8Array::from(vec![1; count]))),
            ("op", Arc::new(BooleanArray::from(vec![true; count]))),
        ]);
        let sorted = read(&batch, &OpenOptions { sort: true, ..OpenOptions::default() }).unwrap();
        let mut wanted: Vec<_> = times.iter().zip(0_u64..).map(|(&at, lba)| (at as u64, lba)).collect();
        wanted.sort_by_key(|&(at, _)| at);
        prop_assert_eq!(sorted.iter().map(|request| (request.arrival.0, request.lba.0)).collect::<Vec<_>>(), wanted);
        let ascending = times.is_sorted();
        prop_assert_eq!(read(&batch, &OpenOptions::default()).is_ok(), ascending);
    }
}
