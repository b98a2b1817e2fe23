"""What "neighbouring data" means: relations, the pairs that audits try, and how data sets are sealed."""

from dpaudit.neighbours.relations import Neighbours, add_remove, replace_one

__all__ = ["Neighbours", "add_remove", "replace_one"]
