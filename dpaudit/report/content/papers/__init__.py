"""What is said of a paper: its claims, the five minutes before them, the letter to its authors."""
