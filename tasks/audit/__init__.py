"""What a judge that cannot see could score on an exam: the shortcut audit."""

from tasks.audit.actions import ActionNeed, action_need
from tasks.audit.shortcuts import Audit, Shortcut, audit_release

__all__ = ["ActionNeed", "Audit", "Shortcut", "action_need", "audit_release"]
