import subprocess
import sys

import polars as pl
import pytest

from storage.tables import SCHEMAS
from tasks.audit import SHORTCUTS, Audit, audit_release
from tasks.errors import BadInput
from tasks.scoring.simulation import Judge, exam
from tasks.stage import Ref, produce
from tests.audit.test_shortcuts import noise, release_of

ANSWERS = exam(groups_d=12, items_a=24, items_b=24, tasks="ABDE")
EMPTY = {table: pl.DataFrame(pl.from_arrow(SCHEMAS[table].empty_table())) for table in ("responses", "parsed")}


def sat(store, answers, judges):
    """Inputs of the stage: each judge's (responses, parsed) in the store."""
    writer = store.writer("answers", "a")
    writer.add("answers", answers)
    writer.commit(1, {}, {"release": "r"})
    inputs = {"release": Ref("release", "r"), "answers": Ref("answers", "a")}
    for name, tables in judges.items():
        for stage, table, rows in zip(("inference", "parsing"), ("responses", "parsed"), tables, strict=True):
            writer = store.writer(stage, name)
            writer.add(table, rows)
            writer.commit(1, {}, {})
            inputs[f"{table}.{name}"] = Ref(stage, name)
    return inputs


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    planted = lambda rng, row: [noise(rng, 24 + 2 * (row["gold"] == "fail"))]  # noqa: E731
    return release_of(folder, ANSWERS, planted)


def test_an_audit_is_rebuilt_from_its_artifact(release):
    judge = Judge("j", full=9.0, cf=9.0, spread=0.0)
    inputs = sat(
        release.store, ANSWERS, {"j": judge.answer(ANSWERS), "mute": Judge("mute", unread=1.0).answer(ANSWERS)}
    )
    made = produce(release.store.location, SHORTCUTS, "all", {"seed": 0}, inputs)
    rebuilt = Audit.read(release.store.get("shortcuts", made.ref.key))
    responses, parsed = judge.answer(ANSWERS)
    direct = audit_release(release, ANSWERS, {"j": responses}, 0, {"j": parsed})
    assert rebuilt.exam == release.key and rebuilt.shortcuts == direct.shortcuts
    assert rebuilt.action == direct.action and rebuilt.action.plausible == {3: 24}
    assert rebuilt.judges["j"] == direct.judges["j"]
    assert ("D", "picture size") in {(one.task, one.feature) for one in rebuilt.shortcuts if one.flagged}
    reached = rebuilt.judges["j"]["D"]
    assert reached.score == pytest.approx(2 / 3, abs=0.01) and reached.groups == 12
    assert reached.low < reached.score < reached.high
    again = Audit("r", rebuilt.shortcuts, rebuilt.action, rebuilt.judges)
    assert again.as_text() == rebuilt.as_text() and "Task A: without the action" in rebuilt.as_text()


def test_missing_is_missing(release):
    """Nobody who answered nothing, or unreadably, or one task only, has a 0 for it; nor does one of them stop the audit."""
    some = Judge("some", full=9.0, spread=0.0).answer(ANSWERS)
    partial = tuple(table.filter(pl.col("uid").str.starts_with("D.")) for table in some)
    judges = {"partial": partial, "silent": (EMPTY["responses"], EMPTY["parsed"])}
    judges["unreadable"] = Judge("unreadable", unread=1.0).answer(ANSWERS)
    inputs = sat(release.store, ANSWERS, judges)
    made = produce(release.store.location, SHORTCUTS, "all", {"seed": 0}, inputs)
    audit = Audit.read(release.store.get("shortcuts", made.ref.key))
    assert audit.as_dict()["judges"]["silent"] == dict.fromkeys("ABDE")
    assert audit.judges["silent"]["D"].reason == "it answered nothing"
    assert audit.judges["unreadable"]["D"].reason == "none of 144 answers could be read"
    assert audit.judges["partial"]["D"].score > 0.5 and audit.judges["partial"]["A"].score is None
    assert audit.as_dict()["missing"]["partial"].keys() == set("ABE")
    assert "A n/a (it answered nothing)" in audit.as_text()


def test_one_unreadable_answer_from_elsewhere_does_not_end_the_audit(release):
    """Nothing that was read: the column of values is all null. And nothing at all: there is no column."""
    uid = ANSWERS.filter(pl.col("task") == "B")["uid"][0]
    row = {"uid": uid, "judge": "import", "replicate": 0, "status": "ok", "text": "no scene at all"}
    given = EMPTY["responses"].vstack(pl.DataFrame([row], schema=EMPTY["responses"].schema))
    audit = audit_release(release, ANSWERS, {"import": given, "none": EMPTY["responses"]})
    assert audit.judges["none"]["B"].reason == "it answered nothing"
    assert audit.judges["import"]["B"].reason == "none of 1 answers could be read"


def test_answers_that_were_not_read_are_refused(release):
    inputs = sat(release.store, ANSWERS, {"j": Judge("j").answer(ANSWERS)})
    del inputs["parsed.j"]
    with pytest.raises(BadInput, match="not of the same judges: j"):
        produce(release.store.location, SHORTCUTS, "all", {"seed": 0}, inputs)


def test_who_only_names_the_stage_loads_no_classifiers():
    code = "import sys, tasks.audit; sys.exit('sklearn' in sys.modules or 'PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
