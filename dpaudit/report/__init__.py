"""What people read: one file per format."""
