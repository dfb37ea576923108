//! `Table`: record batches that any Arrow library takes.

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

/// A table that any Arrow library takes without a copy: `polars.DataFrame(table)`, `pyarrow.table(table)`,
/// `pandas.DataFrame.from_arrow(table)`.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The table as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = PyRecordBatchReader::new(Box::new(reader)).into_pyobject(py)?;
        stream.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.__len__(), self.column_names().join(", "))
    }
}
