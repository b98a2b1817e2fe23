"""Tables as people hold them: columns with bounds, filters, groups and joins whose dependence on each record is known."""

from dpaudit.sealed.frames.frame import Frame, SealedFrame, plain_frame, seal_frame
from dpaudit.sealed.frames.rewrites import NotTraced
from dpaudit.sealed.frames.series import Series

__all__ = ["Frame", "NotTraced", "SealedFrame", "Series", "plain_frame", "seal_frame"]
