"""`report.html`: one self-contained page a run, that needs no network, no server and no other file.

The page is made of three things: HTML that can be read without its script, the data of the script (see viewer.py), and
the pictures, each in an element of its own behind everything else, so that the page is there before they are read.

What a judge has written is hostile until shown otherwise. In the HTML it is escaped by the template engine; in the data
no `<` is left, so that no text can end the element that it stands in; the script puts it into text nodes alone; and a
content security policy lets no script run but the page's own, by its digest.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import orjson

from storage import Store
from tasks.rendering import RENDERING
from tasks.reports import sections, viewer, words
from tasks.reports.contact_sheet import contact_sheet, panels
from tasks.reports.material import Material
from tasks.variants import VARIANTS
from tasks.worlds import WORLDS

TEMPLATES = Path(__file__).parent / "templates"
GROUPS_SHOWN = 20
SCREEN, PRINT = 100, 150  # dots per inch, so that all figures show their letters in one size


def write_report(store: Store, run: Mapping[str, Any], picture_bytes: int = viewer.PICTURE_BYTES) -> str:
    """Write the report of `run` (its record) and return its path in the store: `runs/<id>/report.html`. The paper's tables
    and figures are written beside it: `tables/<world>/table_2.md`, `figures/<world>/figure_3.png`, and so on.

    A run that is not complete gets a report that says what is missing. `picture_bytes` bounds the PNG bytes that are
    embedded. Raises StoreError where the report cannot be written.
    """
    folder = f"runs/{run['id']}"
    material = Material.of(store, run)
    files = _paper_files(material)
    for name, content in files.items():
        store.write(f"{folder}/{name}", content)
    store.write(f"{folder}/report.html", b"".join(page(material, files, picture_bytes)))
    return f"{folder}/report.html"


def page(material: Material, files: Mapping[str, bytes], picture_bytes: int = viewer.PICTURE_BYTES) -> Iterator[bytes]:
    """The report in pieces. `files` are the paper's tables and figures as `_paper_files` makes them."""
    pictures = viewer.choose_pictures(material, picture_bytes)
    script = (TEMPLATES / "report.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    yield (
        _environment()
        .get_template("report.html")
        .render(
            run=material.run,
            world=_world(material),
            incomplete=sections.incomplete(material),
            exam=sections.exam_counts(material),
            glance=sections.glance(material),
            outcomes=sections.outcomes(material),
            modes=sections.modes(material),
            judges=list(sections.judges(material)),
            read=sections.coverage(material),
            environments=sections.environments(material),
            gates=sections.gates(material),
            stages=sections.stages(material),
            sheet=_sheet(material),
            pictures=pictures,
            paper=_paper(material, files),
            glossary=words.GLOSSARY,
            policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
            style=(TEMPLATES / "report.css").read_text("utf-8"),
            script=script,
            data=embedded_json(viewer.payload(material, pictures)),
        )
        .encode()
    )
    yield from _pictures(material, pictures)
    yield b"</body>\n</html>\n"


def embedded_json(value: Any) -> str:
    """JSON that can stand in a `<script>` element: no text in it can end the element."""
    return orjson.dumps(value).decode().replace("<", "\\u003c")


def _pictures(material: Material, pictures: viewer.Pictures) -> Iterator[bytes]:
    """An element a picture: `p` and its number, holding base64."""
    number = {image_id: place for place, (image_id, *_) in enumerate(pictures.rows)}
    for batch in material.images:
        for image_id, png in zip(batch["image_id"].to_pylist(), batch["png"], strict=True):
            if image_id in pictures.embedded:
                text = base64.b64encode(png.as_buffer())
                yield b'<script type="text/plain" id="p%d">%b</script>\n' % (number[image_id], text)


def _paper_files(material: Material) -> dict[str, bytes]:
    """The paper's tables and figures by their path in the run's folder; none where there are no numbers."""
    if not len(material.metrics):
        return {}
    from tasks.reports.numbers import paper_files  # the drawing library takes a second to load

    return paper_files(material.metrics, material.comparisons)


def _paper(material: Material, files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """For each world its tables, and its figures as data URLs."""
    if not files:
        return []
    from tasks.reports.figures import CAPTIONS
    from tasks.reports.tables import paper_tables

    worlds = []
    for world in sorted(material.metrics["world"].unique()):
        drawn = {name: files[path] for name in CAPTIONS if (path := f"figures/{world}/{name}.png") in files}
        figures = [
            {
                "title": name.replace("_", " ").capitalize(),
                "caption": CAPTIONS[name],
                "url": f"data:image/png;base64,{base64.b64encode(png).decode()}",
                "width": round(int.from_bytes(png[16:20]) * SCREEN / PRINT),
            }
            for name, png in drawn.items()
        ]
        tables = [
            {
                "title": table.title,
                "caption": table.caption,
                "heads": [(name, kind.is_numeric()) for name, kind in table.frame.schema.items()],
                "rows": table.shown(),
            }
            for table in paper_tables(material.metrics, material.comparisons, world)
        ]
        worlds.append({"world": title_of(world), "figures": figures, "tables": tables})
    return worlds


def _sheet(material: Material) -> dict[str, Any] | None:
    """The contact sheet of some of the exam's groups, as a data URL."""
    used = material.answers["group_id"].unique().to_list()
    shown = panels(
        material.all(RENDERING.name), material.all(VARIANTS.name), used, GROUPS_SHOWN, material.run.get("seed", 0)
    )
    if not shown:
        return None
    png = base64.b64encode(contact_sheet(shown)).decode()
    return {"url": f"data:image/png;base64,{png}", "count": len(shown), "of": len(used)}


def _world(material: Material) -> str:
    worlds = material.answers["world"].unique().sort().to_list() or [material.run.get("world", "")]
    return ", ".join(title_of(world) for world in worlds)


def title_of(world: str) -> str:
    """A world's title; its name where it is none of ours (a foreign exam)."""
    return WORLDS[world].title if world in WORLDS else world


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["count"] = lambda value: "–" if value is None else f"{value:,}"
    made.filters["number"] = lambda value, places=2: "–" if value is None else f"{value:.{places}f}".replace("-", "−")
    made.filters["seconds"] = lambda value: (
        "–" if value is None else f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    )
    made.filters["pretty"] = lambda value: orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    made.filters["when"] = lambda value: (value or "")[:16].replace("T", " ") + " UTC" if value else "–"
    return made
