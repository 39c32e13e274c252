"""How an option is spelled to the reader, as ``core/spelling.py`` has it, for the sentences of this room."""

from __future__ import annotations

from dpcausal.core.spelling import for_command_line, for_everyone, spelled

__all__ = ["for_command_line", "for_everyone", "spelled"]
