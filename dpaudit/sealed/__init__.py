"""Sealed data: arrays that carry how each value depends on each private record. A trace never looks at the data."""

from dpaudit.sealed.array import Sealed, seal, seal_sums, snap, unseal
from dpaudit.sealed.frames.frame import seal_frame
from dpaudit.sealed.rows import clip_rows

__all__ = ["Sealed", "clip_rows", "seal", "seal_frame", "seal_sums", "snap", "unseal"]
