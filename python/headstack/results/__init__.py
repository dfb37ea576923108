"""The types of results: what is in `Run.summary`, `Validation.summary`, … and what each verb prints with `--json`.

They are plain dictionaries; the types say which keys they have. The JSON Schemas in `docs/reference/schemas` are made of them.
"""

from __future__ import annotations
