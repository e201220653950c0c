"""Every family draws what its state says, the same way every time, and not what is asked for."""

from __future__ import annotations

import pytest

from tasks.pictures.png import decode
from tasks.traces import bank
from tasks.traces.diagrams import draw
from tasks.traces.families import FAMILIES
from tasks.traces.panel import HEIGHT, WIDTH, Panel
from tasks.traces.record import Value


@pytest.mark.parametrize("name", FAMILIES)
def test_pictures(name, monkeypatch):
    family = FAMILIES[name]
    record = bank.trace(family, 4)
    texts = []
    plain = Panel.label
    monkeypatch.setattr(
        Panel, "label", lambda self, x, y, text, *a, **k: (texts.append(text), plain(self, x, y, text, *a, **k))
    )
    pictures = draw(record)
    assert [p.moment for p in pictures] == (["before", "after"] if family.change else ["scene"])
    for picture in pictures:
        assert picture.missing == ()
        pixels = decode(picture.png)
        assert pixels.shape == (HEIGHT, WIDTH, 3)
        assert (pixels < 128).any(axis=2).mean() > 0.003, "something is drawn"
    assert any(record.names[family.subject] in text for text in texts) or name in ("circuit", "wave")
    solved = family.solve(record.state)
    for key in family.derived:
        if key not in family.initial and key in solved and isinstance(record.value(key), Value):
            assert not any(
                f"= {record.value(key)}" in text and family.quantities[key].symbol in text.split()[0:1]
                for text in texts
            )
    assert [p.image_id for p in draw(record)] == [p.image_id for p in pictures]


def test_before_and_after_differ():
    for name, family in FAMILIES.items():
        if family.change:
            before, after = draw(bank.trace(family, 1))
            assert before.image_id != after.image_id, name
