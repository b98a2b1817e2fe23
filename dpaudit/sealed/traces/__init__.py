"""One module for each kind of operation on sealed data: how it changes what depends on whom."""
