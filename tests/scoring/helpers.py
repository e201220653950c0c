import csv
from pathlib import Path

import polars as pl

from storage.tables import SCHEMAS
from tasks.scoring import assess, grade

DATA = Path(__file__).parent.parent / "data"
VERDICT = {"s": "success", "f": "fail", "-": None}
RULES = {"published": 0, "robust": 1, "leading": 2}
INDEX = ("uid", "env", "group_id", "variant", "temporal", "visual", "framing", "gold")


def read_csv(name):
    with open(DATA / name, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def published_exam():
    """(answers, table) of the public release: the table has a column a judge, a letter a rule."""
    table = read_csv("taskd_verdicts.csv")
    rows = [
        {**dict.fromkeys(SCHEMAS["answers"].names), **{name: row[name] for name in INDEX}}
        | {"task": "D", "world": "published", "env_id": row["env"]}
        for row in table
    ]
    return pl.DataFrame(rows, schema=pl.from_arrow(SCHEMAS["answers"].empty_table()).schema), table


def published_graded(rule):
    answers, table = published_exam()
    judges = [name for name in table[0] if name not in INDEX]
    values = [(row["uid"], judge, VERDICT[row[judge][RULES[rule]]]) for row in table for judge in judges]
    frame = pl.DataFrame(values, schema={"uid": pl.String, "judge": pl.String, "value": pl.String}, orient="row")
    frame = frame.with_columns(replicate=pl.lit(0, pl.Int32), status=pl.lit("ok"))
    mode = pl.when(pl.col("value").is_null()).then(pl.lit("none")).otherwise(pl.lit("strict"))
    return grade(
        answers, frame.drop("value"), frame.drop("status").with_columns(parse_mode=mode, reason=pl.lit(None, pl.String))
    )


def keyed(metrics):
    return {(m["judge"], m["task"], m["representation"], m["metric"], m["protocol"], m["slice"]): m for m in metrics}


def assessed(graded, resamples=2000):
    made = assess(graded, resamples)
    return made, keyed(made["metrics"])
