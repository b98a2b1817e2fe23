"""What each command says, as a report: content only, one file per page."""
