"""Kernels run where nothing can be kept on disk, too."""

from __future__ import annotations

from dpcausal.core.compiled import compile_note, jit


def test_a_kernel_without_a_place_for_its_machine_code_is_compiled_in_memory() -> None:
    scope: dict[str, object] = {}
    exec(compile("def doubled(x):\n    return 2 * x", "<no file>", "exec"), scope)  # noqa: S102
    kernel = jit()(scope["doubled"])  # type: ignore[type-var]
    assert kernel(21) == 42  # type: ignore[operator]
    assert compile_note(kernel) == ""
