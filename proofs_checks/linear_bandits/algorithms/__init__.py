"""Lines of Algorithms 1 to 3, and the views of their observers."""
