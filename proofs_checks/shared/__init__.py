"""What checks of several papers share."""
