"""Directions, forces, relations, responses and names of objects in other people's words."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from tasks.traces.record import snake

DIRECTIONS = frozenset(("left", "right", "up", "down"))
RESPONSES = {
    "increases": re.compile(
        r"\bincreas|\bris(?:es?|ing)\b|\bgrow|\blarger\b|\bbigger\b|\bgreater\b|\bhigher\b|\bgoes up\b|\blonger\b", re.I
    ),
    "decreases": re.compile(
        r"\bdecreas|\bfall(?:s|ing)?\b|\bshrink|\bsmaller\b|\bless\b|\blower\b|\breduc|\bgoes down\b|\bdrops?\b|\bshorter\b",
        re.I,
    ),
    "stays the same": re.compile(
        r"\bsame\b|\bunchanged\b|\bno change\b|\bconstant\b|\bunaffected\b|\bnot change\b|n't change\b|\bnot affect",
        re.I,
    ),
}
OPPOSITES = tuple(
    (re.compile(rf"\b(?:{one})\b", re.I), re.compile(rf"\b(?:{other})\b", re.I))
    for one, other in (
        (r"ris(?:es?|ing)|ascend(?:s|ing)?", r"falls?|falling|descend(?:s|ing)?|drops?|dropping|sinks?|sinking"),
        (r"floats?|floating", r"sinks?|sinking"),
        (r"increas(?:es?|ing)|grows?|growing", r"decreas(?:es?|ing)|shrinks?|shrinking"),
        (r"accelerat(?:es?|ing)|speeds? up|speeding up", r"decelerat(?:es?|ing)|slows?(?: down)?|slowing(?: down)?"),
        (r"towards?", r"away from"),
        (r"left(?:wards?)?", r"right(?:wards?)?"),
        (r"up(?:wards?)?", r"down(?:wards?)?"),
        (r"clockwise", r"counter-?clockwise|anti-?clockwise"),
        (r"warms?(?: up)?|warming|heats up", r"cools?(?: down)?|cooling"),
        (r"gains?|gaining", r"los(?:es?|ing)"),
        (r"stretch(?:es|ed)?", r"compress(?:es|ed)?"),
        (r"real", r"virtual"),
        (r"upright", r"inverted"),
        (r"attracts?|attracted", r"repels?|repelled"),
    )
)
GENERIC = re.compile(
    r"ground|surface|incline|slope|ramp|floor|table|wall|ceiling|earth|air|water|fluid|liquid|oil|track|system|pivot|center|centre"
    r"|rope|string|cord|support|field|medium|page|universe|environment|plane|horizontal|image|point|bottom|top|side|page|position|path|origin|middle",
    re.I,
)
_RELATION_WORDS = (
    ("left_of", r"to_the_left|left"),
    ("right_of", r"to_the_right|right"),
    ("touching", r"touch|contact|adjacent"),
    ("apart", r"apart|separat|away"),
    ("attached_to", r"attach|tied|fasten|hang"),
    ("connected_to", r"connect|wired|linked"),
    ("above", r"above|over"),
    ("below", r"below|under|beneath"),
    ("in", r"^in$|inside|within|submerged|immersed|contain"),
    ("on", r"^on$|rest|support|on_top|upon"),
)
_RELATIONS = tuple((name, re.compile(pattern)) for name, pattern in _RELATION_WORDS)
_TURNED = {"left_of": "right_of", "right_of": "left_of", "above": "below", "below": "above"}
_BOTH_WAYS = ("touching", "apart", "attached_to", "connected_to")
_EXCLUSIVE = {
    frozenset(pair)
    for pair in (
        ("touching", "apart"),
        ("on", "apart"),
        ("in", "apart"),
        ("attached_to", "apart"),
        ("connected_to", "apart"),
        ("left_of", "right_of"),
        ("above", "below"),
        ("on", "left_of"),
        ("on", "right_of"),
        ("on", "below"),
    )
}


FORCE_NAMES = (
    ("gravity", r"grav|weight"),
    ("normal", r"normal|support|reaction"),
    ("friction", r"friction"),
    ("tension", r"tension|centripetal|string"),
    ("buoyancy", r"buoy|upthrust|archimed"),
    ("spring force", r"spring|restoring|elastic"),
    ("push", r"push|appl|pull"),
)
_FORCES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in FORCE_NAMES)


_FORCE_SYMBOLS = (
    ("gravity", r"m_?\w?\s?·?\*?\s?g|M\s?g|W(?:_?\w+)?|[FG]_?g(?:rav)?|G"),
    ("normal", r"N(?:_?\w+)?|F_?[nN]|R_?N"),
    ("friction", r"f(?:_?[ksKS]\w*|_?max)?|F_?(?:f|fr|fric|r)|f_r"),
    ("buoyancy", r"B|F_?b"),
    ("tension", r"T(?:_?\w+)?|S|F_?T"),
    ("spring force", r"F_?(?:s|sp|el)|k\s?x"),
    ("push", r"P|F_?(?:P|a|app|push)"),
)
_SYMBOLS = tuple((name, re.compile(rf"(?:{pattern})(?=\s*(?:$|[=,(:]|\bon\b))")) for name, pattern in _FORCE_SYMBOLS)


@functools.lru_cache(maxsize=2048)
def force_name(text: str) -> str:
    """One name for a force, whatever the trace calls it, by its words or by its usual symbol; the text itself where it is none
    of the known ones."""
    for name, pattern in _FORCES:
        if pattern.search(text):
            return name
    for name, pattern in _SYMBOLS:
        if pattern.match(text.strip()):
            return name
    return text.lower()


_ARROWS = str.maketrans({"↑": " up ", "↓": " down ", "→": " right ", "←": " left "})
# what people take for a force, and what is none: the motion itself, what threw the body, what only a turning observer sees
NO_FORCE = re.compile(
    r"\bforce of (?:the )?(?:throw|launch|motion|kick|hand|inertia|velocity|momentum|movement)\b|impetus|centrifugal|\binertial? force"
    r"|\bforward force of motion|\bmotive force",
    re.IGNORECASE,
)
# forces that need a cause in the scene, which not every family has
CAUSED = frozenset(("friction", "buoyancy", "spring force", "tension"))
_NEGATION = re.compile(
    r"\b(?:not|n't|never|no longer|without|neither|cannot|isn't|doesn't|won't|fails? to)\b[^.;,]{0,24}$", re.IGNORECASE
)


def negated(text: str, position: int) -> bool:
    """Whether a negation stands before `position` in the same clause."""
    return bool(_NEGATION.search(text[max(0, position - 40) : position]))


@functools.lru_cache(maxsize=4096)
def direction(text: str) -> tuple[float | None, float | None] | None:
    """A direction as (x, y), each -1, 0, 1 or None where the words leave it open; None where they say nothing usable.
    `up the incline` has an upward part whatever side it leads to."""
    lowered = text.lower().replace("_", " ").replace("-", " ").translate(_ARROWS)
    flip = (
        -1.0 if negated(lowered + " ", len(lowered)) or re.search(r"\b(?:not|opposite (?:to|of))\b", lowered) else 1.0
    )
    slope = re.search(r"\b(up|down)(?:ward)?s?\s+(?:along )?(?:the )?(?:incline|slope|ramp|plane)", lowered)
    if slope:
        return None, flip * (1.0 if slope[1] == "up" else -1.0)
    if re.search(r"\binto (?:the )?(?:surface|incline|plane|ramp|floor|table)", lowered):
        return None, -flip
    if re.search(r"perpendicular|normal to|away from (?:the )?(?:surface|incline)|along (?:the )?string", lowered):
        return None, flip
    x = -1.0 if re.search(r"\bleft(?:ward)?s?\b|\bwest|\bnegative x|[-−]x\b", lowered) else 0.0
    x = 1.0 if re.search(r"\bright(?:ward)?s?\b|\beast|\bpositive x|\+x\b", lowered) else x
    y = -1.0 if re.search(r"\bdown(?:ward)?s?\b|\bdescend", lowered) else 0.0
    y = 1.0 if re.search(r"\bup(?:ward)?s?\b|\bascend", lowered) else y
    return (flip * x, flip * y) if x or y else None


def opposed(one: tuple[float | None, float | None], other: tuple[float | None, float | None]) -> bool | None:
    """Whether two directions cannot be the same; None where their known parts do not meet."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if not pairs:
        return None
    return any(a != b for a, b in pairs)


