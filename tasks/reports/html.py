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
from tasks.reports import sections, viewer, words
from tasks.reports.contact_sheet import contact_sheet, panels
from tasks.reports.material import Material

TEMPLATES = Path(__file__).parent / "templates"
GROUPS_SHOWN = 20


def write_report(store: Store, run: Mapping[str, Any], picture_bytes: int = viewer.PICTURE_BYTES) -> str:
    """Write the report of `run` (its record) and return its path in the store: `runs/<id>/report.html`.

    A run that is not complete gets a report that says what is missing. `picture_bytes` bounds the PNG bytes that are
    embedded. Raises StoreError where the report cannot be written.
    """
    path = f"runs/{run['id']}/report.html"
    store.write(path, b"".join(page(Material.of(store, run), picture_bytes)))
    return path


def page(material: Material, picture_bytes: int = viewer.PICTURE_BYTES) -> Iterator[bytes]:
    """The report in pieces."""
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


def _sheet(material: Material) -> dict[str, Any] | None:
    """The contact sheet of some of the exam's groups, as a data URL."""
    used = material.answers["group_id"].unique().to_list()
    shown = panels(material.all("rendering"), material.all("variants"), used, GROUPS_SHOWN, material.run.get("seed", 0))
    if not shown:
        return None
    png = base64.b64encode(contact_sheet(shown)).decode()
    return {"url": f"data:image/png;base64,{png}", "count": len(shown), "of": len(used)}


def _world(material: Material) -> str:
    worlds = material.answers["world"].unique().sort().to_list() or [material.run.get("world", "")]
    names = {"minigrid": "MiniGrid", "miniworld": "MiniWorld", "habitat": "Habitat"}
    return ", ".join(names.get(world, world) for world in worlds)


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
