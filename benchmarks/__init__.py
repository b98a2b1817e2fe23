"""What dpaudit must reach, measured: ``python -m benchmarks`` prints figure, asked, reached."""
