"""Few releases at small rates: laws on a grid of losses, from above and from below."""
