"""Drawings: inline SVG that follows the page's colours and stays legible on a phone, each with the words that stand for it."""
