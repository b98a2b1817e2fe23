"""The laws of privacy losses: what a composition adds up."""
