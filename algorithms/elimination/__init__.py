"""The paper's batched elimination: one loop, three privacy steps."""
