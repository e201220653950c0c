"""D5 and N1: what NoCue hides (paper 1, Tables 7 and 8)."""

from __future__ import annotations

import numpy as np

from tasks.gates.group_evidence import Findings, GroupEvidence
from tasks.worlds.base import MaskBox


def d5_no_interaction_masking(evidence: GroupEvidence) -> Findings:
    """D5: no masked frame is one in which the agent faces or uses the target; asked of a fresh simulator."""
    if "nocue" not in evidence.group.episodes:
        return {}
    witness = evidence.witness("full")
    for step in sorted(evidence.group.mask_by_step):
        if witness.faces_target(step):
            return {"nocue": f"frame {step} is masked while the agent faces the target"}
    return {"nocue": None}


def n1_mask(evidence: GroupEvidence) -> Findings:
    """N1: from the pixels. NoCue differs from Full only inside the mask and looks hidden there; the mask lies on the
    target as a fresh simulator sees it (mean IoU at least the environment's threshold) and keeps to the budget."""
    group, environment = evidence.group, evidence.group.environment
    if "nocue" not in group.episodes:
        return {}
    masked = group.mask_by_step
    if not masked:
        return {"nocue": "nothing is masked"}
    if len(masked) > environment.nocue_budget:
        return {"nocue": f"{len(masked)} frames are masked, the budget is {environment.nocue_budget}"}
    witness = evidence.witness("full")
    overlaps = []
    for step in range(len(group.episodes["full"].states)):
        boxes = masked.get(step, [])
        if not boxes and evidence.image_ids["full"][step] == evidence.image_ids["nocue"][step]:
            continue  # one picture
        full, shown = evidence.pixels("full", step), evidence.pixels("nocue", step)
        if not boxes:
            if not np.array_equal(full, shown):
                return {"nocue": f"frame {step} differs from Full without a mask"}
            continue
        if not np.array_equal(environment.hide(full, boxes), shown):
            return {"nocue": f"frame {step} is not Full with its mask applied"}
        width, height = environment.frame_size
        mask, target = _area(boxes, width, height), _area(witness.target_boxes(step), width, height)
        overlaps.append((mask & target).sum() / (mask | target).sum())
    mean = float(np.mean(overlaps))
    if mean < environment.nocue_alignment:
        return {
            "nocue": f"mean IoU of mask and target is {mean:.2f}, at least {environment.nocue_alignment:.2f} is needed"
        }
    return {"nocue": None}


def _area(boxes: list[MaskBox], width: int, height: int) -> np.ndarray:
    area = np.zeros((height, width), dtype=bool)
    for box in boxes:
        area[box.top : box.top + box.height, box.left : box.left + box.width] = True
    return area
