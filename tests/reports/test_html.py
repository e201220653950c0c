"""The report: whole, offline, safe against what judges write, and honest about what is missing."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
import shutil
import subprocess
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import Store
from tasks.reports import write_report
from tasks.reports.html import embedded_json
from tasks.reports.material import Material
from tasks.reports.viewer import choose_pictures, longest_shown, shortened
from tests.conftest import Generated
from tests.reports.conftest import ANSWERED_BEFORE_THE_END, ATTACK, HOSTILE_NAME, record

Run = tuple[Store, dict[str, Any]]


class Page(html.parser.HTMLParser):
    """The elements of a page with their attributes, the text outside scripts, and the scripts."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self._inside != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @cached_property
    def data(self) -> dict[str, Any]:
        return json.loads(next(text for attributes, text in self.scripts if attributes.get("id") == "data"))

    @property
    def code(self) -> list[str]:
        return [text for attributes, text in self.scripts if "type" not in attributes]

    @cached_property
    def pictures(self) -> dict[int, bytes]:
        return {
            int(attributes["id"][1:]): base64.b64decode(text)  # type: ignore[index]
            for attributes, text in self.scripts
            if attributes.get("type") == "text/plain"
        }


def read(store: Store, path: str) -> str:
    return store.files.read(path).decode()


@pytest.fixture(scope="module")
def page(finished: Run) -> Page:
    store, run = finished
    return Page(read(store, write_report(store, run)))


def test_the_report_lies_in_the_folder_of_its_run(finished: Run) -> None:
    store, run = finished
    assert write_report(store, run) == f"runs/{run['id']}/report.html"


def test_nothing_is_loaded_from_elsewhere(page: Page) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:image/")), (tag, name, value[:80])
    style = next(attributes for tag, attributes in page.elements if tag == "meta" and "http-equiv" in attributes)
    assert style["content"].startswith("default-src 'none'")  # type: ignore[union-attr]


def test_what_a_judge_writes_stays_text(page: Page) -> None:
    expected = {"script": len(page.pictures) + 2}
    assert sum(tag == "script" for tag, _ in page.elements) == expected["script"]
    assert not [tag for tag, attributes in page.elements if any(name.startswith("on") for name in attributes)]
    assert ATTACK in page.data["strings"]
    assert HOSTILE_NAME in [seat["judge"] for seat in page.data["seats"]]
    assert HOSTILE_NAME in page.text


def test_only_the_script_of_the_page_may_run(page: Page) -> None:
    (code,) = page.code
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = next(
        attributes["content"] for tag, attributes in page.elements if tag == "meta" and "http-equiv" in attributes
    )
    assert f"script-src 'sha256-{digest}'" in (policy or "")
    assert "innerHTML" not in code and "document.write" not in code and "eval(" not in code


@settings(max_examples=60)
@given(st.text() | st.sampled_from(["</script>", "<!--", "<![CDATA[", "\u2028"]))
def test_no_text_ends_the_element_that_holds_it(text: str) -> None:
    made = embedded_json({"strings": [text]})
    assert "<" not in made
    assert json.loads(made) == {"strings": [text]}


def test_every_picture_is_there_once_and_as_the_judge_got_it(page: Page, finished: Run) -> None:
    material = Material.of(*finished)
    png = dict(
        zip(*(pl.concat([pl.from_arrow(t) for t in material.images])[c] for c in ("image_id", "png")), strict=True)
    )  # type: ignore[misc]
    assert sorted(page.pictures) == list(range(len(png)))
    numbers = dict(zip(page.data["items"]["uid"], page.data["items"]["pictures"], strict=True))
    for uid, image_ids in material.items.select("uid", "image_ids").iter_rows():
        assert [page.pictures[number] for number in numbers[uid]] == [png[image_id] for image_id in image_ids]


