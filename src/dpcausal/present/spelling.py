"""How an option is spelled to the reader, as ``core/spelling.py`` has it, for the sentences of this room."""

from __future__ import annotations

from dpcausal.core.spelling import asks, for_command_line, for_everyone, spelled

__all__ = ["asks", "for_command_line", "for_everyone", "spelled"]
