"""Every process of a rehearsal reads this first (its folder is on PYTHONPATH): what has the name of a large Vision
Transformer of timm gets a few narrow layers. timm takes sizes from the name alone, where others have theirs in
the repository; names, layout of weights and code stay as they are.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_MODULE = "timm.models.vision_transformer"
_WIDE = 700
NARROW = {"embed_dim": 32, "depth": 2, "num_heads": 2}


class _Finder(importlib.abc.MetaPathFinder):
    """Changes one class right after its module is read, and imports nothing before it is asked for."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(name)
        if found is None or found.loader is None:
            return None
        whole = found.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            whole(module)
            made = module.VisionTransformer.__init__

            def __init__(self: Any, *sizes: Any, **given: Any) -> None:
                if not sizes and given.get("embed_dim", 768) > _WIDE:
                    given |= NARROW
                made(self, *sizes, **given)

            module.VisionTransformer.__init__ = __init__  # type: ignore[attr-defined]

        found.loader.exec_module = exec_module  # type: ignore[method-assign]
        return found


if "FAITHBOOK_REHEARSAL" in os.environ:
    sys.meta_path.insert(0, _Finder())
