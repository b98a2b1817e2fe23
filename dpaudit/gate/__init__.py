"""``dpaudit check``: the budgets of ``[tool.dpaudit]`` judged one by one, failing closed."""
