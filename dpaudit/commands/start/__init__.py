"""Commands to begin with: run an algorithm, see the demo, look a rule up."""