def test_pictures_of_wrong_items_come_first_when_not_all_fit(finished: Run) -> None:
    store, run = finished
    material = Material.of(store, run)
    whole = sum(size for *_, size in choose_pictures(material, 10**12).rows)
    some = choose_pictures(material, whole // 4)
    sizes = {image_id: size for image_id, _, _, size in some.rows}
    assert 0 < sum(sizes[image_id] for image_id in some.embedded) <= whole // 4
    first_wrong = (
        material.scores.filter((pl.col("judge") == "yes-sayer") & ~pl.col("correct"))
        .join(material.items, on="uid")
        .group_by("task", maintain_order=True)
        .first()
    )
    assert len(first_wrong) >= 4
    for image_ids in first_wrong["image_ids"]:
        assert set(image_ids) <= some.embedded
    page = Page(read(store, write_report(store, run, whole // 4)))
    assert len(page.pictures) == len(some.embedded)
    assert f"{len(some.embedded):,} of {len(some.rows):,} pictures are in this file" in page.text
    embedded = [bool(picture[3]) for picture in page.data["pictures"]]
    assert sum(embedded) == len(some.embedded)


def test_a_long_answer_is_shortened_and_says_so(page: Page, finished: Run) -> None:
    longest = max(page.data["strings"], key=len)
    assert len(longest) < 30_000
    assert longest.endswith("the end")
    assert "of 1,000,008 characters are not shown" in longest


@given(st.text(max_size=300), st.integers(10, 100))
def test_shortening_keeps_beginning_and_end(text: str, longest: int) -> None:
    shown = shortened(text, longest)
    assert shown is not None
    if len(text) <= longest:
        assert shown == text
    else:
        assert shown.startswith(text[: longest // 2]) and shown.endswith(text[-longest // 4 :])
        assert f"{len(text) - longest:,} of {len(text):,} characters" in shown


def test_many_long_answers_are_cut_shorter() -> None:
    texts = pl.Series([None] + [f"{n:04}" + "y" * 10_000 for n in range(100)])
    assert longest_shown(texts, budget=10**7) == 20_000
    assert longest_shown(texts, budget=500_000) == 4_000
    assert longest_shown(pl.concat([texts, texts]), budget=500_000) == 4_000  # equal texts are kept once
    assert longest_shown(texts.str.replace_all("y", "é"), budget=500_000) == 2_000


def test_what_is_missing_is_said(page: Page, finished: Run) -> None:
    planned = len(Material.of(*finished).items)
    pending = planned - ANSWERED_BEFORE_THE_END
    assert "This run is not complete" in page.text
    assert f"unfinished: {ANSWERED_BEFORE_THE_END} of {planned:,} answered ({pending:,} pending)" in page.text
    assert f"absent: no answers; 0 of {planned:,} items" in page.text
    assert re.search(rf"unfinished \d+ of {planned} read", page.text)
    assert "unseeded" in page.text and "asked for and not sent: seed" in page.text


def test_an_artifact_that_is_gone_is_named(finished: Run, tmp_path: Path) -> None:
    store, run = finished
    artifacts = run["artifacts"] | {"parsing[yes-sayer]": "0" * 64}
    page = Page(read(store, write_report(store, run | {"artifacts": artifacts, "id": "gone"})))
    assert "parsing[yes-sayer] is named by this run and is not whole in the store" in page.text


def test_a_complete_run_does_not_call_itself_incomplete(finished: Run) -> None:
    store, run = finished
    kept = {name: key for name, key in run["artifacts"].items() if "unfinished" not in name}
    page = Page(read(store, write_report(store, run | {"artifacts": kept, "judges": ["yes-sayer"], "id": "other"})))
    assert "not complete" not in page.text


def test_a_judge_that_accepts_everything_is_called_so(page: Page) -> None:
    assert re.search(r"yes-sayer Accepts almost everything", page.text)
    assert "● present" in page.text


def test_counts_open_what_they_count(page: Page, finished: Run) -> None:
    scores = Material.of(*finished).scores.join(
        Material.of(*finished).answers.select("uid", "task", "representation"), on="uid"
    )
    wrong = scores.filter(
        (pl.col("judge") == "yes-sayer")
        & (pl.col("task") == "C")
        & (pl.col("representation") == "split")
        & ~pl.col("correct")
    )
    link = "#items?judge=yes-sayer&verdict=wrong&task=C&representation=split"
    assert link in [attributes.get("href") for tag, attributes in page.elements if tag == "a"]
    assert f"{len(wrong)} wrong" in page.text
    (seat,) = [seat for seat in page.data["seats"] if seat["judge"] == "yes-sayer"]
    marked = {uid for uid, correct in zip(page.data["items"]["uid"], seat["correct"], strict=True) if correct == 0}
    assert set(wrong["uid"]) <= marked


def test_metrics_are_all_there(page: Page, finished: Run) -> None:
    metrics = Material.of(*finished).metrics
    assert len(page.data["metrics"]["value"]) == len(metrics)
    names = {page.data["strings"][number] for number in page.data["metrics"]["metric"]}
    assert names == set(metrics["metric"])


def test_the_tables_and_figures_of_the_paper_are_in_the_page_and_beside_it(page: Page, finished: Run) -> None:
    store, run = finished
    for title in ("Table 2: Task C", "Table 13: Reference-aided Task D", "Table 22: Paired", "Figure 3.", "Figure 13."):
        assert title in page.text
    folder = f"runs/{run['id']}"
    png = store.files.read(f"{folder}/figures/minigrid/figure_3.png")
    sources = [attributes.get("src") for tag, attributes in page.elements if tag == "img"]
    assert f"data:image/png;base64,{base64.b64encode(png).decode()}" in sources
    assert "yes-sayer" in read(store, f"{folder}/tables/minigrid/table_2.md")


def test_a_group_that_a_gate_refused_is_shown_with_its_reason(finished: Run) -> None:
    store, run = finished
    material = Material.of(store, run)
    refused = material.groups.filter(~pl.col("accepted"))
    assert len(refused)  # the smoke profile has some
    page = Page(read(store, write_report(store, run)))
    for reason in refused["reject_reason"]:
        assert re.sub(r"\d+", "…", reason) in page.text
    assert f"{len(material.gate_results):,} checks; 0 failed, 0 of them among the groups in the exam" in page.text


def test_an_exam_without_judges(smoke: Generated, tmp_path: Path) -> None:
    store = Store(shutil.copytree(smoke.store.location, tmp_path / "store"))
    keys = {f"{name}[all]": smoke.refs[name]["all"].key for name in ("release", "answers")}
    page = Page(read(store, write_report(store, record(keys, []))))
    assert (
        page.data["seats"] == []
        and len(page.data["items"]["uid"]) == smoke.artifact("release").manifest["rows"]["items"]
    )
    assert "Groups by environment" in page.text and "At a glance" not in page.text


def test_a_run_that_failed_before_there_was_an_exam(tmp_path: Path) -> None:
    store = Store(tmp_path)
    failed = {
        "name": "rollouts", "state": "failed", "seconds": 0.1, "rows": {}, "error": "no <such> seed", "mend": "again",
        "shards": {"doorkey": {"state": "failed"}},
    }  # fmt: skip
    page = Page(read(store, write_report(store, record({}, ["coin"]) | {"stages": [failed]})))
    assert "Stage rollouts failed: no <such> seed. Go on with: again" in page.text
    assert "coin: no answers" in page.text


# --- in a browser, where there is one ---------------------------------------------------------------------------------

BROWSER = next((found for name in ("chromium", "google-chrome", "chrome") if (found := shutil.which(name))), None)


def opened(report: Path, route: str, profile: Path) -> str:
    """The page after its script has run, as a browser has it."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}"]  # fmt: skip
    command = [BROWSER or "", *flags, "--virtual-time-budget=5000", "--dump-dom", f"file://{report}{route}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on the path")
def test_the_viewer_opens_at_the_first_wrong_item(finished: Run, page: Page, tmp_path: Path) -> None:
    store, run = finished
    report = Path(store.location) / f"runs/{run['id']}/report.html"
    dom = opened(report, "#items?judge=yes-sayer&verdict=wrong&task=D", tmp_path)
    (seat,) = [seat for seat in page.data["seats"] if seat["judge"] == "yes-sayer"]
    wrong = [
        uid
        for uid, correct in zip(page.data["items"]["uid"], seat["correct"], strict=True)
        if correct == 0 and uid.startswith("D.")
    ]
    shown = Page(dom)
    assert wrong[0] in "".join(shown.words) and f"1 of {len(wrong)}" in shown.text
    assert "Gold: fail" in shown.text
    images = [
        attributes["src"]
        for tag, attributes in shown.elements
        if tag == "img" and "as the judge got it" in (attributes.get("alt") or "")
    ]
    assert images and all(source and source.startswith("data:image/png;base64,") for source in images)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on the path")
def test_an_attack_runs_nothing_when_it_is_shown(finished: Run, page: Page, tmp_path: Path) -> None:
    store, run = finished
    report = Path(store.location) / f"runs/{run['id']}/report.html"
    dom = opened(report, f"#items?judge={quote(HOSTILE_NAME)}&verdict=unparsed", tmp_path)
    assert "document.documentElement.dataset.owned" in Page(dom).text  # it is shown
    assert "data-owned" not in dom.split("<body", 1)[0]
