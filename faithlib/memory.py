"""What a forward pass takes of a device: seconds, the peak of its tensors, what is free, and whether it ran out."""

import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psutil
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["free_bytes"]


@dataclass
class Clock:
    """Seconds in the model. On a GPU events are recorded and read at the end, so that timing never stops the queue.

    >>> clock = Clock(torch.device("cpu"))
    >>> with clock:
    ...     time.sleep(0.01)
    >>> clock.seconds() >= 0.01
    True
    """

    device: torch.device
    _seconds: float = 0.0
    _start: float = 0.0
    _events: list[Any] = field(default_factory=list)

    def __enter__(self) -> None:
        if self.device.type == "cuda":
            self._events.append([torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)])
            self._events[-1][0].record()
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds += time.perf_counter() - self._start
        if self.device.type == "cuda":
            self._events[-1][1].record()

    def seconds(self) -> float:
        """All of them so far; on a GPU, waits for the queue."""
        if self.device.type != "cuda":
            return self._seconds
        torch.cuda.synchronize()
        seconds: float = sum(start.elapsed_time(end) for start, end in self._events) / 1000
        return seconds


def waited(device: torch.device) -> float:
    """The time once a device has done what it was given.

    >>> waited(torch.device("cpu")) <= waited(torch.device("cpu"))
    True
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def with_peak_memory(run: Callable[[], Tensor], device: torch.device) -> tuple[Tensor, int]:
    """The result of `run` and the peak of the tensor memory it took, in bytes.

    >>> with_peak_memory(lambda: torch.ones(4), torch.device("cpu"))  # four numbers of four bytes
    (tensor([1., 1., 1., 1.]), 16)
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        result = run()
        return result, torch.cuda.max_memory_allocated(device) - before
    with _LiveTensors() as live:
        result = run()
    return result, live.peak


class _LiveTensors(TorchDispatchMode):
    """Counts the bytes of the tensors that are alive at once; views share their storage and count once."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.peak = 0
        self._now = 0
        self._holders: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, Tensor) and tensor.layout == torch.strided:  # of others there is no storage
                self._hold(tensor)
        return result

    def _hold(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        place, size = storage.data_ptr(), storage.nbytes()
        if self._holders.setdefault(place, 0) == 0:
            self._now += size
            self.peak = max(self.peak, self._now)
        self._holders[place] += 1
        weakref.finalize(tensor, self._release, place, size)

    def _release(self, place: int, size: int) -> None:
        self._holders[place] -= 1
        if self._holders[place] == 0:
            self._now -= size


def free_bytes(device: torch.device) -> int:
    """Bytes that can still be had on a device; on a GPU those that torch holds and does not use count as free.

    >>> free_bytes(torch.device("cpu")) > 0
    True
    """
    if device.type == "cuda":
        reserved = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + reserved
    free: int = psutil.virtual_memory().available
    return free


_OF_THE_ALLOCATOR = ("can't allocate memory", "not enough memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on a GPU or in the CPU's allocator.

    >>> is_out_of_memory(MemoryError()), is_out_of_memory(RuntimeError("shapes differ"))
    (True, False)
    """
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    # The CPU allocator raises a plain RuntimeError.
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _OF_THE_ALLOCATOR)
