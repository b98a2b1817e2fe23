"""Declared plans of releases, and a door that keeps to one."""
