"""Many runs of a subject: on all cores or a scheduler, as tables of numbers."""
