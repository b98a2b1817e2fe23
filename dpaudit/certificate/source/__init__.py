"""The code that a certificate is about: what it imports and reads, and whether it is the code that runs."""
