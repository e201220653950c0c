"""Every table that the project writes, as an explicit Arrow schema.

Schemas are applied on write and checked on read, so that types never follow the data: an all-null column in one
shard has the same type as a full one in the next. Columns are nullable unless their field says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute


class TableError(ValueError):
    """Rows that do not fit their table; the message names the table, the column and the offending value."""


def _schema(*fields: pa.Field) -> pa.Schema:
    return pa.schema(fields)


def _key(name: str, kind: pa.DataType | None = None) -> pa.Field:
    return pa.field(name, kind or pa.string(), nullable=False)


def _text(name: str) -> pa.Field:
    return pa.field(name, pa.string())


_STEP_EVENT = pa.struct([pa.field("step", pa.int32()), pa.field("name", pa.string())])
_MASK_BOX = pa.struct([pa.field(name, pa.int32()) for name in ("step", "left", "top", "width", "height")])

SCHEMAS: dict[str, pa.Schema] = {
    # --- generation -------------------------------------------------------------------------------------------
    "groups": _schema(
        _key("group_id"),
        _key("world"),
        _key("env"),
        _key("env_id"),
        _key("seed", pa.int64()),
        _text("mission"),
        pa.field("actions", pa.list_(pa.string())),
        pa.field("steps", pa.int32()),
        pa.field("accepted", pa.bool_()),
        _text("reject_reason"),
    ),
    "trajectories": _schema(
        _key("group_id"),
        _key("variant"),
        pa.field("actions", pa.list_(pa.string())),
        pa.field("success", pa.bool_()),
        pa.field("terminated", pa.bool_()),
        pa.field("truncated", pa.bool_()),
        pa.field("reward", pa.float64()),
        pa.field("states", pa.list_(pa.string())),  # one JSON object a state, steps + 1 of them; the world defines it
        pa.field("events", pa.list_(_STEP_EVENT)),
        _text("intervention"),  # JSON: name and parameters; CF only
        pa.field("mask", pa.list_(_MASK_BOX)),  # pixels of the frame that NoCue hides
    ),
    "frames": _schema(
        _key("group_id"),
        _key("variant"),
        _key("step", pa.int32()),
        _key("image_id"),
    ),
    "gate_results": _schema(
        _key("group_id"),
        _key("variant"),
        _key("gate"),
        _key("passed", pa.bool_()),
        _text("detail"),
    ),
    "images": _schema(
        _key("image_id"),
        _key("width", pa.int32()),
        _key("height", pa.int32()),
        _key("png", pa.binary()),
        _key("png_sha256"),
    ),
    # --- the exam: what a model may see, and what only the audit may ------------------------------------------------
    "items": _schema(
        _key("uid"),
        _key("task"),
        _key("prompt"),
        _key("image_ids", pa.list_(pa.string())),
        _key("answer_format"),
        _key("max_tokens", pa.int32()),
    ),
    "answers": _schema(
        _key("uid"),
        _key("task"),
        _key("world"),
        _key("env"),
        _key("env_id"),
        _key("group_id"),
        _text("variant"),
        _text("temporal"),
        _text("visual"),
        _text("framing"),
        _text("representation"),
        _text(
            "condition"
        ),  # A: true, shuffle, mask; E: the role of the checkpoint (identity_short, status_late_post_drop)
        _key("gold"),
        _text("companion_of"),
        _text("reference_group_id"),
        pa.field("steps", pa.list_(pa.int32())),  # the steps of the trajectory that the item shows, in display order
        # A: what stands at each displayed letter: gold:OUTCOME, successor:OUTCOME, trajectory:STEP
        pa.field("options", pa.list_(pa.string())),
    ),
    # --- inference to numbers ---------------------------------------------------------------------------------------
    "responses": _schema(
        _key("uid"),
        _key("judge"),
        _key("replicate", pa.int32()),
        _key("status"),
        _text("text"),
        _text("reasoning"),
        _text("finish_reason"),
        _text("requested"),  # JSON: the parameters asked for
        _text("effective"),  # JSON: the parameters really sent
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("latency_ms", pa.float64()),
        _text("error"),
        _text("request_sha256"),
        _text("server"),
        pa.field("p_success", pa.float64()),  # from token log-probabilities, where a server offers them
    ),
    "canaries": _schema(
        _key("judge"),
        _key("canary"),
        pa.field("asked", pa.int64()),
        pa.field("agreed", pa.int64()),
        pa.field("passed", pa.bool_()),  # null where the canary could tell nothing
        _text("detail"),
    ),
    "parsed": _schema(
        _key("uid"),
        _key("judge"),
        _key("replicate", pa.int32()),
        _key("parse_mode"),
        _text("value"),
        _text("span"),
        _text("recovery"),  # what had to be done to read the answer; null for a strict parse
        _text("reason"),  # why nothing could be read; null otherwise
    ),
    "scores": _schema(
        _key("uid"),
        _key("judge"),
        _key("replicate", pa.int32()),
        _key("status"),
        pa.field("score", pa.float64()),
        pa.field("correct", pa.bool_()),
        _text("failure"),
        _text("components"),  # JSON: component scores, where a task has them
        pa.field("p_success", pa.float64()),  # of a verdict, from token log-probabilities where the server gave them
    ),
    "metrics": _schema(
        _key("judge"),
        _key("world"),
        _key("task"),
        _text("representation"),
        _key("slice"),
        _key("metric"),
        _key("protocol"),  # all: what was not read counts against the judge; eligible: only what was read
        pa.field("value", pa.float64()),
        pa.field("n_planned", pa.int64()),  # items behind the number
        pa.field("n_ok", pa.int64()),  # of them answered and read
        pa.field("n_groups", pa.int64()),  # groups in its denominator
        pa.field("n_envs", pa.int64()),
        pa.field("ci_low", pa.float64()),
        pa.field("ci_high", pa.float64()),
        _text("ci_method"),
        pa.field("bound_low", pa.float64()),  # the value if everything that was not read had been wrong, or right
        pa.field("bound_high", pa.float64()),
        pa.field("boot_low", pa.float64()),  # percentile bootstrap over trajectory groups
        pa.field("boot_high", pa.float64()),
        pa.field("env_low", pa.float64()),  # percentile bootstrap over environments
        pa.field("env_high", pa.float64()),
        _text("flag"),
        _text("reason"),
    ),
    "comparisons": _schema(
        _key("family"),  # what Holm's correction runs over
        _key("judge"),
        _key("against"),  # the other judge, representation, probe or condition
        _key("world"),
        _key("task"),
        _text("representation"),
        _key("slice"),
        _key("metric"),
        pa.field("difference", pa.float64()),
        pa.field("ci_low", pa.float64()),
        pa.field("ci_high", pa.float64()),
        _text("ci_method"),
        pa.field("env_low", pa.float64()),
        pa.field("env_high", pa.float64()),
        pa.field("n_pairs", pa.int64()),
        pa.field("n_groups", pa.int64()),
        pa.field("only_first", pa.int64()),  # pairs in which only the first, or only the second, is right
        pa.field("only_second", pa.int64()),
        pa.field("p_value", pa.float64()),
        pa.field("p_holm", pa.float64()),
        _text("test"),
        _text("reason"),
    ),
    "findings": _schema(
        _key("judge"),
        _key("world"),
        _key("task"),
        _text("representation"),
        _key("finding"),  # a failure mode or a degenerate regime of paper 1, Appendix A.4
        _key("verdict"),  # present, absent, undecided
        _text("evidence"),
        _text("rule"),
    ),
    "changes": _schema(  # an item that two answer differently
        _key("uid"),
        _key("task"),
        _key("gold"),
        _text("first"),  # what was read of the first's answer
        _key("first_status"),
        _key("first_right", pa.bool_()),
        _text("second"),
        _key("second_status"),
        _key("second_right", pa.bool_()),
    ),
    "read_shares": _schema(  # the share of shared items that was read, of each of two that are compared
        _key("world"),
        _key("task"),
        pa.field("first", pa.float64()),
        pa.field("second", pa.float64()),
    ),
    "shortcuts": _schema(
        _key("kind"),  # shortcut: a classifier; action: Task A without its action; judge: one that has sat the exam
        _key("task"),  # of Task E each of its two questions apart
        _key("representation"),  # "" where a task has one only
        _key("feature"),  # what the classifier sees; what is said of the action; the judge's name
        pa.field("labels", pa.int64()),  # answers that there are; 0 for a mean score
        pa.field("items", pa.int64()),
        pa.field("groups", pa.int64()),
        pa.field("score", pa.float64()),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("chance", pa.float64()),
        pa.field("flagged", pa.bool_()),
        _text("note"),  # why it is flagged, or why there is no number
    ),
    # --- stated worlds ----------------------------------------------------------------------------------------------
    "traces": _schema(
        _key("trace_id"),
        _key("family"),
        _key("index", pa.int32()),
        _key("question_type"),  # numeric, qualitative, counterfactual
        _key("level"),  # easy, medium, hard
        _key("split"),  # train, val, test
        _key("question"),
        _key("trace"),  # JSON, as trace_schema.json describes it
        _key("state"),  # JSON: the scene in canonical units, by canonical key
        _key("names"),  # JSON: role -> object
        _key("target"),  # the quantity that is asked for, or the outcome's key
        _text("parameter"),  # counterfactual: what is multiplied by `factor`
        pa.field("factor", pa.float64()),
        _text("answer"),
        pa.field("answer_number", pa.float64()),
        _text("answer_unit"),
    ),
    "pairs": _schema(
        _key("pair_id"),
        _key("trace_id"),  # of the chosen trace
        _key("family"),
        _key("perturbation"),
        _key("label"),
        _key("held_out", pa.bool_()),
        _key("split"),
        _key("changed", pa.list_(pa.string())),  # JSON pointers
        _key("rejected"),  # JSON
    ),
    "diagrams": _schema(
        _key("trace_id"),
        _key("moment"),  # scene, before, after
        _key("image_id"),
        _key("shown", pa.list_(pa.string())),  # canonical keys of the quantities that are labelled in the picture
    ),
    "diagnostics": _schema(_key("subject_id"), _key("gate"), _key("detail")),  # gates that a trace or a pair failed
    "verdicts": _schema(
        _key("trace_id"),
        _key("setting"),  # gold: the gold state at hand; trace: the trace alone; no_question: without its question
        _text("family"),
        _key("decoded"),  # ok, truncated, none
        _key("repairs", pa.list_(pa.string())),
        _key("z_schema"),  # valid, invalid, abstain
        _key("z_state"),
        _key("z_trans"),
        _key("z_ans"),
        _key("z_faith"),
        _key("labels", pa.list_(pa.string())),
        pa.field("correct", pa.bool_()),  # whether the answer is the recomputed one; null where that cannot be decided
        pa.field(
            "matches_gold", pa.bool_()
        ),  # whether it is the gold answer; null where none is known, or where it cannot be told
        _text("reason"),  # why there is no verdict, or what it abstains on
    ),
    # a file of traces that somebody else wrote, line by line as it was, and what is wrong with its lines
    "submissions": _schema(_key("number", pa.int32()), _key("line")),
    "problems": _schema(_key("number", pa.int32()), _key("problem")),
    "checks": _schema(
        _key("trace_id"),
        _key("setting"),
        _key("number", pa.int32()),
        _key("name"),
        _key("area"),  # schema, state, trans, ans, faith
        _key("status"),
        _text("label"),
        _text("pointer"),
        _text("expected"),
        _text("found"),
        _text("rule"),
    ),
}

UNIQUE_KEYS: dict[str, tuple[str, ...]] = {
    "groups": ("group_id",),
    "trajectories": ("group_id", "variant"),
    "frames": ("group_id", "variant", "step"),
    "gate_results": ("group_id", "variant", "gate"),
    "images": ("image_id",),
    "items": ("uid",),
    "answers": ("uid",),
    "responses": ("uid", "judge", "replicate"),
    "canaries": ("judge", "canary"),
    "parsed": ("uid", "judge", "replicate"),
    "scores": ("uid", "judge", "replicate"),
    "metrics": ("judge", "world", "task", "representation", "slice", "metric", "protocol"),
    "comparisons": ("family", "judge", "against", "world", "task", "representation", "slice", "metric"),
    "findings": ("judge", "world", "task", "representation", "finding"),
    "changes": ("uid",),
    "read_shares": ("world", "task"),
    "shortcuts": ("kind", "task", "representation", "feature"),
    "traces": ("trace_id",),
    "pairs": ("pair_id",),
    "diagrams": ("trace_id", "moment"),
    "diagnostics": ("subject_id", "gate"),
    "submissions": ("number",),
    "verdicts": ("trace_id", "setting"),
    "checks": ("trace_id", "setting", "number"),
}


def conform(table: str, rows: pa.Table | Iterable[Mapping[str, Any]]) -> pa.Table:
    """`rows` as an Arrow table with exactly the schema of `table`.

    Raises TableError where a column is missing or unknown, a value has the wrong type, or a non-nullable value is null.
    """
    try:
        schema = SCHEMAS[table]
    except KeyError:
        raise TableError(f"no table is named {table!r}; there are {', '.join(SCHEMAS)}") from None
    try:
        if isinstance(rows, pa.Table):
            unknown = sorted(set(rows.column_names) - set(schema.names))
            if unknown:
                raise TableError(f"table {table!r} has no column {', '.join(unknown)}")
            missing = [name for name in schema.names if name not in rows.column_names]
            for name in missing:
                rows = rows.append_column(name, pa.nulls(len(rows), schema.field(name).type))
            result = rows.select(schema.names).cast(schema)
        else:
            rows = list(rows)
            known = set(schema.names)
            for row in rows:
                if not known.issuperset(row):
                    raise TableError(f"table {table!r} has no column {', '.join(sorted(set(row) - known))}")
            result = pa.Table.from_pylist(rows, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TableError(f"rows do not fit table {table!r}: {error}") from error
    for field in schema:
        if not field.nullable and result.column(field.name).null_count:
            raise TableError(f"table {table!r}: column {field.name!r} may not be null")
    return result


def check_unique(table: str, rows: pa.Table) -> None:
    """TableError naming the first repeated key, for tables that have one."""
    keys = UNIQUE_KEYS.get(table)
    if not keys or len(rows) < 2:
        return
    counts = rows.group_by(list(keys)).aggregate([([], "count_all")])
    repeated = counts.filter(pa.compute.greater(counts["count_all"], 1))
    if len(repeated):
        first = {key: repeated[key][0].as_py() for key in keys}
        raise TableError(f"table {table!r}: {len(repeated)} keys occur twice, the first is {first}")
