import polars as pl
import pytest

from tasks.errors import BadInput, StageFailed
from tasks.questions import QUESTIONS, Question, grade_equal, unreadable
from tasks.scoring import assess, grade, headline_metrics, measure, metrics_at_a_glance
from tasks.scoring.families import FAMILIES, families_of, metrics_of
from tasks.scoring.family import MetricFamily
from tasks.scoring.simulation import Judge, exam, sit
from tasks.statistics import Metric, by_name, parts


@pytest.fixture
def offered():
    """Puts things into registries for one test."""
    put = []

    def offer(registry, name, thing):
        put.append((registry, name))
        registry.register(name, thing)

    yield offer
    for registry, name in put:
        registry._registered.pop(name, None)


def test_headlines_in_their_order():
    verdicts = ("JAcc_neu", "Acc_nocue", "Acc_cf", "SuccC", "p_active", "IDR_raw", "IDR_cond")
    verdicts += ("JCR_temporal", "JCR_visual", "JCR_framing")
    assert headline_metrics("C") == headline_metrics("D") == verdicts
    assert headline_metrics("A") == ("Acc_A1", "delta_shuffle", "delta_mask")
    ours = (*verdicts, *headline_metrics("A"), "B_MeanScore", "B_Acc", "E_Acc")
    assert tuple(metric for metric in headline_metrics() if metric in ours) == ours
    assert {task: metrics_at_a_glance(task) for task in "ABCDE"} == {
        "A": ("Acc_A1", "delta_shuffle", "delta_mask"),
        "B": ("B_MeanScore", "B_Acc"),
        "C": ("JAcc_neu", "Acc_full", "Acc_nocue", "Acc_cf", "IDR_raw", "p_active", "VCC_rep"),
        "D": ("JAcc_neu", "IDR_raw"),
        "E": ("E_Acc",),
    }


def test_every_metric_that_is_measured_has_a_record_and_says_what_it_counts():
    answers = exam(groups_c=4, groups_d=4, items_a=8, items_b=4)
    graded = grade(answers, *sit(answers, [Judge("one"), Judge("two", full=0.0)]))
    for row in measure(graded, 50):
        record = by_name(metrics_of(families_of(row["task"])))(row["metric"])
        assert record.counts and record.source
        assert (record.interval is None) == row["metric"].startswith(("LES_", "d_logit_", "effect_", "odds_ratio_"))
        if row["ci_method"] and row["metric"].startswith("delta_"):
            assert row["ci_method"] == "adjusted" and record.interval == "difference"
        resampled = row["boot_low"] is not None
        assert not resampled or record.resampled


def test_the_longest_pattern_that_fits_is_the_record():
    record_of = by_name([Metric("a_*", "", ""), Metric("a_b_*", "", ""), Metric("a_b_c", "", "")])
    assert [record_of(name).name for name in ("a_x", "a_b_x", "a_b_c")] == ["a_*", "a_b_*", "a_b_c"]
    with pytest.raises(StageFailed, match="'b' has no record"):
        record_of("b")


def test_families_are_chosen_by_the_kind_of_question():
    assert [family.name for family in families_of("D")] == [
        *("judging", "stability", "exchange", "leakage"), *("compliance", "retest"),
    ]  # fmt: skip
    assert [family.name for family in families_of("E")] == ["tracking", "compliance", "retest"]
    assert all(FAMILIES[name].name == name for name in FAMILIES)


def test_an_unknown_task_is_refused_by_name():
    """It used to be measured as Task E."""
    with pytest.raises(BadInput, match=r"'Q'.*A, B, C, D, E"):
        headline_metrics("Q")
    answers = exam(groups_d=2, tasks="D").with_columns(task=pl.lit("Q"))
    with pytest.raises(BadInput, match="'Q'"):
        grade(answers, *Judge("j").answer(exam(groups_d=2, tasks="D")))


