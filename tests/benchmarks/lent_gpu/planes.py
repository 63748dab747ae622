"""Weights packed for a small parcel and back, bit for bit: bytes of a number by their place, then zstd; rows nobody reads are NaN."""

import json
import struct

import numpy as np
import pyarrow as pa
from safetensors import safe_open


def packed(tensors):
    codec = pa.Codec("zstd", 6)
    index, blobs = [], []
    for name, a in tensors.items():
        a = np.ascontiguousarray(a)
        raw = a.view(np.uint8).reshape(-1, a.dtype.itemsize).T.copy().tobytes() if a.size else b""
        blob = codec.compress(raw, asbytes=True) if raw else b""
        index.append([name, list(a.shape), a.dtype.str, len(raw), len(blob)])
        blobs.append(blob)
    head = json.dumps(index).encode()
    return struct.pack("<Q", len(head)) + head + b"".join(blobs)


def unpacked(content):
    (n,) = struct.unpack("<Q", content[:8])
    index, at = json.loads(content[8 : 8 + n]), 8 + n
    codec, tensors = pa.Codec("zstd"), {}
    for name, shape, dtype, raw_size, size in index:
        raw = (
            np.frombuffer(codec.decompress(content[at : at + size], raw_size, asbytes=True), np.uint8)
            if size
            else np.zeros(0, np.uint8)
        )
        at += size
        width = np.dtype(dtype).itemsize
        tensors[name] = raw.reshape(width, -1).T.copy().view(dtype).reshape(shape)
    return tensors


def read(path):
    with safe_open(path, "np") as f:
        return {k: f.get_tensor(k) for k in f.keys()}, f.metadata()
