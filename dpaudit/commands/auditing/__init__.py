"""Commands that decide claims: of subjects, and of papers."""