@functools.lru_cache(maxsize=64)
def moment_words(event: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Expressions of the earlier and of the later moment; `event` is what lies between, where a family names it."""
    between = f"{event}|transition" if event else "transition"

    def words(prefix: str, state: str, place: str) -> re.Pattern[str]:
        told = rf"{prefix}[- ]?(?:{between})|{state} state"
        return re.compile(rf"\b(?:{told}|{place} (?:the )?(?:{event}))\b" if event else rf"\b(?:{told})\b", re.I)

    return words("pre", "initial", "before"), words("post", "final", "after")


@functools.lru_cache(maxsize=2048)
def relation_type(text: str) -> str | None:
    """The kind of a relation, whatever the trace calls it; None where it is none of the known ones."""
    lowered = snake(text.strip().lower())
    for name, pattern in _RELATIONS:
        if lowered == name or pattern.search(lowered):
            return name
    return None


@functools.lru_cache(maxsize=2048)
def response_of(text: str) -> str | None:
    """increases, decreases or stays the same, with negation understood; None where the text says none or several."""
    if RESPONSES["stays the same"].search(text):
        return "stays the same"
    said = set()
    for name in ("increases", "decreases"):
        for match in RESPONSES[name].finditer(text):
            if not negated(text, match.start()):
                said.add(name)
    return said.pop() if len(said) == 1 else None


def forms(kind: str, one: str, two: str) -> tuple[tuple[str, str, str], ...]:
    """The ways to state one relation."""
    if kind in _BOTH_WAYS:
        return (kind, one, two), (kind, two, one)
    if kind in _TURNED:
        return (kind, one, two), (_TURNED[kind], two, one)
    return ((kind, one, two),)


def contradicts(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    """Whether two relations cannot hold of one pair."""
    if {one[1], one[2]} != {other[1], other[2]} or one[1] == one[2]:
        return False
    kind, second = one[0], other[0]
    turned = one[1] != other[1]
    if turned and kind in _TURNED:
        kind, turned = _TURNED[kind], False
    if turned and second in _TURNED:
        second, turned = _TURNED[second], False
    if frozenset((kind, second)) in _EXCLUSIVE and (not turned or kind in _BOTH_WAYS or second in _BOTH_WAYS):
        return True
    return turned and kind in ("on", "in") and second in ("on", "in")


@functools.lru_cache(maxsize=1024)
def _written(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(how a lower-case text may write it, name) of every object."""
    forms = [(form, name) for name in names for form in dict.fromkeys((name.lower(), name.lower().replace("_", " ")))]
    return tuple(form for form in forms if form[0])


def occurrences(text: str, names: Iterable[str]) -> list[tuple[int, int, str]]:
    """(start, end, name) of every whole-word mention of the objects in a lower-case text, in order; where two names
    overlap the longer one counts."""
    mentions: list[tuple[int, int, str]] = []
    for form, name in _written(tuple(names)):
        start = text.find(form)
        while start >= 0:
            end = start + len(form)
            before, after = text[start - 1 : start], text[end : end + 1]
            if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
                mentions.append((start, end, name))
            start = text.find(form, end)
    if len(mentions) > 1:
        mentions.sort(key=lambda item: (item[0], -item[1]))
        mentions = [
            item
            for i, item in enumerate(mentions)
            if i == 0 or item[0] >= mentions[i - 1][1] or item[1] > mentions[i - 1][1]
        ]
    return mentions


def first_mentions(text: str, names: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Where a lower-case text first speaks of each name; behind its end where it does not."""
    places = {name: (len(text) + 1, 0) for name in names}
    for start, _, name in reversed(occurrences(text, places)):
        places[name] = (start, 0)
    return places
