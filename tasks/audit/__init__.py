"""What a judge that cannot see could score on an exam: the shortcut audit."""

from tasks.audit.actions import ActionNeed, action_need
from tasks.audit.record import Audit, Reached, Shortcut
from tasks.audit.stage import SHORTCUTS, audit_release

__all__ = ["SHORTCUTS", "ActionNeed", "Audit", "Reached", "Shortcut", "action_need", "audit_release"]
