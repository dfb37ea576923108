"""fio's job files as workloads, and its JSON beside a run."""

from headstack.fio.job import capped_depth, cut_s, toml_of_job, workload_of_job
from headstack.fio.results import results

__all__ = ["capped_depth", "cut_s", "results", "toml_of_job", "workload_of_job"]
