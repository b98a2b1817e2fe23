"""What the bounds compute with: contours, grids, and searches on certified monotone curves."""
