"""How sealed values depend on private records: the dependence itself, and one module for each kind of operation on it.

``dpaudit.traced`` is the array that people use; it looks the operations up here. A trace never looks at the data.
"""
