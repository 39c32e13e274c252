"""Every word and picture that a person sees, made from the facts of results, statements and plans alone.

Nothing here sees data or noise, and no other room makes sentences, apart from error messages. ``display`` is what lower
rooms reach through ``core.display``.
"""
