"""The gate held against the base branch: what a policy asks less than there."""
