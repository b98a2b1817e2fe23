"""What stands in a ledger: releases, cohorts, charges, and the strict form they are written in."""
