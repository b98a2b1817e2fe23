"""Many releases: moments along a contour, in floats with proven error bounds."""
