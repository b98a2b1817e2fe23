"""Sealed data in the hands of other libraries than numpy."""
