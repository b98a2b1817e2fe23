"""Lower bounds: run a subject on neighbouring data and show how far its outputs tell them apart."""