def test_a_kind_of_question_and_a_family_from_outside(offered):
    """A new kind with a family of its own, and families that read every kind."""
    question = Question(
        name="echo",
        formats={"echo": None},
        exam_tasks={"X": "echo"},
        parse=lambda text, answer_format, policy, think_tags: unreadable("never"),
        grade=grade_equal,
        wrong=pl.lit("no_echo"),
        columns={"loud": pl.col("value").str.to_uppercase() == pl.col("value")},
    )
    family = MetricFamily(
        name="echo",
        order=75,
        questions=("echo",),
        metrics=(Metric("Echo", "answers that repeat gold", "here", compared=1), Metric("loud_*", "", "", resampled=False)),
        parts=lambda rows: [
            parts.rates(rows, "Echo", pl.col("correct")), parts.rates(rows, "loud_all", pl.col("loud")),
        ],
    )  # fmt: skip
    offered(QUESTIONS, "echo", question)
    offered(FAMILIES, "echo", family)
    rows = [
        {"uid": f"X.{n}", "task": "X", "world": "w", "env": "e", "env_id": "e", "group_id": f"g{n}", "gold": "a"}
        for n in range(4)
    ]
    answers = pl.DataFrame(rows).with_columns(
        *(pl.lit(None, pl.String).alias(name) for name in ("variant", "temporal", "visual", "framing")),
        *(pl.lit(None, pl.String).alias(name) for name in ("representation", "condition", "companion_of")),
    )
    key = answers.select("uid", judge=pl.lit("j"), replicate=pl.lit(0, pl.Int32))
    said = key.with_columns(value=pl.Series(["a", "a", "A", None]), reason=pl.lit(None, pl.String))
    mode = pl.when(pl.col("value").is_null()).then(pl.lit("none")).otherwise(pl.lit("strict"))
    graded = grade(answers, key.with_columns(status=pl.lit("ok")), said.with_columns(parse_mode=mode))
    assert graded["loud"].to_list() == [False, False, True, None]
    assert graded["failure"].to_list() == [None, None, "no_echo", "unparsed: no answer"]
    made = {row["metric"]: row for row in assess(graded, 50)["metrics"] if row["slice"] == row["protocol"] == "all"}
    assert made["Echo"]["value"] == 0.5 and made["loud_all"]["value"] == 0.25 and made["loud_all"]["boot_low"] is None
    assert made["share_parsed"]["value"] == 0.75
    offered(FAMILIES, "echo", MetricFamily("echo", 75, ("echo",), (), parts=family.parts))
    with pytest.raises(StageFailed, match="'Echo' has no record"):
        measure(graded, 50)


def test_a_task_that_only_the_common_families_read(offered):
    """Nothing to compare is no comparison, not an error and not another task's metric."""
    answers = exam(groups_d=3, tasks="D").with_columns(task=pl.lit("X"))
    responses, parsed = sit(exam(groups_d=3, tasks="D"), [Judge("one"), Judge("two")])
    plain = Question(
        "plain", {"plain": None}, {"X": "plain"}, lambda *_: unreadable("never"), grade_equal, pl.lit("no")
    )
    offered(QUESTIONS, "plain", plain)
    made = assess(grade(answers, responses, parsed), 50)
    assert {row["metric"].split("_")[0] for row in made["metrics"]} == {"share"}
    assert made["comparisons"] == [] and made["findings"] == []


def test_compliance_counts_a_repeated_question_once():
    """Task A's ablations repeat an item in its own representation; Task C's split pictures stand in another."""
    answers = exam(groups_c=1, items_a=8, tasks="AC")
    graded = grade(answers, *Judge("j").answer(answers))
    planned = {
        (row["task"], row["representation"]): row["n_planned"]
        for row in measure(graded, 50)
        if row["metric"] == "share_parsed" and row["slice"] == "all"
    }
    assert planned == {("A", None): 8, ("C", "composite"): 27, ("C", "split"): 27}


def test_an_answer_that_was_cut_off_is_worth_nothing_even_where_something_was_read():
    answers = exam(groups_d=1, tasks="D").head(2)
    responses, parsed = Judge("j", full=9.0, spread=0.0).answer(answers)
    responses = responses.with_columns(status=pl.Series(["ok", "truncated"]))
    graded = grade(answers, responses, parsed)
    for name, read in (("score", 1.0), ("correct", True), ("yes", True), ("failure", None)):
        assert graded[name].to_list() == [read, "truncated" if name == "failure" else None], name
