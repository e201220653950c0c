import io

import polars as pl
import pytest
from PIL import Image

from storage.tables import conform
from tasks.reports.figures import paper_figures
from tasks.reports.numbers import paper_files
from tasks.reports.tables import Table, paper_tables
from tasks.scoring import assess, grade
from tasks.scoring.simulation import Judge, exam, sit

JUDGES = [
    Judge("steady", full=6.0, cf=-6.0, spread=0.1, unread=0.05),
    Judge("eager_one", full=6.0, cf=6.0, spread=0.1),
    Judge("leaky", full=0.5, cf=-0.5, effects={"pos": 2.0, "neg": -2.0}, split=1.5),
]


def frames(answers, judges):
    made = assess(grade(answers, *sit(answers, judges, 1)), 500)
    return tuple(pl.from_arrow(conform(name, made[name])) for name in ("metrics", "comparisons"))


@pytest.fixture(scope="module")
def numbers():
    return frames(exam(), JUDGES)


def table(numbers, name):
    return next(table for table in paper_tables(*numbers, "simulated") if table.name == name)


def test_all_ten_tables_are_there(numbers):
    names = [table.name for table in paper_tables(*numbers, "simulated")]
    assert names == [f"table_{n}" for n in (2, 3, 4, 12, 13, 14, 15, 18, 19, 22)]


def test_counts_are_those_of_the_papers_design(numbers):
    judges = len(JUDGES)
    assert table(numbers, "table_18").frame["Exact pairs"].to_list() == [108 * judges] * 3
    assert table(numbers, "table_19").frame["Pairs"].to_list() == [162 * judges] * 3
    assert table(numbers, "table_22").frame["Groups"].to_list() == [18] * judges + [12] * judges
    fourteen = table(numbers, "table_14").frame
    counted = fourteen.select("Strict", "Recovered", "API error", "Truncated", "Refused", "Other unparsed", "Pending")
    assert counted.sum_horizontal().to_list() == [144] * judges


def test_tables_say_what_the_judges_are(numbers):
    two = {row["Judge"]: row for row in table(numbers, "table_2").frame.iter_rows(named=True)}
    assert two["eager_one"]["Deg. C/S"] == "SB/SB" and two["steady"]["Deg. C/S"] == "–/–"
    assert two["eager_one"]["IDR_raw C"] == 0 and two["steady"]["IDR_raw C"] == 1
    assert (
        two["steady"]["JAcc C"] <= 1 and two["steady"]["p_active C"] == 1
    )  # unread answers are wrong in the first only
    wins, ties, losses = map(int, table(numbers, "table_3").frame["W/T/L"][0].split("/"))
    assert wins + ties + losses == len(JUDGES)


def test_markdown_and_latex_are_well_formed(numbers):
    for one in paper_tables(*numbers, "simulated"):
        body = [line for line in one.markdown().splitlines() if line.startswith("|")]
        assert {line.count("|") for line in body} == {len(one.frame.columns) + 1}
        rows = [line for line in one.latex().splitlines() if line.endswith(r"\\")]
        assert {line.replace(r"\&", "").count("&") for line in rows} == {len(one.frame.columns) - 1}
        assert "eager_one" not in one.latex().replace(r"eager\_one", "")
        assert pl.read_parquet(io.BytesIO(one.parquet())).equals(one.frame)


def test_latex_escapes_what_it_must():
    made = Table("t", "50% & more", "a_b #1 {x} ~ ^ \\", pl.DataFrame({"$": ["–"]})).latex()
    for part in (r"50\% \& more", r"a\_b \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{}", r"\$", "--"):
        assert part in made


def test_a_run_without_a_task_leaves_its_tables_out():
    only_d = frames(exam(tasks="D"), JUDGES[:1])
    assert [one.name for one in paper_tables(*only_d, "simulated")] == ["table_13", "table_22"]
    assert paper_figures(*only_d, "simulated") == {}
    assert paper_tables(*only_d, "mars") == []


def test_figures_are_pictures_that_do_not_depend_on_color(numbers):
    made = paper_figures(*numbers, "simulated", dpi=60)
    assert list(made) == ["figure_3", "figure_4", "figure_5", "figure_13"]
    for png in made.values():
        picture = Image.open(io.BytesIO(png)).convert("RGB")
        red, green, blue = picture.split()
        assert red.tobytes() == green.tobytes() == blue.tobytes()
        assert len(picture.getcolors(1 << 20)) > 20


def test_files_are_named_by_world(numbers):
    files = paper_files(*numbers)
    assert {"tables/simulated/table_2.md", "tables/simulated/table_13.tex", "figures/simulated/figure_3.png"} <= set(
        files
    )
