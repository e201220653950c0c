"""The tables of paper 1 for whatever judges a run has: Tables 2, 3, 4, 12-15, 18, 19 and 22.

Each is a frame of text-ready columns with a caption that says what is counted; it is written as Parquet (numbers), Markdown
and LaTeX. A table for which a run has no data is left out. All of it is read from the tables `metrics` and `comparisons`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

POOLED = "(all judges)"
DEGENERATE = {"all_fail": "AF", "success_biased": "SB"}
VARIANTS = (("full", "Full"), ("nocue", "NoCue"), ("cf", "CF"))
PROBES = (("noise", "Noise"), ("style", "Style"), ("reversal", "Temporal reversal"))
READ_AS = "what was not read counts as wrong"


@dataclass(frozen=True)
class Table:
    """`name` such as `table_2`; `frame` holds numbers and text, null where there is nothing to say."""

    name: str
    title: str
    caption: str
    frame: pl.DataFrame
    signed: tuple[str, ...] = ()  # columns shown with their sign

    def shown(self, missing: str = "–") -> list[list[str]]:
        return [
            [_text(value, name in self.signed, missing) for name, value in zip(self.frame.columns, row, strict=True)]
            for row in self.frame.iter_rows()
        ]

    def markdown(self) -> str:
        head = "| " + " | ".join(self.frame.columns) + " |"
        rule = "|" + "|".join(":--" if kind == pl.String else "--:" for kind in self.frame.dtypes) + "|"
        body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in self.shown()]
        return "\n".join([f"**{self.title}.** {self.caption}", "", head, rule, *body, ""])

    def latex(self) -> str:
        columns = "".join("l" if kind == pl.String else "r" for kind in self.frame.dtypes)
        rows = [" & ".join(_latex(cell) for cell in row) + r" \\" for row in self.shown("--")]
        head = " & ".join(_latex(name) for name in self.frame.columns) + r" \\"
        return "\n".join(
            [
                r"\begin{table}[t]",
                r"\centering\small",
                rf"\caption{{\textbf{{{_latex(self.title)}.}} {_latex(self.caption)}}}",
                rf"\label{{tab:{self.name}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                head,
                r"\midrule",
                *rows,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def parquet(self) -> bytes:
        buffer = io.BytesIO()
        self.frame.write_parquet(buffer)
        return buffer.getvalue()


def _text(value: Any, signed: bool, missing: str) -> str:
    if value is None:
        return missing
    if isinstance(value, float):
        return f"{value:+.3f}" if signed else f"{value:.3f}"
    return str(value)


_ESCAPES = {
    **{"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "–": "--", "Δ": r"$\Delta$"},
}


def _latex(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


class Numbers:
    """Looks up the metrics of one world over all items. Tasks other than C have one representation, whatever its name."""

    def __init__(self, metrics: pl.DataFrame, comparisons: pl.DataFrame, world: str):
        rows = metrics.filter(pl.col("world") == world)
        self.comparisons = comparisons.filter(pl.col("world") == world)
        self.judges = sorted(set(rows["judge"]) - {POOLED})
        self._rows = {
            (row["judge"], row["task"], self._kind(row), row["metric"], row["protocol"], row["slice"]): row
            for row in rows.iter_rows(named=True)
        }
        self.tasks = sorted(set(rows["task"]))

    @staticmethod
    def _kind(row: dict[str, Any]) -> str:
        representation = row["representation"] or ""
        return representation if row["task"] == "C" or "/" in representation else ""

    def row(
        self,
        judge: str,
        task: str,
        metric: str,
        representation: str = "",
        protocol: str = "all",
        slice_name: str = "all",
    ) -> dict[str, Any]:
        """The row of `metrics`; an empty one where there is none."""
        return self._rows.get((judge, task, representation, metric, protocol, slice_name), {})

    def value(self, *args: Any, **kwargs: Any) -> float | None:
        return self.row(*args, **kwargs).get("value")

    def envs(self, task: str) -> list[str]:
        found = {key[5].removeprefix("env=") for key in self._rows if key[1] == task and key[5].startswith("env=")}
        return sorted(found)


def _interval(row: dict[str, Any], low: str, high: str) -> str | None:
    if row.get(low) is None:
        return None
    return f"[{row[low]:.3f}, {row[high]:.3f}]"


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def _regime(numbers: Numbers, judge: str, representation: str) -> str:
    return DEGENERATE.get(numbers.row(judge, "C", "p_active", representation).get("flag") or "", "–")


def table_2(numbers: Numbers) -> Table | None:
    rows = []
    for judge in numbers.judges:
        row: dict[str, Any] = {"Judge": judge}
        for short, representation in (("C", "composite"), ("S", "split")):
            row[f"JAcc {short}"] = numbers.value(judge, "C", "JAcc_neu", representation)
            row[f"p_active {short}"] = numbers.value(judge, "C", "p_active", representation, "eligible")
            row[f"IDR_raw {short}"] = numbers.value(judge, "C", "IDR_raw", representation, "eligible")
        row["VCC_rep"] = numbers.value(judge, "C", "VCC_rep", "composite/split", "eligible")
        row["Deg. C/S"] = "/".join(_regime(numbers, judge, name) for name in ("composite", "split"))
        rows.append(row)
    return Table(
        "table_2",
        "Table 2: Task C under Composite (C) and Split (S) evidence",
        f"JAcc over all groups ({READ_AS}); p_active and IDR_raw over the groups whose Full and CF verdicts were both read; "
        "VCC_rep over all matched items. AF: all-fail, SB: success-biased, –: neither.",
        _frame(rows),
    )


def table_3(numbers: Numbers) -> Table | None:
    tests = numbers.comparisons.filter(
        (pl.col("task") == "C") & pl.col("family").str.starts_with("representation across judges")
    )
    rows = []
    for test in tests.iter_rows(named=True):
        metric = test["metric"]
        both = [
            (numbers.value(judge, "C", metric, "composite"), numbers.value(judge, "C", metric, "split"))
            for judge in numbers.judges
        ]
        defined = [(one, two) for one, two in both if one is not None and two is not None]
        if not defined:
            continue
        changes = pl.Series([two - one for one, two in defined])
        wins, losses = test["only_first"], test["only_second"]
        rows.append(
            {
                "Metric": metric,
                "Composite mean": float(pl.Series([one for one, _ in defined]).mean()),  # type: ignore[arg-type]
                "Split mean": float(pl.Series([two for _, two in defined]).mean()),  # type: ignore[arg-type]
                "Mean Δ": float(changes.mean()),  # type: ignore[arg-type]
                "Median Δ": float(changes.median()),  # type: ignore[arg-type]
                "W/T/L": f"{wins}/{test['n_pairs'] - wins - losses}/{losses}",
                "p": test["p_value"],
            }
        )
    return Table(
        "table_3",
        "Table 3: Composite and Split across judges",
        f"Means over judges, Δ = Split - Composite, all groups ({READ_AS}). W/T/L counts judges; for IDR_cond those with ten "
        "active groups or more under both. p: Wilcoxon's signed-rank test.",
        _frame(rows),
        ("Mean Δ", "Median Δ"),
    )


def table_4(numbers: Numbers) -> Table | None:
    rows = [
        {
            "Judge": judge,
            "B_Acc": numbers.value(judge, "B", "B_Acc"),
            "E_Acc": numbers.value(judge, "E", "E_Acc"),
            "Acc_A1": numbers.value(judge, "A", "Acc_A1"),
            "Δ shuffle": numbers.value(judge, "A", "delta_shuffle"),
            "Δ mask": numbers.value(judge, "A", "delta_mask"),
        }
        for judge in numbers.judges
    ]
    return Table(
        "table_4",
        "Table 4: Local controls",
        f"B_Acc: share of scenes with a score of 0.90 or more; Δ: accuracy with the true action minus without; {READ_AS}.",
        _frame(rows),
        ("Δ shuffle", "Δ mask"),
    )


def table_12(numbers: Numbers) -> Table | None:
    rows = []
    for judge in numbers.judges:
        found = numbers.row(judge, "C", "VCC_rep_full_cf", "composite/split", "eligible")
        interval = _interval(found, "ci_low", "ci_high")
        rows.append(
            {"Judge": judge, "VCC_rep": found.get("value"), "95% interval": interval, "Pairs": found.get("n_ok")}
        )
    return Table(
        "table_12",
        "Table 12: Agreement of Composite and Split",
        "Share of matched Full and CF items with the same verdict under both, among items read under both.",
        _frame(rows),
    )


def table_13(numbers: Numbers) -> Table | None:
    rows = []
    for judge in numbers.judges:
        raw, active = numbers.row(judge, "D", "IDR_raw"), numbers.row(judge, "D", "p_active")
        rows.append(
            {
                "Judge": judge,
                "p_active": active.get("value"),
                "IDR_raw": raw.get("value"),
                "Group 95% CI": _interval(raw, "boot_low", "boot_high"),
                "Env. 95% CI": _interval(raw, "env_low", "env_high"),
                "Score 95% CI": _interval(raw, "ci_low", "ci_high"),
                "Groups": raw.get("n_groups"),
            }
        )
    return Table(
        "table_13",
        "Table 13: Reference-aided Task D",
        f"All Full/CF groups ({READ_AS}). Percentile bootstrap over groups and over environments; the score interval is "
        "Wilson's, or exact at 0 and 1.",
        _frame(rows),
    )


def table_14(numbers: Numbers) -> Table | None:
    rows = []
    for judge in numbers.judges:
        planned = numbers.row(judge, "B", "share_parsed").get("n_planned")
        if planned is None:
            continue

        def count(name: str, judge: str = judge, planned: int = planned) -> int:
            return round((numbers.value(judge, "B", f"share_{name}") or 0.0) * planned)

        rows.append(
            {
                "Judge": judge,
                "Planned": planned,
                "Strict": count("strict"),
                "Recovered": count("recovered"),
                "API error": count("api_error"),
                "Truncated": count("truncated"),
                "Refused": count("refused"),
                "Other unparsed": count("unparsed"),
                "Pending": count("pending"),
                "Acc@0.90": numbers.value(judge, "B", "B_Acc"),
                "Mean, all": numbers.value(judge, "B", "B_MeanScore"),
                "Mean, parsed": numbers.value(judge, "B", "B_MeanScore", protocol="eligible"),
            }
        )
    return Table(
        "table_14",
        "Table 14: Task B output compliance",
        "What became of every planned item; the mean over all counts what was not read as 0.",
        _frame(rows),
    )


def table_15(numbers: Numbers) -> Table | None:
    names = {"position": "Position", "carrying": "Carrying", "front_cell": "Front cell", "objects": "Object Jaccard"}
    rows = [
        {"Judge": judge, "Parsed": numbers.row(judge, "B", "B_position", protocol="eligible").get("n_ok")}
        | {shown: numbers.value(judge, "B", f"B_{name}", protocol="eligible") for name, shown in names.items()}
        for judge in numbers.judges
    ]
    return Table(
        "table_15",
        "Table 15: Task B components",
        "Over parsed items only: judges with few of them are not comparable with the rest.",
        _frame(rows),
    )


def table_18(numbers: Numbers) -> Table | None:
    items = numbers.comparisons.filter(
        pl.col("family").str.starts_with("probes:") & (pl.col("task") == "C") & (pl.col("judge") != POOLED)
    )
    rows = []
    for kind, shown in PROBES:
        some = items.filter(pl.col("slice") == f"{kind} all")
        if not len(some):
            continue
        pairs, lost, won = (int(some[name].sum()) for name in ("n_pairs", "only_second", "only_first"))
        least = items.filter(pl.col("slice").str.starts_with(f"{kind} ") & pl.col("p_holm").is_not_null())[
            "p_holm"
        ].min()
        rows.append(
            {
                "Probe": shown,
                "Exact pairs": pairs,
                "Degradation": lost,
                "Rescue": won,
                "Δ Acc.": (won - lost) / pairs,
                "Correctness flip": (won + lost) / pairs,
                "Least p (Holm)": least,
            }
        )
    return Table(
        "table_18",
        "Table 18: Matched presentation effects",
        "Every probe item of Task C beside its baseline, over all judges, variants and representations. Holm's correction "
        "runs over all judge, probe, variant and representation cells.",
        _frame(rows),
        ("Δ Acc.",),
    )


def table_19(numbers: Numbers) -> Table | None:
    items = numbers.comparisons.filter(pl.col("family").str.starts_with("representation:") & (pl.col("task") == "C"))
    judge = POOLED if len(numbers.judges) > 1 else (numbers.judges or [""])[0]
    rows = []
    for variant, shown in VARIANTS:
        some = items.filter((pl.col("slice") == variant) & (pl.col("judge") == judge)).to_dicts()
        if not some:
            continue
        row = some[0]
        rows.append(
            {
                "Variant": shown,
                "Pairs": row["n_pairs"],
                "Verdict flip": numbers.value(judge, "C", f"verdict_flip_{variant}", "composite/split", "eligible"),
                "Gain / Loss": f"{row['only_first']} / {row['only_second']}",
                "Δ Accuracy": row["difference"],
                "95% interval": _interval(row, "ci_low", "ci_high"),
            }
        )
    return Table(
        "table_19",
        "Table 19: Composite to Split by outcome",
        "Flips are changed verdicts among items read under both; gains and losses are changes in correctness, "
        f"{READ_AS}; the interval is over trajectory groups.",
        _frame(rows),
        ("Δ Accuracy",),
    )


def table_22(numbers: Numbers) -> Table | None:
    rows = []
    for task, representation in (("C", "composite"), ("D", "")):
        for judge in numbers.judges:
            raw = numbers.row(judge, task, "IDR_raw", representation)
            if not raw:
                continue
            rows.append(
                {
                    "Task": task,
                    "Judge": judge,
                    "Groups": raw["n_groups"],
                    "p_active": numbers.value(judge, task, "p_active", representation),
                    "CF rejected": numbers.value(judge, task, "Acc_cf", representation),
                    "IDR_raw": raw["value"],
                    "Group 95% CI": _interval(raw, "boot_low", "boot_high"),
                    "Env. 95% CI": _interval(raw, "env_low", "env_high"),
                    "IDR_cond": numbers.value(judge, task, "IDR_cond", representation),
                }
            )
    return Table(
        "table_22",
        "Table 22: Paired diagnostics with clustered uncertainty",
        f"All complete groups ({READ_AS}); C under Composite. Percentile bootstrap over groups and over environments.",
        _frame(rows),
    )


def table_25(numbers: Numbers) -> Table | None:
    """Of exams with one alternative framing; those with more have Tables 2 and 14 to 19."""
    rows = []
    for judge in numbers.judges:
        if not any(
            numbers.row(judge, task, "delta_acc_positive", kind) for task, kind in (("C", "composite"), ("D", ""))
        ):
            continue
        if any(numbers.row(judge, task, "delta_acc_negative", kind) for task, kind in (("C", "composite"), ("D", ""))):
            continue
        row: dict[str, Any] = {"Judge": judge, "Acc_A": numbers.value(judge, "A", "Acc_A1")}
        for task, kind in (("C", "composite"), ("D", "")):
            row[f"Acc_{task}"] = numbers.value(judge, task, "Acc", kind, slice_name="framing=neu")
            row[f"Δ frame {task}"] = numbers.value(judge, task, "delta_acc_positive", kind)
            row[f"IDR_raw {task}"] = numbers.value(judge, task, "IDR_raw", kind)
        rows.append(row)
    if not rows:
        return None
    return Table(
        "table_25",
        "Table 25: Accuracy, framing and, beyond the paper, paired discrimination",
        f"Acc_C and Acc_D over all variants under neutral framing, Composite ({READ_AS}); Δ frame is the change of accuracy "
        "under the alternative framing over the same Full and CF trajectories; IDR_raw over Full/CF groups.",
        _frame(rows),
        signed=("Δ frame C", "Δ frame D"),
    )


BUILDERS: tuple[Callable[[Numbers], Table | None], ...] = (
    table_2,
    table_3,
    table_4,
    table_12,
    table_13,
    table_14,
    table_15,
    table_18,
    table_19,
    table_22,
    table_25,
)


def paper_tables(metrics: pl.DataFrame, comparisons: pl.DataFrame, world: str) -> list[Table]:
    """The paper's tables for one world, without those for which there are no numbers."""
    numbers = Numbers(metrics, comparisons, world)
    return [table for build in BUILDERS if (table := build(numbers)) is not None and _says_something(table.frame)]


def _says_something(frame: pl.DataFrame) -> bool:
    numeric = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    return len(frame) > 0 and any(frame[name].null_count() < len(frame) for name in numeric)


def table_files(tables: Iterable[Table]) -> dict[str, bytes]:
    """File name -> content: each table as Parquet, Markdown and LaTeX."""
    files: dict[str, bytes] = {}
    for table in tables:
        files[f"{table.name}.parquet"] = table.parquet()
        files[f"{table.name}.md"] = table.markdown().encode()
        files[f"{table.name}.tex"] = table.latex().encode()
    return files
